#pragma once
#include <cstdint>
#include <span>

#include "common/value/vector.hpp"

namespace ouzel::executor {

/// Mark rows [0, rowCount) valid.
void fillValid(ValidityWord* validity, uint32_t rowCount);
/// out[r] = no vector is NULL at r, for the rows of `rows`; bits of other rows are unspecified. False when no vector
/// can have NULLs: then `out` is not written.
bool combineValidity(std::span<const Vector> vectors, Selection rows, uint32_t rowCount, ValidityWord* out);

} // namespace ouzel::executor
