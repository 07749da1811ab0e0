#pragma once
#include <optional>

#include "common/memory/arena.hpp"
#include "common/value/value.hpp"
#include "common/value/vector.hpp"

// Conversion of a number to another representation (ExprKind::Convert): integers of any width, scaled numerics,
// Decimal.

namespace ouzel::executor {

/// True if every value of `from` fits into `to`.
bool conversionIsTotal(Representation from, Representation to);
/// Set out[row] to the converted value, for the rows of `rows`, which must not have NULL rows. Throws 22003 for a value
/// that does not fit.
void convertRows(const Vector& in, Representation from, Representation to, Selection rows, void* out, Arena& strings);
/// Convert one value; nullopt if `to` cannot hold it exactly.
std::optional<Value> convertExactly(const Value& value, Representation from, Representation to);

} // namespace ouzel::executor
