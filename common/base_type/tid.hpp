#pragma once
#include "common/base_type/type_form.hpp"

// tid: the place of a row, a number of a block and one within the block, as (block << 16 | row). Texts: "(42,7)". The
// values of the system column ctid.

namespace ouzel {

extern const TypeForm tidForm;

/// A tid is less than 2^48.
constexpr int64_t makeTid(uint32_t block, uint16_t row) {
   return static_cast<int64_t>(uint64_t{block} << 16 | row);
}
constexpr uint32_t blockOfTid(int64_t tid) {
   return static_cast<uint32_t>(static_cast<uint64_t>(tid) >> 16);
}
constexpr uint16_t rowOfTid(int64_t tid) {
   return static_cast<uint16_t>(tid);
}

} // namespace ouzel
