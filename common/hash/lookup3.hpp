#pragma once
#include <cstdint>
#include <string_view>

#include "common/value/string_view.hpp"

// Bob Jenkins' lookup3 with a seed, as PostgreSQL hashes keys of hash partitions. Tables that a client has spread by
// hash keep their rows' places, so that these values never change. For hash tables there is hash.hpp, which is faster.

namespace ouzel {

uint64_t lookup3(std::string_view bytes, uint64_t seed);
uint64_t lookup3(uint32_t value, uint64_t seed);
/// The hash of an integer that is the same for all widths.
uint64_t lookup3OfInteger(int64_t value, uint64_t seed);
/// The hash of a number that is the same for both widths of floats.
uint64_t lookup3OfFloat(double value, uint64_t seed);
/// The hash of a decimal (common/number/decimal.hpp) that is the same for all scales.
uint64_t lookup3OfDecimal(StringView value, uint64_t seed);

} // namespace ouzel
