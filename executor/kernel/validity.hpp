#pragma once
#include <cstdint>
#include <span>

#include "common/value/vector.hpp"

namespace ouzel::executor {

/// Mark rows [0, rowCount) valid.
void fillValid(ValidityWord* validity, uint32_t rowCount);
/// For rows r of `rows`, set bit r of `out` if no vector is NULL at r; bits of other rows are unspecified. Returns
/// false, without writing `out`, if no vector can have NULLs.
bool combineValidity(std::span<const Vector> vectors, Selection rows, uint32_t rowCount, ValidityWord* out);

} // namespace ouzel::executor
