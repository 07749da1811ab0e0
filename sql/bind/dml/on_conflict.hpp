#pragma once
#include "sql/bind/policy/target_policies.hpp"

namespace ouzel::sql {

/// Joins the rows proposed for insertion (dml.target) with the stored rows that have the same keys, and computes the
/// clause and the new row for each.
RelPtr bindOnConflict(BindState& state, Scope& scope, const ::InsertStmt& statement, const catalog::RelationPtr& table,
                      RelPtr rel, Dml& dml, TargetPolicies& policies);

} // namespace ouzel::sql
