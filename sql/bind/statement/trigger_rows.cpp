#include "sql/algebra/build.hpp"
#include "sql/bind/dml/rule_binding.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/statement/statement.hpp"
#include "sql/bind/trigger.hpp"

// A statement of a trigger's function for all rows of the trigger: it is bound as the command of a rule is, over rows
// that show OLD and NEW.

namespace ouzel::sql {

namespace {

ExprPtr bindFilter(BindState& state, const RuleBinding& rule, const TriggerRowFilter& filter) {
   const SourceText* outer = std::exchange(state.source, nullptr);
   Scope scope(nullptr);
   for (const NamespaceItem* item : {&rule.oldRow, &rule.newRow})
      if (!item->columns.empty()) scope.items.push_back(*item);
   ExprPtr condition = bindExpr(state, scope, filter.condition, Clause::Where);
   state.source = outer;
   if (condition->type.oid != oid::boolean) throw SqlError(sqlstate::datatypeMismatch, "a condition is no boolean");
   auto holds = makeTyped(ExprKind::Case, condition->type);
   holds->args.push_back(std::move(condition));
   holds->args.push_back(makeBoolean(filter.isTrue));
   holds->args.push_back(makeBoolean(!filter.isTrue));
   return holds;
}

} // namespace

BoundQuery bindForTriggerRows(const ::Node& insert, const TriggerRows& rows, std::span<const TriggerRowFilter> filters,
                              const BindContext& context) {
   BindState state(context);
   Scope scope(nullptr);
   FromItem item = bindBaseTable(state, scope, rows.rows, nullptr);
   state.pinned.push_back(rows.rows);
   std::vector<GetColumn> oldRow, newRow;
   size_t next = 0;
   const auto take = [&](std::vector<GetColumn>& row) {
      for (const catalog::Column& column : rows.table->columns)
         if (!column.isDropped) row.push_back({item.items[0].columns.at(next++).column, column.attribute});
   };
   if (rows.hasOld) take(oldRow);
   if (rows.hasNew) take(newRow);
   RuleBinding rule;
   rule.isCommand = true;
   rule.oldRow = ruleRow("old", *rows.table, oldRow);
   rule.newRow = ruleRow("new", *rows.table, newRow);
   for (NamespaceItem* shown : {&rule.oldRow, &rule.newRow})
      for (ScopeColumn& column : shown->columns)
         column.type = state.columns[column.column].type; // a numeric is as rows have it
   rule.rows = std::move(item.rel);
   for (const TriggerRowFilter& filter : filters)
      rule.rows = makeSelect(std::move(rule.rows), bindFilter(state, rule, filter));
   state.rule = &rule;
   return bindStatement(state, insert);
}

} // namespace ouzel::sql
