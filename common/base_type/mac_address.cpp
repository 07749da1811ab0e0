#include "common/base_type/mac_address.hpp"

#include <array>
#include <cctype>
#include <cstdio>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

void appendOctets(std::string& out, uint64_t address, int32_t count) {
   for (int32_t i = count - 1; i >= 0; --i) {
      const auto byte = static_cast<uint8_t>(address >> (8 * i));
      out.push_back("0123456789abcdef"[byte >> 4]);
      out.push_back("0123456789abcdef"[byte & 15]);
      if (i > 0) out.push_back(':');
   }
}

/// The forms that PostgreSQL reads, in its order. The last field finds what must not follow.
constexpr const char* macForms[] = {"%x:%x:%x:%x:%x:%x%1s",   "%x-%x-%x-%x-%x-%x%1s",    "%2x%2x%2x:%2x%2x%2x%1s",
                                    "%2x%2x%2x-%2x%2x%2x%1s", "%2x%2x.%2x%2x.%2x%2x%1s", "%2x%2x-%2x%2x-%2x%2x%1s",
                                    "%2x%2x%2x%2x%2x%2x%1s"};

void parseMac(void* target, std::string_view text, int32_t, Arena&) {
   const std::string terminated(text);
   std::array<unsigned, 6> octets{};
   int count = 0;
   for (const char* form : macForms) {
      char junk[2];
      // NOLINTNEXTLINE(cert-err34-c): too large octets are found below
      count = std::sscanf(terminated.c_str(), form, &octets[0], &octets[1], &octets[2], &octets[3], &octets[4],
                          &octets[5], junk);
      if (count == 6) break;
   }
   if (count != 6) throwInvalidSyntax("macaddr", text);
   int64_t address = 0;
   for (const unsigned octet : octets) {
      if (octet > 255)
         throw SqlError(sqlstate::numericValueOutOfRange,
                        "invalid octet value in \"macaddr\" value: \"" + terminated + '"');
      address = (address << 8) | octet;
   }
   putValue(target, address);
}

int32_t hexValue(char c) {
   if (c >= '0' && c <= '9') return c - '0';
   if (c >= 'a' && c <= 'f') return c - 'a' + 10;
   if (c >= 'A' && c <= 'F') return c - 'A' + 10;
   return -1;
}
bool isBlank(char c) {
   return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Pairs of digits with one kind of character between them, or with none. A last single character is not looked at,
/// as in PostgreSQL 15.
void parseMac8(void* target, std::string_view text, int32_t, Arena&) {
   const auto at = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
   size_t i = 0;
   while (isBlank(at(i)))
      ++i;
   uint64_t address = 0;
   int32_t count = 0;
   char spacer = '\0';
   while (at(i) != '\0' && at(i + 1) != '\0') {
      const int32_t high = hexValue(at(i)), low = hexValue(at(i + 1));
      if (++count > 8 || high < 0 || low < 0) throwInvalidSyntax("macaddr8", text);
      address = (address << 8) | static_cast<uint64_t>(high * 16 + low);
      i += 2;
      if (const char c = at(i); c == ':' || c == '-' || c == '.') {
         if (spacer != '\0' && spacer != c) throwInvalidSyntax("macaddr8", text);
         spacer = c;
         ++i;
      }
      if ((count == 6 || count == 8) && isBlank(at(i))) {
         while (isBlank(at(i)))
            ++i;
         if (at(i) != '\0') throwInvalidSyntax("macaddr8", text);
      }
   }
   if (count == 6)
      address = widerMac(address);
   else if (count != 8)
      throwInvalidSyntax("macaddr8", text);
   putValue(target, orderedUnsigned(address));
}

uint64_t takeOctets(WireReader& reader, int32_t count) {
   uint64_t value = 0;
   for (int32_t i = 0; i < count; ++i)
      value = (value << 8) | reader.take<uint8_t>();
   return value;
}

} // namespace

const TypeForm macaddrForm{
    oid::macaddr,
    6,
    3,
    [](std::string& out, const void* v) { appendOctets(out, static_cast<uint64_t>(valueAt<int64_t>(v)), 6); },
    parseMac,
    [](std::string& out, const void* v) {
       for (int32_t i = 5; i >= 0; --i)
          out.push_back(static_cast<char>(valueAt<int64_t>(v) >> (8 * i)));
    },
    [](void* target, std::string_view bytes, int32_t, Arena&) {
       WireReader reader(bytes);
       const uint64_t address = takeOctets(reader, 6);
       reader.finish();
       putValue(target, static_cast<int64_t>(address));
    }};
const TypeForm macaddr8Form{
    oid::macaddr8,
    8,
    3,
    [](std::string& out, const void* v) { appendOctets(out, unsignedOf(valueAt<int64_t>(v)), 8); },
    parseMac8,
    [](std::string& out, const void* v) { appendBig(out, unsignedOf(valueAt<int64_t>(v))); },
    [](void* target, std::string_view bytes, int32_t, Arena&) {
       WireReader reader(bytes);
       const uint64_t address = bytes.size() == 6 ? widerMac(takeOctets(reader, 6)) : takeOctets(reader, 8);
       reader.finish();
       putValue(target, orderedUnsigned(address));
    }};

} // namespace ouzel
