#pragma once
#include "sql/bind/dml/view_target.hpp"
#include "sql/bind/policy/target_policies.hpp"

namespace ouzel::sql {

/// An INSERT that writes a view: what is behind it, and the view's columns as they show `target.old`.
struct ConflictView {
   const ViewTarget& target;
   const NamespaceItem& item;
};

/// Joins the rows proposed for insertion (dml.target) with the stored rows that have the same keys, and computes the
/// clause and the new row for each. `view`: null if the statement writes a table.
RelPtr bindOnConflict(BindState& state, Scope& scope, const ::InsertStmt& statement, const catalog::RelationPtr& table,
                      RelPtr rel, Dml& dml, TargetPolicies& policies, const ConflictView* view);

} // namespace ouzel::sql
