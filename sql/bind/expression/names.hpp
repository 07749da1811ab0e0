#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Throws 42P01 `missing FROM-clause entry for table "t"`, with PostgreSQL's hints.
[[noreturn]] void throwMissingRelation(const Scope& scope, std::string_view schema, std::string_view name,
                                       uint32_t position);
/// The column of this name in the scope or, unless `localOnly`, in enclosing scopes. Throws 42703 and 42702.
ExprPtr findColumn(BindState& state, Scope& scope, std::string_view name, uint32_t position, bool localOnly = false);
/// ctid, tableoid, xmin, ...
bool isSystemColumn(std::string_view name);
/// The FROM item of this name in the scope or in enclosing scopes; null if not found. `owner` gets the item's scope.
NamespaceItem* findItem(BindState& state, Scope& scope, std::string_view schema, std::string_view name,
                        uint32_t position, Scope** owner = nullptr);
/// Binds a name, with or without table and schema. It may mean a column, a whole row, or a field of a row.
ExprPtr bindColumnRef(BindState& state, Scope& scope, const ::ColumnRef& ref);
/// `row.name` means name(row) where the row has no such column, for functions of users: a computed column. Null: there
/// is no such function.
ExprPtr functionOfRow(BindState& state, Scope& scope, const ::Node* name, const ::Node* row, int location);
/// The value of a variable of the program, or of a parameter of the function, that `name.*` means; null: the name is
/// the query's.
ExprPtr variableRow(BindState& state, Scope& scope, const ::ColumnRef& star);

/// The column of row ids of an item that is a stored table; its scan gives it from now on. `level`: whose item it is.
ColumnId rowIdOf(BindState& state, const Scope& level, NamespaceItem& item);

} // namespace ouzel::sql
