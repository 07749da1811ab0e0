#pragma once
#include "catalog/object/rule.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// What rules ask of the INSERT, UPDATE or DELETE that is bound next: of a rule's command, the rows for which it runs;
/// of a command whose target has rules, the rows that they leave to it.
struct RuleBinding {
   bool isCommand = false;       ///< the statement is a rule's command
   RelPtr rows;                  ///< for which the command runs, with the columns of the items
   NamespaceItem oldRow, newRow; ///< OLD and NEW; without columns where the event has no such row
   /// INSTEAD rules with a condition: rows that satisfy one are not written.
   std::vector<const catalog::Rule*> excluding;
   /// RETURNING of the user's statement, which reads what the command's own RETURNING gives as a row of `returningOf`.
   const ::List* returning = nullptr;
   catalog::RelationPtr returningOf;
   const ::Alias* returningAlias = nullptr;
};

/// Makes OLD and NEW visible in the scope, which becomes the owner of their columns.
void showRuleRows(BindState& state, Scope& scope, const RuleBinding& rule);
/// The rows of the rule beside those of `rel`, which may read OLD and NEW.
RelPtr besideRuleRows(RuleBinding& rule, RelPtr rel);
/// The rows that no rule of `rule.excluding` takes. `before` and `after`: the columns of the old and of the new row of
/// `table`; empty: there is none.
RelPtr withoutExcluded(BindState& state, const RuleBinding& rule, const catalog::Relation& table, RelPtr rel,
                       const std::vector<GetColumn>& before, const std::vector<GetColumn>& after);
/// OLD or NEW as an item over the columns of a row; empty: an item without columns.
NamespaceItem ruleRow(const char* name, const catalog::Relation& table, const std::vector<GetColumn>& row);
/// The condition of a rule over OLD and NEW; null: it has none.
ExprPtr bindRuleCondition(BindState& state, const catalog::Rule& rule, NamespaceItem oldRow, NamespaceItem newRow);

/// Throws 0A000 if a statement in WITH writes a relation that has rules.
void refuseRules(const catalog::Relation& table, catalog::RuleEvent event);
/// Whether the rule is in force for the event, and whether the relation has such a rule.
bool isEnabled(const catalog::Rule& rule, catalog::RuleEvent event);
bool hasRules(const catalog::Relation& table, catalog::RuleEvent event);

} // namespace ouzel::sql
