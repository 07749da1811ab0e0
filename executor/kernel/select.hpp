#pragma once
#include <cstdint>

#include "common/value/vector.hpp"

// From flags and validity to selections. Every function writes ascending rows to `out`, which has room for
// rows.count() entries and may be the very list `rows` reads, and returns how many it wrote.

namespace ouzel::executor {

/// Rows whose flag is set: flags[i] (0 or 1) belongs to the i-th live row. `validity`, when given, must be set for the
/// row as well (bit = row).
uint32_t selectFlagged(const uint8_t* flags, const ValidityWord* validity, Selection rows, RowIndex* out);
/// Rows where the boolean vector is true (false); NULL is neither.
uint32_t selectTrue(const Vector& booleans, Selection rows, RowIndex* out);
uint32_t selectFalse(const Vector& booleans, Selection rows, RowIndex* out);
uint32_t selectNull(const Vector& vector, Selection rows, RowIndex* out);
uint32_t selectNotNull(const Vector& vector, Selection rows, RowIndex* out);
/// Rows of `rows` that are not in `minus`, which lists some of them. `out` must not be minus's list.
uint32_t selectDifference(Selection rows, Selection minus, RowIndex* out);
/// The selection a count and a list amount to: `rows` itself when nothing was dropped.
inline Selection narrowed(Selection rows, const RowIndex* list, uint32_t count) {
   return count == rows.count() ? rows : Selection::list(list, count);
}

} // namespace ouzel::executor
