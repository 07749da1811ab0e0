#pragma once
#include <optional>

#include "optimizer/cardinality/estimator.hpp"

namespace ouzel::optimizer {

/// A constant or bound as a number that ranges can be compared with. Empty for strings, NaN and infinities, which allow
/// no estimate.
std::optional<double> asNumber(const Value& value, uint8_t scale);
/// Lowers the distinct counts of columns that the predicate compares with constants.
void narrowColumns(const sql::Expr& predicate, RelEstimate& estimate);

/// Without casts and functions of one column around the expression.
const sql::Expr& withoutCasts(const sql::Expr& expr);

} // namespace ouzel::optimizer
