#pragma once
#include <cstddef>
#include <cstdint>

#include "common/memory/arena.hpp"
#include "common/value/vector.hpp"

// Copying values between vectors. A StringView is copied without its bytes, unless the function's comment says that it
// copies strings.

namespace ouzel::executor {

/// Copy the i-th live row to position i: data to `out`, bits to `validity` if the vector may have NULLs. Returns
/// whether `validity` was written.
bool gatherDense(const Vector& vector, Selection rows, void* out, ValidityWord* validity);
/// Copy the value of each live row to out[row], and its validity bit. `validity` may be null only if the vector has no
/// NULLs.
void copyRows(const Vector& vector, Selection rows, void* out, ValidityWord* validity);
/// Copy the bytes of strings values[0..count) that are not inline into the arena. NULL strings become empty.
void copyStrings(StringView* values, const ValidityWord* validity, uint32_t count, Arena& arena,
                 StringView::Storage storage = StringView::Storage::Transient);

} // namespace ouzel::executor
