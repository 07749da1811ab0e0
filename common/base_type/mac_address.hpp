#pragma once
#include "common/base_type/type_form.hpp"

// macaddr: 48 bits as an integer. macaddr8: 64 bits, in the signed form of orderedUnsigned(). Both have the order of
// their bytes.

namespace ouzel {

extern const TypeForm macaddrForm, macaddr8Form;

/// The 64-bit form of a 48-bit address: ff:fe in its middle.
constexpr uint64_t widerMac(uint64_t mac) {
   return ((mac >> 24) << 40) | 0xff'fe00'0000 | (mac & 0xff'ffff);
}

} // namespace ouzel
