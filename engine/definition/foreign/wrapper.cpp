#include <algorithm>

#include "catalog/object/function.hpp"
#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/foreign/options.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// CREATE, ALTER and DROP FOREIGN DATA WRAPPER.

namespace ouzel::engine {

using catalog::ForeignWrapper;
using catalog::ForeignWrapperPtr;
using sql::as;
using sql::ListOf;
using sql::stringOf;

namespace {

constexpr Oid fdwHandlerType = 3115, textArrayType = 1009;

void requireOwner(SessionCore& core, const ForeignWrapper& wrapper) {
   requireRight(actsFor(core, wrapper.owner), "must be owner of foreign-data wrapper " + wrapper.name);
}

void requireSuperuserTo(SessionCore& core, const std::string& action, const std::string& name) {
   if (actorOf(core).isSuperuser) return;
   throw SqlError(sqlstate::insufficientPrivilege,
                  "permission denied to " + action + " foreign-data wrapper \"" + name + "\"")
       .hint("Must be superuser to " + action + " a foreign-data wrapper.");
}

/// The built-in wrapper stays as it is.
void requireMade(const ForeignWrapper& wrapper, const char* verb) {
   if (wrapper.isBuiltin()) throwNotSupported(std::string(verb) + " the foreign-data wrapper s3");
}

/// A function by its name and the types of its arguments. Throws 42883.
const catalog::FunctionInfo& functionNamed(SessionCore& core, const ::List* names, const std::vector<Oid>& types,
                                           const char* typeTexts) {
   std::vector<std::string> parts;
   std::string text;
   for (const ::Node* part : ListOf<>(names)) {
      parts.emplace_back(stringOf(part));
      text += (text.empty() ? "" : ".") + parts.back();
   }
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const catalog::SearchPath path = core.searchPath();
   const catalog::QualifiedName name = catalog::toQualifiedName(std::move(parts));
   if (!name.schema.empty()) catalog::requireSchema(snapshot, path, name.schema);
   for (const catalog::FunctionInfo* one : catalog::functionsNamed(snapshot, path, name))
      if (std::equal(one->argTypes.begin(), one->argTypes.end(), types.begin(), types.end())) return *one;
   throw SqlError(sqlstate::undefinedFunction, "function " + text + "(" + typeTexts + ") does not exist");
}

/// HANDLER and VALIDATOR of a statement.
struct Functions {
   bool hasHandler = false, hasValidator = false; ///< one is given, or NO HANDLER, NO VALIDATOR
   Oid handler = invalidOid, validator = invalidOid;
};

/// Throws 42809 for a function that is no handler.
Oid handlerNamed(SessionCore& core, const ::List* name) {
   if (!name) return invalidOid;
   if (const catalog::FunctionInfo& function = functionNamed(core, name, {}, ""); function.returnType == fdwHandlerType)
      return function.oid;
   std::string text;
   for (const ::Node* part : ListOf<>(name))
      text += (text.empty() ? "" : ".") + std::string(stringOf(part));
   throw SqlError(sqlstate::wrongObjectType, "function " + text + " must return type fdw_handler");
}

Functions functionsOf(CommandContext& context, const ::List* options) {
   Functions functions;
   for (const ::DefElem* element : ListOf<::DefElem>(options)) {
      bool& isGiven = std::string_view(element->defname) == "handler" ? functions.hasHandler : functions.hasValidator;
      if (std::exchange(isGiven, true))
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .at(context.position(element->location));
      const auto* name = as<::List>(element->arg);
      if (&isGiven == &functions.hasHandler)
         functions.handler = handlerNamed(context.core, name);
      else if (name)
         functions.validator = functionNamed(context.core, name, {textArrayType, oid::oid}, "text[], oid").oid;
   }
   return functions;
}

void warn(SessionCore& core, const char* message) {
   core.notices.notice({Notice::Severity::Warning, sqlstate::warning, message, {}, {}});
}

void requireSuperuserOwner(SessionCore& core, const ForeignWrapper& wrapper, Oid owner) {
   if (catalog::isSuperuser(core.transaction.catalog(), owner)) return;
   throw SqlError(sqlstate::insufficientPrivilege,
                  "permission denied to change owner of foreign-data wrapper \"" + wrapper.name + "\"")
       .hint("The owner of a foreign-data wrapper must be a superuser.");
}

void giveTo(SessionCore& core, const ForeignWrapper& wrapper, Oid owner) {
   ForeignWrapper changed = wrapper;
   changed.acl = catalog::handedOver(changed.acl, wrapper.owner, owner);
   changed.owner = owner;
   core.transaction.editor().replaceWrapper(std::move(changed));
}

} // namespace

void requireUsage(SessionCore& core, const ForeignWrapper& wrapper, Oid role) {
   constexpr uint32_t usage = catalog::privilege::usage;
   requireRight(catalog::held(core.transaction.catalog(), role, wrapper.owner, wrapper.acl,
                              catalog::AclKind::ForeignWrapper, usage) == usage,
                "permission denied for foreign-data wrapper " + wrapper.name);
}

std::string createWrapper(CommandContext& context, const ::CreateFdwStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE FOREIGN DATA WRAPPER");
   ForeignWrapper draft;
   draft.name = statement.fdwname;
   requireSuperuserTo(core, "create", draft.name);
   if (core.transaction.catalog().findWrapper(draft.name))
      throw SqlError(sqlstate::duplicateObject, "foreign-data wrapper \"" + draft.name + "\" already exists");
   const Functions functions = functionsOf(context, statement.func_options);
   draft.handler = functions.handler;
   draft.validator = functions.validator;
   draft.database = core.transaction.catalog().database();
   draft.owner = core.role();
   draft.options = validatedOptions(core, draft, catalog::class_oid::pgForeignDataWrapper, {}, statement.options);
   draft.oid = core.transaction.editor().allocateOid();
   core.transaction.editor().replaceWrapper(std::move(draft));
   return "CREATE FOREIGN DATA WRAPPER";
}

std::string alterWrapper(CommandContext& context, const ::AlterFdwStmt& statement) {
   SessionCore& core = context.core;
   constexpr const char* tag = "ALTER FOREIGN DATA WRAPPER";
   requireWritable(core, tag);
   requireSuperuserTo(core, "alter", statement.fdwname);
   ForeignWrapper changed = *catalog::requireWrapper(core.transaction.catalog(), statement.fdwname);
   requireMade(changed, "altering");
   const Functions functions = functionsOf(context, statement.func_options);
   if (functions.hasHandler) {
      changed.handler = functions.handler;
      warn(core, "changing the foreign-data wrapper handler can change behavior of existing foreign tables");
   }
   if (functions.hasValidator) changed.validator = functions.validator;
   if (functions.validator != invalidOid)
      warn(core, "changing the foreign-data wrapper validator can cause the options for dependent objects to become "
                 "invalid");
   if (statement.options)
      changed.options = validatedOptions(core, changed, catalog::class_oid::pgForeignDataWrapper,
                                         std::move(changed.options), statement.options);
   core.transaction.editor().replaceWrapper(std::move(changed));
   return tag;
}

std::string dropWrappers(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP FOREIGN DATA WRAPPER");
   catalog::DropTargets targets;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      if (statement.missing_ok && !core.transaction.catalog().findWrapper(name)) {
         core.notice("foreign-data wrapper \"" + name + "\" does not exist, skipping");
         continue;
      }
      const ForeignWrapperPtr wrapper = catalog::requireWrapper(core.transaction.catalog(), name);
      requireOwner(core, *wrapper);
      if (wrapper->isBuiltin())
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop foreign-data wrapper s3 because extension s3 requires it")
             .hint("You can drop extension s3 instead.");
      targets.wrappers.push_back(wrapper->oid);
   }
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (targets.count() > 0) announceAndFree(core, core.transaction.editor().dropTogether(targets, behavior));
   return "DROP FOREIGN DATA WRAPPER";
}

