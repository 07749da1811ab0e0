#include "common/base_type/network_address.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include "common/base_type/network_address_parse.hpp"
#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

constexpr unsigned char familyV4 = 2, familyV6 = 3;

void appendNumber(std::string& out, uint32_t number) {
   out.append(std::to_string(number));
}
void appendHex(std::string& out, uint32_t number) {
   char digits[9];
   std::snprintf(digits, sizeof digits, "%x", number);
   out.append(digits);
}
void appendPrefix(std::string& out, const NetworkAddress& value) {
   out.push_back('/');
   appendNumber(out, value.prefix);
}

void putBig(char* target, uint128 value, uint32_t count) {
   for (uint32_t i = 0; i < count; ++i)
      target[i] = static_cast<char>(value >> (8 * (count - 1 - i)));
}
uint128 takeBig(std::string_view bytes) {
   uint128 value = 0;
   for (const char c : bytes)
      value = (value << 8) | static_cast<unsigned char>(c);
   return value;
}

/// Words of an IPv6 address from `base` on that "::" stands for.
struct ZeroRun {
   uint32_t base = 0, length = 0;
   bool has(uint32_t word) const { return word >= base && word < base + length; }
};
/// The first longest run of zeros among the first `count` words.
ZeroRun longestZeros(const NetworkAddress& value, uint32_t count) {
   ZeroRun best, current;
   for (uint32_t i = 0; i < count; ++i) {
      if ((value.byte(2 * i) | value.byte(2 * i + 1)) != 0) {
         current.length = 0;
         continue;
      }
      if (current.length++ == 0) current.base = i;
      if (current.length > best.length) best = current;
   }
   return best;
}
uint32_t wordOf(const NetworkAddress& value, uint32_t index) {
   return value.byte(2 * index) * 256u + value.byte(2 * index + 1);
}

void appendOctets(std::string& out, const NetworkAddress& value, uint32_t from) {
   for (uint32_t i = 0; i < 4; ++i) {
      if (i > 0) out.push_back('.');
      appendNumber(out, value.byte(from + i));
   }
}

void appendV6(std::string& out, const NetworkAddress& value) {
   ZeroRun zeros = longestZeros(value, 8);
   if (zeros.length < 2) zeros = ZeroRun();
   const bool hasV4 = zeros.base == 0 && (zeros.length == 6 || (zeros.length == 7 && wordOf(value, 7) != 1) ||
                                          (zeros.length == 5 && wordOf(value, 5) == 0xffff));
   for (uint32_t i = 0; i < 8; ++i) {
      if (zeros.has(i)) {
         if (i == zeros.base) out.push_back(':');
         continue;
      }
      if (i > 0) out.push_back(':');
      if (i == 6 && hasV4) return appendOctets(out, value, 12);
      appendHex(out, wordOf(value, i));
   }
   if (zeros.length > 0 && zeros.base + zeros.length == 8) out.push_back(':');
}

void appendAbbreviatedV4(std::string& out, const NetworkAddress& value) {
   if (value.prefix == 0) out.push_back('0');
   for (uint32_t i = 0; i * 8 < value.prefix; ++i) {
      if (i > 0) out.push_back('.');
      appendNumber(out, value.byte(i));
   }
}

void appendAbbreviatedV6(std::string& out, const NetworkAddress& value) {
   if (value.prefix == 0) {
      out.append("::");
      return;
   }
   const uint32_t words = std::max(2u, (value.prefix + 15u) / 16);
   const ZeroRun zeros = longestZeros(value, words);
   const bool hasV4 = zeros.length != words && zeros.base == 0 &&
                      (zeros.length == 6 || (zeros.length == 5 && wordOf(value, 5) == 0xffff) ||
                       (zeros.length == 7 && value.byte(14) != 0 && value.byte(15) != 1));
   const size_t start = out.size();
   for (uint32_t i = 0; i < words; ++i) {
      if (zeros.has(i)) {
         if (i == zeros.base) out.push_back(':');
         if (i == words - 1) out.push_back(':');
      } else if (hasV4 && i > 5) {
         out.push_back(i == 6 ? ':' : '.');
         appendNumber(out, value.byte(2 * i));
         if (i == 7 && value.prefix <= 120) continue;
         out.push_back('.');
         appendNumber(out, value.byte(2 * i + 1));
      } else {
         if (out.size() > start) out.push_back(':');
         appendHex(out, wordOf(value, i));
      }
   }
}

