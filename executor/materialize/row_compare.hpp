#pragma once
#include <cstdint>

#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// SQL equality and order of two values of one physical type (not NULL). NaN equals NaN and is the largest float.
bool valuesEqual(PhysicalType type, const void* a, const void* b);
int compareValues(PhysicalType type, const void* a, const void* b);

/// Of live rows candidates[0..count), keep those whose value equals column `column` of rows[candidate]; the others are
/// appended to `rejected` and `rejectedCount` raised. Returns how many were kept, in place and in order. NULL equals
/// NULL when `nullsEqual`, else nothing.
uint32_t keepEqual(const RowLayout& layout, uint32_t column, const LiveColumn& source, const std::byte* const* rows,
                   bool nullsEqual, RowIndex* candidates, uint32_t count, RowIndex* rejected, uint32_t& rejectedCount);

/// All key columns 0..keyCount-1 of the two rows are equal, NULL equal to NULL.
bool rowsEqual(const RowLayout& layout, uint32_t keyCount, const std::byte* a, const std::byte* b);

} // namespace ouzel::executor
