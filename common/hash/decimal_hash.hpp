#pragma once
#include "common/number/decimal.hpp"

// Hashes of numerics: equal for equal values of any scale and representation (the value modulo the prime 2^61 - 1,
// mixed).

namespace ouzel::decimal {

uint64_t hash(StringView v);
uint64_t hashScaled(int64_t value, int32_t scale);
uint64_t hashScaled(int128 value, int32_t scale);

} // namespace ouzel::decimal
