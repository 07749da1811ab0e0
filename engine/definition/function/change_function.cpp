#include "catalog/object/acl.hpp"
#include "catalog/object/function_text.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/system_object.hpp"
#include "engine/role/grant.hpp"

// ALTER and DROP of functions, procedures and aggregates.

namespace ouzel::engine {

using catalog::Function;
using catalog::FunctionDefinition;
using sql::ListOf;

namespace {

std::string described(const Function& function) {
   return std::string(catalog::routineNoun(function.functionKind)) + " " + function.name;
}

/// Throws 42723 for a name and types that another function has in the schema.
void requireFreeName(SessionCore& core, const Function& function, Oid schema, const std::string& name) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (!snapshot.findFunction(schema, name, function.inputTypes())) return;
   std::string types;
   for (const Oid type : function.inputTypes())
      types += (types.empty() ? "" : ", ") + catalog::typeText(snapshot, core.searchPath(), type);
   throw SqlError(sqlstate::duplicateFunction, "function " + name + "(" + types + ") already exists in schema \"" +
                                                   snapshot.schema(schema)->name + "\"");
}

/// As PostgreSQL, RENAME, SET SCHEMA and OWNER TO call all kinds functions.
void requireOwnFunction(SessionCore& core, const Function& function) {
   if (!actsFor(core, function.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of function " + function.name);
}

/// Changes the newest version of the function.
template <typename Change>
void change(SessionCore& core, Oid oid, Change&& change) {
   FunctionDefinition changed = *core.transaction.editor().snapshot().function(oid);
   change(changed);
   core.transaction.editor().replaceFunction(std::move(changed));
}

} // namespace

void requireOwner(SessionCore& core, const Function& function) {
   if (!actsFor(core, function.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of " + described(function));
}

catalog::FunctionPtr findUserFunction(CommandContext& context, ::ObjectType type, const ::ObjectWithArgs& name) {
   const SystemObject object = findSystemObject(context.core, type, reinterpret_cast<const ::Node*>(&name));
   if (object.missing || object.oid < firstUserOid) return nullptr;
   return context.core.transaction.catalog().function(object.oid);
}

std::optional<std::string> alterFunction(CommandContext& context, const ::AlterFunctionStmt& statement) {
   SessionCore& core = context.core;
   std::string tag(tagOf(Verb::Alter, statement.objtype));
   requireWritable(core, tag);
   const catalog::FunctionPtr function = findUserFunction(context, statement.objtype, *statement.func);
   if (!function) return std::nullopt;
   requireOwner(core, *function);
   if (function->functionKind == catalog::FunctionKind::Aggregate)
      throw SqlError(sqlstate::wrongObjectType, "\"" + function->name + "\" is an aggregate function");
   FunctionAttributes attributes;
   for (const ::DefElem* option : ListOf<::DefElem>(statement.actions))
      attributes.read(context, *option, function->functionKind == catalog::FunctionKind::Procedure);
   FunctionDefinition changed = *function;
   attributes.apply(context, changed);
   core.transaction.editor().replaceFunction(std::move(changed));
   return tag;
}

void requireDroppable(SessionCore& core, const Function& function) {
   const auto schema = core.transaction.catalog().schema(function.schema);
   if (!schema || !actsFor(core, schema->owner)) requireOwner(core, function);
}

void renameFunction(SessionCore& core, const Function& function, const char* name) {
   requireOwnFunction(core, function);
   if (const auto schema = core.transaction.catalog().schema(function.schema))
      requirePrivilege(core, *schema, catalog::privilege::create);
   requireFreeName(core, function, function.schema, name);
   change(core, function.oid, [&](FunctionDefinition& changed) { changed.name = name; });
}

void moveFunction(SessionCore& core, const Function& function, const char* schemaName) {
   requireOwnFunction(core, function);
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), schemaName);
   const auto target = core.transaction.catalog().schema(schema);
   if (target) requirePrivilege(core, *target, catalog::privilege::create);
   if (target && target->name.starts_with("pg_temp_"))
      throw SqlError(sqlstate::featureNotSupported, "cannot move objects into or out of temporary schemas");
   if (schema == function.schema) return;
   if (schema < firstUserOid && schema != catalog::publicSchema) throwNotSupported("a function in a system schema");
   requireFreeName(core, function, schema, function.name);
   change(core, function.oid, [&](FunctionDefinition& changed) { changed.schema = schema; });
}

void changeFunctionOwner(SessionCore& core, const Function& function, Oid owner) {
   requireOwnFunction(core, function);
   if (function.owner == owner) return;
   requireNewOwner(core, owner, function.schema);
   change(core, function.oid, [&](FunctionDefinition& changed) {
      changed.acl = catalog::handedOver(changed.acl, changed.owner, owner);
      changed.owner = owner;
   });
}

std::string grantFunctions(CommandContext& context, const ::GrantStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, statement.is_grant ? "GRANT" : "REVOKE");
   std::vector<Oid> functions;
   if (statement.targtype != ACL_TARGET_ALL_IN_SCHEMA) {
      for (const ::ObjectWithArgs* name : ListOf<::ObjectWithArgs>(statement.objects)) {
         const SystemObject object = findSystemObject(core, statement.objtype, reinterpret_cast<const ::Node*>(name));
         if (object.missing) throw SqlError(*object.missing);
         functions.push_back(object.oid);
      }
      return grantOnFunctions(context, statement, functions);
   }
   for (const ::Node* name : ListOf<>(statement.objects)) {
      const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), sql::stringOf(name));
      for (const catalog::FunctionPtr& function : core.transaction.catalog().functions()) {
         const bool isProcedure = function->functionKind == catalog::FunctionKind::Procedure;
         const bool isWanted =
             statement.objtype == OBJECT_ROUTINE || isProcedure == (statement.objtype == OBJECT_PROCEDURE);
         if (function->schema == schema && isWanted) functions.push_back(function->oid);
      }
   }
   return grantOnFunctions(context, statement, functions);
}

void reassignFunctions(SessionCore& core, Oid from, Oid to) {
   for (const auto& function : core.transaction.catalog().functions())
      if (function->owner == from)
         change(core, function->oid, [&](FunctionDefinition& changed) {
            changed.acl = catalog::handedOver(changed.acl, from, to);
            changed.owner = to;
         });
}

void requireNotInFunctions(SessionCore& core, const catalog::Relation& table, int16_t attribute) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const auto& function : snapshot.functions())
      for (const catalog::Dependency& read : function->dependsOn)
         if (read.relation == table.oid && read.attribute == attribute)
            throw SqlError(sqlstate::featureNotSupported,
                           "cannot alter type of a column used by a function or procedure")
                .detail(std::string(catalog::routineNoun(function->functionKind)) + " " +
                        catalog::signatureOf(snapshot, core.searchPath(), *function) + " depends on column \"" +
                        table.column(attribute)->name + "\"");
}

} // namespace ouzel::engine
