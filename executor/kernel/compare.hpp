#pragma once
#include <cstdint>

#include "common/value/vector.hpp"
#include "sql/algebra/expr.hpp"

// SQL comparison of values of one physical type (and one scale, for scaled numerics): floats with NaN last and equal to
// itself, intervals by span, decimals by value, strings by bytes.

namespace ouzel::executor {

/// Value of `a op b` for the i-th live row at flags[i], as if no operand were NULL. op is one of Eq .. Ge.
void compareFlags(sql::CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* flags);
/// Value of `a op b` at out[row]. NULL operands: any value, except for IsDistinctFrom and IsNotDistinctFrom, which see
/// them. `scratch` has room for batchRowsMax flags.
void compareValues(sql::CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* scratch, uint8_t* out);
/// Rows for which `a op b` is true, written as select.hpp does. `scratch` as above.
uint32_t compareSelect(sql::CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* scratch,
                       RowIndex* out);

/// Three-way order of two values at these addresses: negative, zero, positive.
using ValueOrder = int (*)(const void* a, const void* b);
ValueOrder valueOrder(PhysicalType type);
using ValueEquality = bool (*)(const void* a, const void* b);
ValueEquality valueEquality(PhysicalType type);
/// Order of two values of columns that may be NULL, as ORDER BY has it.
int sortOrder(const Vector& a, uint32_t aRow, const Vector& b, uint32_t bRow, bool descending, bool nullsFirst);

} // namespace ouzel::executor