template <bool isCidr>
void append(std::string& out, const void* place) {
   const auto bytes = valueAt<StringView>(place);
   const NetworkAddress value = readNetworkAddress(bytes.view());
   appendAddress(out, value);
   if (isCidr || value.prefix != value.maxPrefix()) appendPrefix(out, value);
}

template <bool isCidr>
void parse(void* target, std::string_view text, int32_t, Arena& arena) {
   const std::optional<NetworkAddress> value = parseNetworkAddress(text, isCidr);
   if (!value) throwInvalidSyntax(isCidr ? "cidr" : "inet", text);
   if (isCidr && value->host() != 0)
      throw SqlError(sqlstate::invalidTextRepresentation, "invalid cidr value: \"" + std::string(text) + '"')
          .detail("Value has bits set to right of mask.");
   putValue(target, networkAddressBytes(*value, arena));
}

template <bool isCidr>
void appendBinary(std::string& out, const void* place) {
   const auto bytes = valueAt<StringView>(place);
   const NetworkAddress value = readNetworkAddress(bytes.view());
   out.push_back(static_cast<char>(value.isV6 ? familyV6 : familyV4));
   out.push_back(static_cast<char>(value.prefix));
   out.push_back(isCidr ? '\1' : '\0');
   out.push_back(static_cast<char>(value.byteCount()));
   for (uint32_t i = 0; i < value.byteCount(); ++i)
      out.push_back(static_cast<char>(value.byte(i)));
}

template <bool isCidr>
void parseBinary(void* target, std::string_view bytes, int32_t, Arena& arena) {
   const auto fail = [](const std::string& what) {
      throw SqlError(sqlstate::invalidBinaryRepresentation,
                     "invalid " + what + " in external \"" + (isCidr ? "cidr" : "inet") + "\" value");
   };
   WireReader reader(bytes);
   NetworkAddress value;
   const auto family = reader.take<uint8_t>();
   if (family != familyV4 && family != familyV6) fail("address family");
   value.isV6 = family == familyV6;
   value.prefix = reader.take<uint8_t>();
   if (value.prefix > value.maxPrefix()) fail("bits");
   reader.take<uint8_t>(); // whether it is a cidr: the column's type says so
   if (reader.take<uint8_t>() != value.byteCount()) fail("length");
   value.address = takeBig(reader.takeBytes(value.byteCount()));
   reader.finish();
   if (isCidr && value.host() != 0)
      throw SqlError(sqlstate::invalidBinaryRepresentation, "invalid external \"cidr\" value")
          .detail("Value has bits set to right of mask.");
   putValue(target, networkAddressBytes(value, arena));
}

} // namespace

NetworkAddress readNetworkAddress(std::string_view bytes) {
   NetworkAddress value;
   if (bytes.empty()) return value;
   value.isV6 = bytes[0] == familyV6;
   const uint32_t size = value.byteCount();
   value.address = takeBig(bytes.substr(1, size));
   value.prefix = static_cast<uint8_t>(bytes[1 + size]);
   value.address |= takeBig(bytes.substr(2 + size));
   return value;
}

StringView networkAddressBytes(const NetworkAddress& value, Arena& arena) {
   char bytes[34];
   const uint32_t size = value.byteCount();
   bytes[0] = static_cast<char>(value.isV6 ? familyV6 : familyV4);
   putBig(bytes + 1, value.network(), size);
   bytes[1 + size] = static_cast<char>(value.prefix);
   putBig(bytes + 2 + size, value.host(), size);
   return arena.copyString({bytes, value.host() == 0 ? size + 2 : 2 * size + 2});
}

void appendAddress(std::string& out, const NetworkAddress& value) {
   if (value.isV6)
      appendV6(out, value);
   else
      appendOctets(out, value, 0);
}

void appendWithPrefix(std::string& out, const NetworkAddress& value) {
   appendAddress(out, value);
   out += '/' + std::to_string(value.prefix);
}

void appendAbbreviatedCidr(std::string& out, const NetworkAddress& value) {
   NetworkAddress network = value;
   network.address = value.network();
   if (value.isV6)
      appendAbbreviatedV6(out, network);
   else
      appendAbbreviatedV4(out, network);
   appendPrefix(out, value);
}

const TypeForm inetForm{oid::inet, -1, 8, append<false>, parse<false>, appendBinary<false>, parseBinary<false>};
const TypeForm cidrForm{oid::cidr, -1, 8, append<true>, parse<true>, appendBinary<true>, parseBinary<true>};

} // namespace ouzel
