#pragma once
#include <cstdint>

#include "common/value/vector.hpp"
#include "sql/algebra/expr.hpp"

// SQL comparison of two vectors of one physical type (and one scale, for scaled numerics). Floats: NaN is the largest
// value and equals NaN. Intervals compare by span, decimals by value, strings by bytes.

namespace ouzel::executor {

/// Set flags[i] to the value of `a op b` for the i-th live row, as if no operand were NULL. op is one of Eq .. Ge.
void compareFlags(sql::CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* flags);
/// Set out[row] to the value of `a op b`. Rows with a NULL operand get any value, except for IsDistinctFrom and
/// IsNotDistinctFrom, which compare NULLs. `scratch` has room for batchRowsMax flags.
void compareValues(sql::CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* scratch, uint8_t* out);
/// Write the rows for which `a op b` is true to `out`, as the functions of select.hpp. `scratch` as above.
uint32_t compareSelect(sql::CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* scratch,
                       RowIndex* out);

/// Three-way comparison of the values at two addresses: negative, zero or positive.
using ValueOrder = int (*)(const void* a, const void* b);
ValueOrder valueOrder(PhysicalType type);
using ValueEquality = bool (*)(const void* a, const void* b);
ValueEquality valueEquality(PhysicalType type);
/// Three-way comparison of two values that may be NULL, as in ORDER BY.
int sortOrder(const Vector& a, uint32_t aRow, const Vector& b, uint32_t bRow, bool descending, bool nullsFirst);

} // namespace ouzel::executor
