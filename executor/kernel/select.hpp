#pragma once
#include <cstdint>

#include "common/value/vector.hpp"

// Making selections from flags and validity. Every function writes ascending rows to `out` and returns their number.
// `out` has room for rows.count() entries, and may be the list that `rows` refers to.

namespace ouzel::executor {

/// Rows whose flag is set: flags[i] (0 or 1) belongs to the i-th live row. If `validity` is not null, bit `row` must be
/// set as well.
uint32_t selectFlagged(const uint8_t* flags, const ValidityWord* validity, Selection rows, RowIndex* out);
/// Rows where the boolean vector is true (or false); NULL is neither.
uint32_t selectTrue(const Vector& booleans, Selection rows, RowIndex* out);
uint32_t selectFalse(const Vector& booleans, Selection rows, RowIndex* out);
uint32_t selectNull(const Vector& vector, Selection rows, RowIndex* out);
uint32_t selectNotNull(const Vector& vector, Selection rows, RowIndex* out);
/// Rows of `rows` that are not in `minus`, a subset of `rows`. `out` must not be the list of `minus`.
uint32_t selectDifference(Selection rows, Selection minus, RowIndex* out);
/// The selection of the first `count` rows of `list`, a subset of `rows`; `rows` itself if no row was dropped.
inline Selection narrowed(Selection rows, const RowIndex* list, uint32_t count) {
   return count == rows.count() ? rows : Selection::list(list, count);
}

} // namespace ouzel::executor
