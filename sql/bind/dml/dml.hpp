#pragma once
#include "sql/bind/policy/target_policies.hpp"
#include "sql/bind/state/nested_query.hpp"

namespace ouzel::sql {

/// The table or view that a statement writes. Throws 42P01, and 42809 for a relation that cannot be written; `verb`
/// completes the message.
catalog::RelationPtr targetTable(BindState& state, const ::RangeVar& name, const char* verb);
/// A Dml for the table; the caller fills the members for its statement. `name` may be null.
std::unique_ptr<Dml> makeDml(const BindState& state, const catalog::Relation& table, const ::RangeVar* name);
/// Binds the target as a FROM item with its stored columns, and with row ids and the places of rows in its parts, which
/// it notes in `dml`.
FromItem bindTargetTable(BindState& state, Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& table,
                         Dml& dml);
/// Adds the columns of row ids to the scan of a target, which `item` shows, and notes in `dml` what it reads.
void addRowIds(BindState& state, Scope& scope, op::Get& get, const NamespaceItem& item, Dml& dml);
/// The partitions into which new rows go, and the bounds of a partition that is named itself. For statements that
/// insert or change rows, once dml.target is set.
void setParts(BindState& state, const catalog::RelationPtr& table, Dml& dml);
/// The default of a column, cast to the column's type; NULL if it has none.
ExprPtr defaultOf(BindState& state, const catalog::Relation& table, const catalog::Column& column);
/// The new row of an INSERT in dml.target: `values`, and defaults, computed above `rel`, for the table's other columns;
/// NULL for generated ones.
RelPtr fillTarget(BindState& state, Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table,
                  const std::vector<GetColumn>& values);
/// The table's NOT NULL and CHECK constraints over the new row in `target`.
std::vector<Dml::Check> checksOf(BindState& state, const catalog::Relation& table,
                                 const std::vector<GetColumn>& target);
/// Puts a Map over `rel` that computes the generated columns of the new row.
RelPtr computeGenerated(BindState& state, Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table);
/// From here on, the item's columns refer to the row in `columns`.
void showRow(NamespaceItem& item, const catalog::Relation& table, const std::vector<GetColumn>& columns);
/// Puts the operator of the statement, its RETURNING and its WITH over `rel`, which gives the rows. `policies`: of the
/// target, whose columns it watches by now. `rule`: what rules ask of the statement; null: nothing.
BoundRel finishDml(BindState& state, Scope& scope, RelKind kind, RelPtr rel, std::unique_ptr<Dml> dml,
                   const ::List* returning, const TargetPolicies& policies, const RuleBinding* rule = nullptr);

/// Type of the column with the number of the clause (MERGE, ON CONFLICT) that applies to a row; 0: no clause.
inline const SqlType clauseType{oid::int4, -1, invalidOid};
/// A number of a clause as a constant.
ExprPtr clauseNumber(int number);

} // namespace ouzel::sql
