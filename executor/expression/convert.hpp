#pragma once
#include <optional>

#include "common/memory/arena.hpp"
#include "common/value/value.hpp"
#include "common/value/vector.hpp"

// The same number in another representation (ExprKind::Convert): integers of any width, scaled numerics, Decimal.

namespace ouzel::executor {

/// True if every value of `from` has a place in `to`, judging by the types alone.
bool conversionIsTotal(Representation from, Representation to);
/// out[row] = value at row, converted. NULL rows are skipped by the caller's selection. Throws 22003 for a value that
/// does not fit.
void convertRows(const Vector& in, Representation from, Representation to, Selection rows, void* out, Arena& strings);
/// One value; nothing if `to` cannot hold it exactly.
std::optional<Value> convertExactly(const Value& value, Representation from, Representation to);

} // namespace ouzel::executor