void renameWrapper(SessionCore& core, std::string_view name, std::string newName) {
   ForeignWrapper changed = *catalog::requireWrapper(core.transaction.catalog(), name);
   requireOwner(core, changed);
   requireMade(changed, "renaming");
   changed.name = std::move(newName);
   core.transaction.editor().replaceWrapper(std::move(changed));
}

void changeWrapperOwner(SessionCore& core, std::string_view name, Oid owner) {
   const ForeignWrapperPtr wrapper = catalog::requireWrapper(core.transaction.catalog(), name);
   requireSuperuserTo(core, "change owner of", wrapper->name);
   requireSuperuserOwner(core, *wrapper, owner);
   requireMade(*wrapper, "changing the owner of");
   if (wrapper->owner != owner) giveTo(core, *wrapper, owner);
}

void commentOnWrapper(SessionCore& core, std::string_view name, const std::string& text) {
   const ForeignWrapperPtr wrapper = catalog::requireWrapper(core.transaction.catalog(), name);
   requireOwner(core, *wrapper);
   core.transaction.editor().setComment(catalog::class_oid::pgForeignDataWrapper, wrapper->oid, 0, text);
}

void reassignWrappers(SessionCore& core, Oid from, Oid to) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const ForeignWrapperPtr& wrapper : snapshot.wrappers()) {
      if (wrapper->owner != from) continue;
      requireSuperuserOwner(core, *wrapper, to);
      giveTo(core, *wrapper, to);
   }
}

} // namespace ouzel::engine
