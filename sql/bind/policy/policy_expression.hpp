#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/binder.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds an expression of a policy over the columns `row` of its table (the row id does not matter), for a query at
/// `depth`. `tableName`: by which
/// the expression names the table. Throws 42P17 if the expression reads its own table.
ExprPtr bindPolicy(BindState& state, uint32_t depth, const catalog::Relation& table, const std::string& tableName,
                   std::string_view text, const std::vector<GetColumn>& row);

} // namespace ouzel::sql
