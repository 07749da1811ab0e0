#include "engine/definition/language/language.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "engine/core/database_lock.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/system_object.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// The checks come in PostgreSQL's order.

namespace ouzel::engine {

using catalog::Language;
using sql::ListOf;
using sql::stringOf;

namespace {

Language* find(catalog::Database& database, const std::string& name) {
   const auto found = std::ranges::find(database.languages, name, &Language::name);
   return found == database.languages.end() ? nullptr : &*found;
}

void put(SessionCore& core, catalog::Database changed) {
   core.transaction.editor().replaceDatabase(std::move(changed));
}

void requireOwner(SessionCore& core, const Language& language) {
   requireRight(actsFor(core, language.owner), "must be owner of language " + language.name);
}

void requireFreeName(catalog::Database& database, const std::string& name) {
   if (find(database, name) || catalog::findLanguage(name) != invalidOid)
      throw SqlError(sqlstate::duplicateObject, "language \"" + name + "\" already exists");
}

/// The function of the name with these arguments.
const catalog::FunctionInfo& requireFunction(SessionCore& core, const ::List* list, std::span<const Oid> arguments) {
   std::vector<std::string> parts;
   std::string shown;
   for (const ::Node* part : ListOf<>(list)) {
      parts.emplace_back(stringOf(part));
      shown += (shown.empty() ? "" : ".") + parts.back();
   }
   for (const catalog::FunctionInfo* one : catalog::functionsNamed(core.transaction.catalog(), core.searchPath(),
                                                                   catalog::toQualifiedName(std::move(parts))))
      if (std::ranges::equal(one->argTypes, arguments)) return *one;
   const std::string types = arguments.empty() ? "" : formatType({arguments[0], -1, invalidOid});
   throw SqlError(sqlstate::undefinedFunction, "function " + shown + "(" + types + ") does not exist");
}

/// A handler that the statement names, which must be PL/pgSQL's; invalidOid: it names none.
Oid handlerOf(SessionCore& core, const ::List* name, std::span<const Oid> arguments, Oid own) {
   if (ListOf<>(name).empty()) return invalidOid;
   const catalog::FunctionInfo& found = requireFunction(core, name, arguments);
   if (found.oid != own) throwNotSupported("a language with the handler " + std::string(found.name) + "()");
   return found.oid;
}

void requireCallHandler(SessionCore& core, const ::List* name) {
   constexpr Oid languageHandler = 2280;
   const catalog::FunctionInfo& found = requireFunction(core, name, {});
   if (found.returnType != languageHandler)
      throw SqlError(sqlstate::wrongObjectType,
                     "function " + std::string(found.name) + " must return type language_handler");
   if (found.oid != catalog::plpgsqlCallHandler)
      throwNotSupported("a language with the handler " + std::string(found.name) + "()");
}

} // namespace

std::string createLanguage(CommandContext& context, const ::CreatePLangStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE LANGUAGE");
   requireRight(actorOf(core).isSuperuser, "must be superuser to create custom procedural language");
   requireCallHandler(core, statement.plhandler);
   Language draft;
   draft.name = statement.plname;
   draft.owner = core.role();
   draft.isTrusted = statement.pltrusted;
   const Oid internal[] = {oid::internal}, oids[] = {oid::oid};
   draft.inlineHandler = handlerOf(core, statement.plinline, internal, catalog::plpgsqlInlineHandler);
   draft.validator = handlerOf(core, statement.plvalidator, oids, catalog::plpgsqlValidator);
   catalog::Database database = draftOfDatabase(core);
   Language* old = statement.replace ? find(database, draft.name) : nullptr;
   if (!old && statement.replace && draft.name == "plpgsql")
      throwNotSupported("CREATE OR REPLACE LANGUAGE of a built-in language");
   if (!old) requireFreeName(database, draft.name);
   if (old) { // the owner and the privileges stay
      old->isTrusted = draft.isTrusted;
      old->inlineHandler = draft.inlineHandler;
      old->validator = draft.validator;
   } else {
      draft.oid = core.transaction.editor().allocateOid();
      database.languages.push_back(std::move(draft));
   }
   put(core, std::move(database));
   return "CREATE LANGUAGE";
}

std::string dropLanguages(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP LANGUAGE");
   catalog::Database database = draftOfDatabase(core);
   catalog::DropTargets targets;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      if (const Language* language = find(database, name)) {
         requireOwner(core, *language);
         targets.languages.push_back(language->oid);
         continue;
      }
      const SystemObject other = findSystemObject(core, OBJECT_LANGUAGE, object);
      if (other.oid == catalog::language_oid::plpgsql)
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop language plpgsql because extension plpgsql requires it")
             .hint("You can drop extension plpgsql instead.");
      if (!other.missing) return dropSystemObjects(context, statement); // which is refused
      if (!statement.missing_ok) throw SqlError(*other.missing);
      core.notice(other.skipped + ", skipping");
   }
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (targets.count() > 0) announceAndFree(core, core.transaction.editor().dropTogether(targets, behavior));
   return "DROP LANGUAGE";
}

bool renameLanguage(SessionCore& core, const std::string& name, const std::string& newName) {
   catalog::Database database = draftOfDatabase(core);
   Language* language = find(database, name);
   if (!language) return false;
   requireFreeName(database, newName);
   requireOwner(core, *language);
   language->name = newName;
   put(core, std::move(database));
   return true;
}

bool changeLanguageOwner(SessionCore& core, const std::string& name, Oid owner) {
   catalog::Database database = draftOfDatabase(core);
   Language* language = find(database, name);
   if (!language) return false;
   if (language->owner == owner) return true;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (!catalog::isSuperuser(snapshot, core.role())) {
      requireOwner(core, *language);
      requireRight(catalog::isMemberOf(snapshot, core.role(), owner),
                   "must be member of role \"" + snapshot.role(owner)->name + "\"");
   }
   language->acl = catalog::handedOver(language->acl, language->owner, owner);
   language->owner = owner;
   put(core, std::move(database));
   return true;
}

bool commentOnLanguage(SessionCore& core, const std::string& name, const std::string& text) {
   const Language* language = catalog::findUserLanguage(core.transaction.catalog(), name);
   if (!language) return false;
   requireOwner(core, *language);
   core.transaction.editor().setComment(catalog::class_oid::pgLanguage, language->oid, 0, text);
   return true;
}

void reassignLanguages(SessionCore& core, Oid from, Oid to) {
   const auto current = core.transaction.catalog().database(core.transaction.catalog().database());
   if (std::ranges::find(current->languages, from, &Language::owner) == current->languages.end()) return;
   catalog::Database database = draftOfDatabase(core);
   for (Language& one : database.languages) {
      if (one.owner != from) continue;
      one.owner = to;
      one.acl = catalog::handedOver(one.acl, from, to);
   }
   put(core, std::move(database));
}

} // namespace ouzel::engine
