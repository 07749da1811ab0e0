#pragma once
#include <vector>

#include "sql/algebra/operators.hpp"

namespace ouzel::executor {

/// Of sum(x / c) and avg(x / c) of numerics, where x are scaled integers and c is a constant by which the division ends
/// after few digits: x, c and the scale of x, which are what the aggregate of such quotients takes instead (see
/// aggregate_quotients.cpp). Of other aggregates: nothing.
std::vector<sql::ExprPtr> constantQuotient(const sql::AggregateCall& call);

} // namespace ouzel::executor
