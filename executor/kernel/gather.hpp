#pragma once
#include <cstddef>
#include <cstdint>

#include "common/memory/arena.hpp"
#include "common/value/vector.hpp"

// Moving values between vectors. Values are copied as bytes: a StringView keeps pointing
// where it did, unless the function says that it copies strings.

namespace ouzel::executor {

/// Row i of the result = the i-th live row: data to `out`, bits to `validity` when the vector may have NULLs. Returns
/// whether `validity` was written.
bool gatherDense(const Vector& vector, Selection rows, void* out, ValidityWord* validity);
/// out[row] = vector's value at row, for the live rows; validity bits likewise (validity may be null only when the
/// vector has no NULLs).
void copyRows(const Vector& vector, Selection rows, void* out, ValidityWord* validity);
/// Copy the bytes of the strings at out[0..count) into the arena, where they are not inline (NULL ones become empty).
void copyStrings(StringView* values, const ValidityWord* validity, uint32_t count, Arena& arena,
                 StringView::Storage storage = StringView::Storage::Transient);

} // namespace ouzel::executor
