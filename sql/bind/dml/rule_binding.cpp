#include "sql/bind/dml/rule_binding.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/type/coercion.hpp"

namespace ouzel::sql {

void showRuleRows(BindState& state, Scope& scope, const RuleBinding& rule) {
   for (const NamespaceItem* item : {&rule.oldRow, &rule.newRow}) {
      for (const ScopeColumn& column : item->columns)
         state.adopt(scope, column.column);
      if (!item->columns.empty()) scope.items.push_back(*item);
   }
}

RelPtr besideRuleRows(RuleBinding& rule, RelPtr rel) {
   if (!rule.rows) return rel;
   if (isUnit(*rel)) return std::move(rule.rows);
   return crossJoin(std::move(rule.rows), std::move(rel));
}

NamespaceItem ruleRow(const char* name, const catalog::Relation& table, const std::vector<GetColumn>& row) {
   NamespaceItem item;
   if (!row.empty()) item = itemOf(table, row);
   item.alias = name;
   item.isAliased = true;
   item.hasVisibleColumns = false;
   return item;
}

ExprPtr bindRuleCondition(BindState& state, const catalog::Rule& rule, NamespaceItem oldRow, NamespaceItem newRow) {
   if (rule.condition.empty()) return nullptr;
   const auto script = ParsedScript::parseExpression(rule.condition);
   const SourceText* outer = std::exchange(state.source, nullptr);
   state.openViews.push_back(invalidOid); // its names were allowed when the rule was made
   Scope scope(nullptr);
   for (NamespaceItem* item : {&oldRow, &newRow})
      if (!item->columns.empty()) scope.items.push_back(std::move(*item));
   auto condition = coerceToBoolean(state, bindExpr(state, scope, script.expression(), Clause::Where), "WHERE");
   state.openViews.pop_back();
   state.source = outer;
   return condition;
}

RelPtr withoutExcluded(BindState& state, const RuleBinding& rule, const catalog::Relation& table, RelPtr rel,
                       const std::vector<GetColumn>& before, const std::vector<GetColumn>& after) {
   for (const catalog::Rule* excluding : rule.excluding) {
      // Who wrote the rule may read what its condition reads.
      const Oid role = std::exchange(state.access.role, table.owner);
      auto condition =
          bindRuleCondition(state, *excluding, ruleRow("old", table, before), ruleRow("new", table, after));
      state.access.role = role;
      rel = makeSelect(std::move(rel), makeTest(ExprKind::IsNotTrue, std::move(condition)));
   }
   return rel;
}

bool isEnabled(const catalog::Rule& rule, catalog::RuleEvent event) {
   return rule.event == event && (rule.enabled == 'O' || rule.enabled == 'A');
}

bool hasRules(const catalog::Relation& table, catalog::RuleEvent event) {
   return std::any_of(table.rules.begin(), table.rules.end(),
                      [&](const catalog::Rule& rule) { return isEnabled(rule, event); });
}

void refuseRules(const catalog::Relation& table, catalog::RuleEvent event) {
   if (!hasRules(table, event)) return;
   const auto refuse = [](const std::string& what) {
      throw SqlError(sqlstate::featureNotSupported,
                     what + " rules are not supported for data-modifying statements in WITH");
   };
   size_t commands = 0;
   for (const catalog::Rule& rule : table.rules) {
      if (!isEnabled(rule, event)) continue;
      if (!rule.isInstead) refuse("DO ALSO");
      if (!rule.condition.empty()) refuse("conditional DO INSTEAD");
      commands += rule.actions.size();
   }
   if (commands == 0) refuse("DO INSTEAD NOTHING");
   if (commands > 1) refuse("multi-statement DO INSTEAD");
   throwNotSupported("rules for data-modifying statements in WITH");
}

} // namespace ouzel::sql
