#pragma once
#include "sql/bind/dml/view_target.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

struct Assignment {
   int16_t attribute;
   ExprPtr value;
};

/// Binds SET of UPDATE, MERGE and ON CONFLICT. Subqueries of `(a, b) = (SELECT ...)` are joined to `rel` for rows where
/// `condition` is true (null: all rows).
std::vector<Assignment> bindAssignments(BindState& state, Scope& scope, const ::List* list,
                                        const catalog::Relation& table, RelPtr& rel, const Expr* condition,
                                        const ViewTarget* view = nullptr);
/// The rows that an UPDATE or DELETE of a table or view with rules would change: their columns `before`, and those of
/// an UPDATE `after`. `rule`: of the command, if it is one of a rule itself.
RelPtr bindUpdatedRows(BindState& state, Scope& scope, const ::Node& statement, const catalog::RelationPtr& table,
                       RuleBinding* rule, std::vector<GetColumn>& before, std::vector<GetColumn>& after);
/// `parent`: the scope around a WITH query, null for a statement of its own.
BoundRel bindUpdate(BindState& state, const ::UpdateStmt& statement, Scope* parent);
/// `parent`: the scope around a WITH query, null for a statement of its own.
BoundRel bindDelete(BindState& state, const ::DeleteStmt& statement, Scope* parent);

} // namespace ouzel::sql
