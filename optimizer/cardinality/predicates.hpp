#pragma once
#include <optional>

#include "optimizer/cardinality/estimator.hpp"

namespace ouzel::optimizer {

/// A constant or bound as a number on the scale that ranges are compared on; nothing for strings, NaN and infinities:
/// no estimate could be made of them.
std::optional<double> asNumber(const Value& value, uint8_t scale);
/// Columns that the predicate pins or limits have fewer distinct values afterwards.
void narrowColumns(const sql::Expr& predicate, RelEstimate& estimate);

} // namespace ouzel::optimizer
