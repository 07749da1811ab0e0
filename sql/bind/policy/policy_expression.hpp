#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/binder.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds an expression of a policy, `text`, over the columns `row` of its table (the row id does not matter), for a
/// query at `depth`. Its subqueries use relations in the name of `role`, as in RelationAccess. Throws 42P17 if the
/// policy reads relations and a policy of the table that does so is open.
ExprPtr bindPolicy(BindState& state, uint32_t depth, Oid role, const catalog::Relation& table,
                   const catalog::Policy& policy, std::string_view text, const std::vector<GetColumn>& row);

} // namespace ouzel::sql
