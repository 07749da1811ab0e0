#include "sql/bind/policy/policy_expression.hpp"

#include "sql/bind/expression/expression.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"

// The expressions of policies: bound where a statement uses the table, and as the catalog keeps them. Relations in
// subqueries are used in the name of whom the policy is for, and their own policies hold.

namespace ouzel::sql {

namespace {

/// Binds the tree in a scope that has only the table.
ExprPtr bindOverTable(BindState& state, uint32_t depth, const catalog::Relation& table, const std::string& tableName,
                      const ::Node& node, const std::vector<GetColumn>& row) {
   std::vector<GetColumn> columns;
   for (const GetColumn& column : row)
      if (column.attribute != rowIdAttribute) columns.push_back(column);
   Scope scope(nullptr);
   scope.depth = depth;
   scope.items.push_back(itemOf(table, columns));
   scope.items.back().alias = tableName;
   addEntry(scope, scope.items.back());
   return coerceToBoolean(state, bindExpr(state, scope, &node, Clause::Policy), "POLICY");
}

/// Binds the tree over new columns, for its text or its errors.
void bindAlone(BindState& state, const catalog::Relation& table, const std::string& tableName, const ::Node& node) {
   std::vector<GetColumn> row;
   for (const catalog::Column& column : table.columns)
      if (!column.isDropped) row.push_back({state.addColumn(0, column.name, column.type), column.attribute});
   bindOverTable(state, 0, table, tableName, node, row);
   state.checkParameters();
}

} // namespace

ExprPtr bindPolicy(BindState& state, uint32_t depth, const catalog::Relation& table, const std::string& tableName,
                   std::string_view text, const std::vector<GetColumn>& row) {
   const auto script = ParsedScript::parseExpression(text);
   const SourceText* outerSource = std::exchange(state.source, nullptr);
   const auto outerRecursion = std::exchange(state.recursion, {});
   const auto* outerArgs = std::exchange(state.inlineArgs, nullptr);
   const Oid outerOwn = std::exchange(state.access.own, table.oid);
   state.openPolicies.push_back(table.oid);
   auto expr = bindOverTable(state, depth, table, tableName, *script.expression(), row);
   state.openPolicies.pop_back();
   state.access.own = outerOwn;
   state.inlineArgs = outerArgs;
   state.recursion = outerRecursion;
   state.source = outerSource;
   return expr;
}

// ---- binder.hpp ----

StoredPolicy storedPolicy(const ::Node& expression, const catalog::Relation& table, const BindContext& context,
                          uint32_t offset, uint32_t length) {
   BindState state(context);
   ViewTextRecorder recorder;
   recorder.nameRelationsByOid();
   state.recorder = &recorder;
   bindAlone(state, table, table.name, expression);
   return {recorder.apply(state.source->text(), offset, length), recorder.dependencies()};
}

std::string renameInPolicy(std::string_view text, const catalog::Relation& table, const std::string& tableName,
                           Oid relation, int16_t attribute, std::string_view name, const BindContext& context) {
   constexpr uint32_t prefix = 7; // parseExpression puts "SELECT " before the expression
   BindState state(context);
   const auto script = ParsedScript::parseExpression(text);
   ViewTextRecorder recorder;
   recorder.rename({relation, attribute, std::string(name)}, script.source().text());
   state.recorder = &recorder;
   state.source = nullptr;
   bindAlone(state, table, tableName, *script.expression());
   return recorder.apply(script.source().text(), prefix, static_cast<uint32_t>(script.source().text().size()) - prefix);
}

} // namespace ouzel::sql
