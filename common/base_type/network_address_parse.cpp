#include "common/base_type/network_address_parse.hpp"

namespace ouzel {

namespace {

bool isDigit(char c) {
   return c >= '0' && c <= '9';
}
int32_t hexValue(char c) {
   if (isDigit(c)) return c - '0';
   if (c >= 'a' && c <= 'f') return c - 'a' + 10;
   if (c >= 'A' && c <= 'F') return c - 'A' + 10;
   return -1;
}

/// Takes characters off the front of a text; the end reads as '\0'.
class Scanner {
public:
   explicit Scanner(std::string_view text) : rest_(text) {}
   char peek(size_t ahead = 0) const { return ahead < rest_.size() ? rest_[ahead] : '\0'; }
   bool atEnd() const { return rest_.empty(); }
   void skip(size_t count = 1) { rest_.remove_prefix(count); }
   bool take(char c) {
      if (atEnd() || peek() != c) return false;
      skip();
      return true;
   }
   /// Digits that make a number up to `max`; nullopt: there is none, or it is too large.
   std::optional<uint32_t> number(uint32_t max) {
      if (!isDigit(peek())) return std::nullopt;
      uint32_t value = 0;
      for (; isDigit(peek()); skip()) {
         value = value * 10 + static_cast<uint32_t>(peek() - '0');
         if (value > max) return std::nullopt;
      }
      return value;
   }
   /// As number(), but without zeros in front.
   std::optional<uint32_t> plainNumber(uint32_t max) {
      if (peek() == '0' && isDigit(peek(1))) return std::nullopt;
      return number(max);
   }

private:
   std::string_view rest_;
};

struct Octets {
   uint32_t address = 0; ///< left-aligned
   uint32_t count = 0;
   bool add(uint32_t octet) {
      if (count == 4) return false;
      address |= octet << (24 - 8 * count++);
      return true;
   }
};

NetworkAddress v4(const Octets& octets, uint32_t prefix) {
   return {false, static_cast<uint8_t>(prefix), octets.address};
}

std::optional<NetworkAddress> parseV4Inet(std::string_view text) {
   Scanner in(text);
   Octets octets;
   bool mayGoOn = true;
   while (mayGoOn && isDigit(in.peek())) {
      const auto octet = in.number(255);
      if (!octet || !octets.add(*octet)) return std::nullopt;
      mayGoOn = in.take('.');
   }
   std::optional<uint32_t> prefix;
   if (!in.atEnd()) {
      if (octets.count == 0 || !in.take('/')) return std::nullopt;
      prefix = in.number(32);
      if (!prefix || !in.atEnd()) return std::nullopt;
   }
   if (!prefix && octets.count != 4) return std::nullopt;
   if (prefix && *prefix / 8 > octets.count) return std::nullopt;
   return v4(octets, prefix.value_or(32));
}

/// The length of the prefix of a network of class A, B, C, D or E, and no less than the octets that are given.
uint32_t classPrefix(const Octets& octets) {
   const uint32_t first = octets.address >> 24;
   const uint32_t ofClass = first >= 240 ? 32 : first >= 224 ? 8 : first >= 192 ? 24 : first >= 128 ? 16 : 8;
   const uint32_t prefix = std::max(ofClass, octets.count * 8);
   return prefix == 8 && first == 224 ? 4 : prefix;
}

bool scanHexOctets(Scanner& in, Octets& octets) {
   in.skip(2);
   while (hexValue(in.peek()) >= 0) {
      auto octet = static_cast<uint32_t>(hexValue(in.peek())) << 4;
      in.skip();
      if (hexValue(in.peek()) >= 0) {
         octet |= static_cast<uint32_t>(hexValue(in.peek()));
         in.skip();
      }
      if (!octets.add(octet)) return false;
   }
   return true;
}

std::optional<NetworkAddress> parseV4Cidr(std::string_view text) {
   Scanner in(text);
   Octets octets;
   if (in.peek() == '0' && (in.peek(1) == 'x' || in.peek(1) == 'X') && hexValue(in.peek(2)) >= 0) {
      if (!scanHexOctets(in, octets)) return std::nullopt;
   } else {
      do {
         const auto octet = in.number(255);
         if (!octet || !octets.add(*octet)) return std::nullopt;
      } while (in.take('.'));
   }
   if (in.atEnd()) return v4(octets, classPrefix(octets));
   if (!in.take('/')) return std::nullopt;
   const auto prefix = in.number(32);
   if (!prefix || !in.atEnd()) return std::nullopt;
   return v4(octets, *prefix);
}

/// The end of an IPv6 address: "1.2.3.4" or "1.2.3.4/120".
bool scanTail(Scanner& in, uint128& address, std::optional<uint32_t>& prefix) {
   Octets octets;
   do {
      const auto octet = in.plainNumber(255);
      if (!octet || !octets.add(*octet)) return false;
   } while (in.take('.'));
   if (octets.count != 4) return false;
   if (in.take('/')) {
      prefix = in.plainNumber(128);
      if (!prefix) return false;
   }
   address = (address << 32) | octets.address;
   return in.atEnd();
}

/// Four hexadecimal digits at most.
std::optional<uint32_t> scanWord(Scanner& in) {
   uint32_t word = 0, digits = 0;
   for (; hexValue(in.peek()) >= 0; in.skip()) {
      word = (word << 4) | static_cast<uint32_t>(hexValue(in.peek()));
      if (++digits > 4) return std::nullopt;
   }
   if (digits == 0) return std::nullopt;
   return word;
}

/// True if the digits at the front belong to an IPv4 address.
bool isDotted(const Scanner& in) {
   size_t digits = 0;
   while (isDigit(in.peek(digits)))
      ++digits;
   return digits > 0 && in.peek(digits) == '.';
}

std::optional<NetworkAddress> parseV6(std::string_view text) {
   Scanner in(text);
   uint128 address = 0;
   uint32_t words = 0;
   std::optional<uint32_t> prefix, gap; // gap: words before the "::"
   if (in.peek() == ':') {
      if (in.peek(1) != ':') return std::nullopt;
      in.skip(2);
      gap = 0;
   }
   while (!in.atEnd() && in.peek() != '/') {
      if (isDotted(in)) {
         if (words > 6 || !scanTail(in, address, prefix)) return std::nullopt;
         words += 2;
         break;
      }
      const auto word = scanWord(in);
      if (!word || words == 8) return std::nullopt;
      address = (address << 16) | *word;
      ++words;
      if (!in.take(':')) {
         if (!in.atEnd() && in.peek() != '/') return std::nullopt;
         break;
      }
      if (in.take(':')) {
         if (gap) return std::nullopt;
         gap = words;
      } else if (in.atEnd()) {
         return std::nullopt;
      }
   }
   if (in.take('/')) {
      prefix = in.plainNumber(128);
      if (!prefix) return std::nullopt;
   }
   if (!in.atEnd() || gap.has_value() == (words == 8)) return std::nullopt;
   if (gap && *gap < words) {
      const uint32_t tailBits = 16 * (words - *gap);
      const uint128 tail = address & ((uint128{1} << tailBits) - 1);
      const uint128 head = *gap == 0 ? 0 : (address >> tailBits) << (128 - 16 * *gap);
      address = head | tail;
   } else if (gap) {
      address = *gap == 0 ? 0 : address << (128 - 16 * *gap);
   }
   return NetworkAddress{true, static_cast<uint8_t>(prefix.value_or(128)), address};
}

} // namespace

std::optional<NetworkAddress> parseNetworkAddress(std::string_view text, bool isCidr) {
   if (text.find(':') != std::string_view::npos) return parseV6(text);
   return isCidr ? parseV4Cidr(text) : parseV4Inet(text);
}

} // namespace ouzel
