#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Makes the queries of WITH known; each is bound when it is first referred to or when its turn comes.
void declareCtes(BindState& state, Scope& scope, const ::WithClause* with);
/// Puts the bound queries of WITH over the query they belong to.
RelPtr placeCtes(Scope& scope, RelPtr body);
/// The WITH query of this name, seen from the scope; null if there is none.
CteBinding* findCte(BindState& state, Scope& scope, std::string_view name);
/// Whether the name is that of a WITH query that cannot be seen yet.
bool isLaterCte(const Scope& scope, std::string_view name);
/// A reference to a WITH query as a FROM item.
FromItem scanCte(BindState& state, Scope& scope, CteBinding& cte, const ::RangeVar& name);

} // namespace ouzel::sql
