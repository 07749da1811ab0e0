#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// 42P01 `missing FROM-clause entry for table "t"`, with PostgreSQL's hints.
[[noreturn]] void throwMissingRelation(const Scope& scope, std::string_view schema, std::string_view name,
                                       uint32_t position);
/// The column of this name in the scope or, unless `localOnly`, in those around it. Throws 42703 and 42702.
ExprPtr findColumn(BindState& state, Scope& scope, std::string_view name, uint32_t position, bool localOnly = false);
/// The FROM item of this name, null if there is none; `owner` gets the scope it stands in.
const NamespaceItem* findItem(BindState& state, Scope& scope, std::string_view schema, std::string_view name,
                              uint32_t position, Scope** owner = nullptr);
/// A name, with or without its table and schema: a column, a whole row, or a field.
ExprPtr bindColumnRef(BindState& state, Scope& scope, const ::ColumnRef& ref);

} // namespace ouzel::sql
