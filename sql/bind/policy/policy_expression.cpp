#include "sql/bind/policy/policy_expression.hpp"

#include <algorithm>

#include "sql/bind/expression/expression.hpp"
#include "sql/bind/relabel.hpp"
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

namespace {

/// While it lives, nothing of the statement around the policy is visible.
class ApartFromStatement {
public:
   ApartFromStatement(BindState& state, Oid role, Oid own, Oid open)
      : state_(state), source_(std::exchange(state.source, nullptr)), recursion_(std::exchange(state.recursion, {})),
        inlineArgs_(std::exchange(state.inlineArgs, nullptr)), role_(std::exchange(state.access.role, role)),
        own_(std::exchange(state.access.own, own)) {
      state.openPolicies.push_back(open);
   }
   ~ApartFromStatement() {
      state_.openPolicies.pop_back();
      state_.access.own = own_;
      state_.access.role = role_;
      state_.inlineArgs = inlineArgs_;
      state_.recursion = recursion_;
      state_.source = source_;
   }
   ApartFromStatement(const ApartFromStatement&) = delete;

private:
   BindState& state_;
   const SourceText* const source_;
   const BindState::RecursionContext recursion_;
   const std::vector<ExprPtr>* const inlineArgs_;
   const Oid role_, own_;
};

} // namespace

ExprPtr bindPolicy(BindState& state, uint32_t depth, Oid role, const catalog::Relation& table,
                   const catalog::Policy& policy, std::string_view text, const std::vector<GetColumn>& row) {
   // As PostgreSQL: only policies with subqueries can read each other without end.
   const bool isOpen =
       std::find(state.openPolicies.begin(), state.openPolicies.end(), table.oid) != state.openPolicies.end();
   if (policy.hasSubquery() && isOpen)
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "infinite recursion detected in policy for relation \"" + table.name + "\"");
   const auto script = ParsedScript::parseExpression(text);
   const ApartFromStatement apart(state, role, table.oid, policy.hasSubquery() ? table.oid : invalidOid);
   return bindOverTable(state, depth, table, policy.tableName, *script.expression(), row);
}

// ---- binder.hpp ----

StoredPolicy storedPolicy(const ::Node& expression, const catalog::Relation& table, const BindContext& context,
                          uint32_t offset, uint32_t length) {
   BindState state(context);
   ViewTextRecorder recorder;
   recorder.nameRelationsByOid();
   recorder.setOwner(table.oid, state.source->text());
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

// ---- relabel.hpp ----

std::string relabelPolicy(std::string_view text, const catalog::Relation& table, const std::string& tableName,
                          const LiteralText& textFor, const BindContext& context) {
   constexpr uint32_t prefix = 7; // parseExpression puts "SELECT " before the expression
   BindState state(context);
   const auto script = ParsedScript::parseExpression(text);
   ViewTextRecorder recorder;
   recorder.relabel(textFor, script.source().text());
   state.recorder = &recorder;
   state.source = &script.source();
   bindAlone(state, table, tableName, *script.expression());
   return recorder.apply(script.source().text(), prefix, static_cast<uint32_t>(script.source().text().size()) - prefix);
}

} // namespace ouzel::sql
