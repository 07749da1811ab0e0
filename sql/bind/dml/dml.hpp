#pragma once
#include "sql/bind/state/nested_query.hpp"

namespace ouzel::sql {

/// The table that a statement writes. Throws 42P01, and 42809 for what cannot be written; `verb` completes the message.
catalog::RelationPtr targetTable(BindState& state, const ::RangeVar& name, const char* verb);
/// What every statement that writes says of its table; `name` may be null.
std::unique_ptr<Dml> makeDml(const BindState& state, const catalog::Relation& table, const ::RangeVar* name);
/// The target as a FROM item: its stored columns, and `rowId`, the column of its row ids.
FromItem bindTargetTable(BindState& state, Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& table,
                         ColumnId& rowId);
/// The default of a column, cast to the column's type; NULL if it has none.
ExprPtr defaultOf(BindState& state, const catalog::Relation& table, const catalog::Column& column);
/// The new row of an INSERT in dml.target: `values`, and defaults, computed above `rel`, for the table's other columns;
/// NULL for generated ones.
RelPtr fillTarget(BindState& state, Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table,
                  const std::vector<GetColumn>& values);
/// NOT NULL and CHECK constraints over the new row in `target`.
std::vector<Dml::Check> checksOf(BindState& state, const catalog::Relation& table,
                                 const std::vector<GetColumn>& target);
/// Computes the generated columns of the new row above `rel`.
RelPtr computeGenerated(BindState& state, Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table);
/// The table as a FROM item over the row in `columns`, whose columns are named as the table's.
NamespaceItem itemOf(const catalog::Relation& table, const std::vector<GetColumn>& columns);
/// The item's name means the row in `columns` from here on.
void showRow(NamespaceItem& item, const catalog::Relation& table, const std::vector<GetColumn>& columns);
/// The operator, RETURNING and WITH around the rows of a statement.
BoundRel finishDml(BindState& state, Scope& scope, RelKind kind, RelPtr rel, std::unique_ptr<Dml> dml,
                   const ::List* returning);

/// The column that says which clause of MERGE or ON CONFLICT a row takes: 0 is none.
inline const SqlType clauseType{oid::int4, -1, invalidOid};
/// A constant of that column.
ExprPtr clauseNumber(int number);

} // namespace ouzel::sql
