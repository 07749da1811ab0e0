#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base_type/type_form.hpp"
#include "common/value/physical_type.hpp"
#include "common/value/string_view.hpp"

// inet and cidr: an IPv4 or IPv6 address and the length of its network's prefix. PostgreSQL orders them by family,
// then by network, by length of the prefix and by the rest of the address. Bytes with the same order:
//
//   family            2: IPv4, 3: IPv6
//   network           4 or 16 bytes; zeros behind the prefix
//   prefix length     1 byte
//   host              4 or 16 bytes with zeros in place of the prefix; nothing if all are zeros
//
// An IPv4 address takes 6 or 10 bytes, which a StringView has inline.

namespace ouzel {

struct NetworkAddress {
   bool isV6 = false;
   uint8_t prefix = 0;  ///< bits, 0 to maxPrefix()
   uint128 address = 0; ///< in the lowest maxPrefix() bits

   uint32_t maxPrefix() const { return isV6 ? 128 : 32; }
   uint128 allBits() const { return isV6 ? ~uint128{0} : uint128{0xffff'ffff}; }
   /// The bits behind the prefix.
   uint128 hostMask() const {
      if (prefix == 0) return allBits();
      return allBits() >> (prefix - 1) >> 1;
   }
   uint128 network() const { return address & ~hostMask() & allBits(); }
   uint128 host() const { return address & hostMask(); }
   /// 4 or 16.
   uint32_t byteCount() const { return isV6 ? 16 : 4; }
   uint8_t byte(uint32_t index) const { return static_cast<uint8_t>(address >> (8 * (byteCount() - 1 - index))); }
};

/// Reads a value's bytes. The bytes of a NULL position are 0.0.0.0/0.
NetworkAddress readNetworkAddress(std::string_view bytes);
StringView networkAddressBytes(const NetworkAddress& value, Arena& arena);

/// Whether the first `bits` bits of the addresses of one family are the same.
inline bool samePrefix(const NetworkAddress& a, const NetworkAddress& b, uint32_t bits) {
   NetworkAddress mask = a;
   mask.prefix = static_cast<uint8_t>(bits);
   return ((a.address ^ b.address) & ~mask.hostMask() & a.allBits()) == 0;
}

/// "10.1.2.3" or "::1", with nothing behind it.
void appendAddress(std::string& out, const NetworkAddress& value);
/// As a cast to text: "10.1.2.3/32".
void appendWithPrefix(std::string& out, const NetworkAddress& value);
/// abbrev(cidr): "10.1/16".
void appendAbbreviatedCidr(std::string& out, const NetworkAddress& value);

extern const TypeForm inetForm, cidrForm;

} // namespace ouzel
