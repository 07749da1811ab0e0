#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/function/function_use.hpp"
#include "engine/definition/operator/operator.hpp"
#include "engine/definition/system_object.hpp"

// ALTER and DROP of operators.

namespace ouzel::engine {

using catalog::Operator;
using catalog::OperatorDefinition;
using sql::ListOf;

namespace {

/// Changes the newest version of the operator.
template <typename Change>
void change(SessionCore& core, Oid oid, Change&& change) {
   OperatorDefinition changed = *core.transaction.editor().snapshot().op(oid);
   change(changed);
   core.transaction.editor().replaceOperator(std::move(changed));
}

} // namespace

void requireOwner(SessionCore& core, const Operator& op) {
   if (!actsFor(core, op.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of operator " + op.name);
}

void requireDroppable(SessionCore& core, const Operator& op) {
   const auto schema = core.transaction.catalog().schema(op.schema);
   if (!schema || !actsFor(core, schema->owner)) requireOwner(core, op);
}

catalog::OperatorPtr findUserOperator(CommandContext& context, const ::ObjectWithArgs& name) {
   const SystemObject object = findSystemObject(context.core, OBJECT_OPERATOR, reinterpret_cast<const ::Node*>(&name));
   if (object.missing || object.oid < firstUserOid) return nullptr;
   return context.core.transaction.catalog().op(object.oid);
}

std::optional<std::string> alterOperator(CommandContext& context, const ::AlterOperatorStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER OPERATOR");
   const catalog::OperatorPtr op = findUserOperator(context, *statement.opername);
   if (!op) return std::nullopt;
   std::optional<std::vector<std::string>> restrictName, joinName;
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options)) {
      const std::string_view name = option->defname;
      const std::vector<std::string> value = option->arg ? namesOf(*option) : std::vector<std::string>(); // NONE
      if (name == "restrict")
         restrictName = value;
      else if (name == "join")
         joinName = value;
      else if (name == "leftarg" || name == "rightarg" || name == "function" || name == "procedure" ||
               name == "commutator" || name == "negator" || name == "hashes" || name == "merges")
         throw SqlError(sqlstate::syntaxError, "operator attribute \"" + std::string(name) + "\" cannot be changed");
      else
         throw SqlError(sqlstate::syntaxError, "operator attribute \"" + std::string(name) + "\" not recognized");
   }
   requireOwner(core, *op);
   const auto estimator = [&](const std::vector<std::string>& name, bool isJoin) {
      return name.empty() ? Oid{invalidOid} : requireEstimator(core, name, isJoin);
   };
   OperatorDefinition changed = *op;
   if (restrictName) changed.restrictEstimator = estimator(*restrictName, false);
   if (joinName) changed.joinEstimator = estimator(*joinName, true);
   const auto requireKind = [&](bool holds, const std::string& kind) {
      const std::string only = "only " + kind + " operators can have ";
      if (!holds && kind == "boolean" && changed.restrictEstimator)
         throw SqlError(sqlstate::invalidFunctionDefinition, only + "restriction selectivity");
      if (!holds && changed.joinEstimator)
         throw SqlError(sqlstate::invalidFunctionDefinition, only + "join selectivity");
   };
   requireKind(changed.left.oid != invalidOid, "binary");
   requireKind(changed.result.oid == oid::boolean, "boolean");
   core.transaction.editor().replaceOperator(std::move(changed));
   return "ALTER OPERATOR";
}

void moveOperator(SessionCore& core, const Operator& op, const char* schemaName) {
   requireOwner(core, op);
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), schemaName);
   if (const auto target = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *target, catalog::privilege::create);
   if (schema == op.schema) return;
   if (schema < firstUserOid && schema != catalog::publicSchema) throwNotSupported("an operator in a system schema");
   if (core.transaction.catalog().findOperator(schema, op.name, op.left.named(), op.right.named()))
      throw SqlError(sqlstate::uniqueViolation,
                     "duplicate key value violates unique constraint \"pg_operator_oprname_l_r_n_index\"");
   change(core, op.oid, [&](OperatorDefinition& changed) { changed.schema = schema; });
}

void changeOperatorOwner(SessionCore& core, const Operator& op, Oid owner) {
   requireOwner(core, op);
   if (op.owner == owner) return;
   requireNewOwner(core, owner, op.schema);
   change(core, op.oid, [&](OperatorDefinition& changed) { changed.owner = owner; });
}

void reassignOperators(SessionCore& core, Oid from, Oid to) {
   for (const auto& op : core.transaction.catalog().operators())
      if (op->owner == from) change(core, op->oid, [&](OperatorDefinition& changed) { changed.owner = to; });
}

} // namespace ouzel::engine
