#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Enters the queries of WITH into the scope and binds them in order. With RECURSIVE, a reference from an earlier query
/// binds the later query first.
void declareCtes(BindState& state, Scope& scope, const ::WithClause* with);
/// Puts a With operator with the scope's bound CTEs over `body`. Drops SELECTs that no query references.
RelPtr placeCtes(Scope& scope, RelPtr body);
/// The WITH query of this name that is visible in the scope; null if not found.
CteBinding* findCte(BindState& state, Scope& scope, std::string_view name);
/// True if a WITH query that is not visible yet has this name.
bool isLaterCte(const Scope& scope, std::string_view name);
/// A reference to a WITH query as a FROM item.
FromItem scanCte(BindState& state, Scope& scope, CteBinding& cte, const ::RangeVar& name);

} // namespace ouzel::sql
