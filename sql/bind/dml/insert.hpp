#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A column that an INSERT names (or means), with the place where it is named.
struct InsertColumn {
   const catalog::Column* column;
   uint32_t position;
};

/// The columns that an INSERT names; without names all of the table.
std::vector<InsertColumn> insertColumns(const BindState& state, const ::List* names, const catalog::Relation& table);
/// One row of VALUES as the columns take it: cast, defaults in their places.
std::vector<ExprPtr> bindInsertValues(BindState& state, Scope& scope, const ::List* list,
                                      const std::vector<InsertColumn>& columns, bool isExplicit,
                                      ::OverridingKind overriding, const catalog::Relation& table);
/// `parent`: the scope around a WITH query, null for a statement of its own.
BoundRel bindInsert(BindState& state, const ::InsertStmt& statement, Scope* parent);

} // namespace ouzel::sql
