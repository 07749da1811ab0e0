#pragma once
#include "sql/bind/dml/view_target.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A target column of an INSERT, and the position of its name; 0 if the statement does not name columns.
struct InsertColumn {
   const catalog::Column* column;
   uint32_t position;
   const ::List* indirection = nullptr; ///< subscripts: a part of the column is assigned
};

/// The columns that an INSERT names; without names all columns of the table.
std::vector<InsertColumn> insertColumns(const BindState& state, const ::List* names, const catalog::Relation& table);
/// Notes that the first `given` of the columns get values.
void noteInserted(BindState& state, const catalog::Relation& table, const std::vector<InsertColumn>& columns,
                  size_t given);
/// Binds one row of VALUES, casts its values to the columns' types and puts in defaults for DEFAULT; those of `view`,
/// if the statement writes one.
std::vector<ExprPtr> bindInsertValues(BindState& state, Scope& scope, const ::List* list,
                                      const std::vector<InsertColumn>& columns, bool isExplicit,
                                      ::OverridingKind overriding, const catalog::Relation& table,
                                      const ViewTarget* view = nullptr);
/// The rows that a statement would insert into a table or view with rules, with all columns, which go to `row`. `rule`:
/// of the command, if it is one of a rule itself.
RelPtr bindInsertedRows(BindState& state, Scope& scope, const ::InsertStmt& statement,
                        const catalog::RelationPtr& table, RuleBinding* rule, std::vector<GetColumn>& row);
/// `parent`: the scope around a WITH query; null for a top-level statement.
BoundRel bindInsert(BindState& state, const ::InsertStmt& statement, Scope* parent);

} // namespace ouzel::sql
