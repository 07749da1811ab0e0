#include "common/base_type/bit_string.hpp"

#include <algorithm>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

/// One character of a text, which may have several bytes.
std::string characterAt(std::string_view text, size_t at) {
   size_t end = at + 1;
   while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      ++end;
   return std::string(text.substr(at, end - at));
}

int32_t digitValue(char c, bool isHex) {
   if (c >= '0' && c <= (isHex ? '9' : '1')) return c - '0';
   if (isHex && c >= 'a' && c <= 'f') return c - 'a' + 10;
   if (isHex && c >= 'A' && c <= 'F') return c - 'A' + 10;
   return -1;
}

void append(std::string& out, const void* value) {
   const auto string = valueAt<StringView>(value);
   const BitView bits(string.view());
   const uint32_t size = bits.size();
   const size_t start = out.size();
   out.resize(start + size);
   char* target = out.data() + start;
   for (uint32_t i = 0; i < size; i += bitGroupBits) {
      const uint64_t group = bits.group(i / bitGroupBits);
      const uint32_t count = std::min(size - i, bitGroupBits);
      for (uint32_t k = 0; k < count; ++k)
         *target++ = static_cast<char>('0' + ((group >> (bitGroupBits - 1 - k)) & 1));
   }
}

void appendBinary(std::string& out, const void* value) {
   const auto string = valueAt<StringView>(value);
   const BitView bits(string.view());
   appendBig(out, static_cast<int32_t>(bits.size()));
   const uint32_t bytes = (bits.size() + 7) / 8;
   for (uint32_t i = 0; i < bytes; ++i)
      out.push_back(static_cast<char>(bits.group(i / 8) >> (56 - 8 * (i % 8))));
}

StringView readBits(std::string_view bytes, Arena& arena) {
   WireReader reader(bytes);
   const auto size = reader.take<int32_t>();
   if (size < 0 || size > bitLengthMax)
      throw SqlError(sqlstate::invalidBinaryRepresentation, "invalid length in external bit string");
   const std::string_view data = reader.takeBytes((static_cast<size_t>(size) + 7) / 8);
   reader.finish();
   return makeBits(static_cast<uint32_t>(size), arena, [&](uint32_t group) {
      uint64_t bits = 0;
      const std::string_view part = data.substr(size_t{group} * 8, 8);
      for (size_t i = 0; i < part.size(); ++i)
         bits |= static_cast<uint64_t>(static_cast<unsigned char>(part[i])) << (56 - 8 * i);
      return bits;
   });
}

StringView resized(StringView value, uint32_t size, Arena& arena) {
   const BitView bits(value.view());
   return makeBits(size, arena, [&](uint32_t group) { return bits.group(group); });
}

int32_t lengthTypmod(std::span<const int32_t> values, const std::string& name) {
   constexpr int32_t max = 83886080;
   if (values.size() != 1) throw SqlError(sqlstate::invalidParameterValue, "invalid type modifier");
   if (values[0] < 1)
      throw SqlError(sqlstate::invalidParameterValue, "length for type " + name + " must be at least 1");
   if (values[0] > max)
      throw SqlError(sqlstate::invalidParameterValue,
                     "length for type " + name + " cannot exceed " + std::to_string(max));
   return values[0];
}

} // namespace

void throwTooManyBits() {
   throw SqlError(sqlstate::programLimitExceeded,
                  "bit string length exceeds the maximum allowed (" + std::to_string(bitLengthMax) + ")");
}

StringView parseBits(std::string_view text, Arena& arena) {
   bool isHex = false;
   if (!text.empty() && (text[0] == 'b' || text[0] == 'B' || text[0] == 'x' || text[0] == 'X')) {
      isHex = text[0] == 'x' || text[0] == 'X';
      text.remove_prefix(1);
   }
   if (isHex && text.size() > static_cast<size_t>(bitLengthMax) / 4) throwTooManyBits();
   for (size_t i = 0; i < text.size(); ++i)
      if (digitValue(text[i], isHex) < 0)
         throw SqlError(sqlstate::invalidTextRepresentation, '"' + characterAt(text, i) + "\" is not a valid " +
                                                                 (isHex ? "hexadecimal" : "binary") + " digit");
   const uint32_t width = isHex ? 4 : 1, digitsPerGroup = bitGroupBits / width;
   return makeBits(static_cast<uint32_t>(text.size()) * width, arena, [&](uint32_t group) {
      uint64_t bits = 0;
      const std::string_view part = text.substr(size_t{group} * digitsPerGroup, digitsPerGroup);
      for (size_t i = 0; i < part.size(); ++i)
         bits |= static_cast<uint64_t>(digitValue(part[i], isHex)) << (bitGroupBits - width * (i + 1));
      return bits;
   });
}

StringView applyBitTypmod(StringView value, int32_t typmod, bool isExplicit, Arena& arena) {
   const uint32_t size = BitView(value.view()).size();
   if (typmod <= 0 || size == static_cast<uint32_t>(typmod)) return value;
   if (typmod > bitLengthMax) throwTooManyBits();
   if (!isExplicit)
      throw SqlError(sqlstate::stringDataLengthMismatch, "bit string length " + std::to_string(size) +
                                                             " does not match type bit(" + std::to_string(typmod) +
                                                             ")");
   return resized(value, static_cast<uint32_t>(typmod), arena);
}

StringView applyVarbitTypmod(StringView value, int32_t typmod, bool isExplicit, Arena& arena) {
   if (typmod <= 0 || BitView(value.view()).size() <= static_cast<uint32_t>(typmod)) return value;
   if (!isExplicit)
      throw SqlError(sqlstate::stringDataRightTruncation,
                     "bit string too long for type bit varying(" + std::to_string(typmod) + ")");
   return resized(value, static_cast<uint32_t>(typmod), arena);
}

namespace {

template <StringView (*limit)(StringView, int32_t, bool, Arena&)>
void parse(void* target, std::string_view text, int32_t typmod, Arena& arena) {
   putValue(target, limit(parseBits(text, arena), typmod, false, arena));
}
template <StringView (*limit)(StringView, int32_t, bool, Arena&)>
void parseBinary(void* target, std::string_view bytes, int32_t typmod, Arena& arena) {
   putValue(target, limit(readBits(bytes, arena), typmod, false, arena));
}

} // namespace

const TypeForm bitForm{oid::bit,
                       -1,
                       8,
                       append,
                       parse<applyBitTypmod>,
                       appendBinary,
                       parseBinary<applyBitTypmod>,
                       applyBitTypmod,
                       [](std::span<const int32_t> values) { return lengthTypmod(values, "bit"); }};
const TypeForm varbitForm{oid::varbit,
                          -1,
                          8,
                          append,
                          parse<applyVarbitTypmod>,
                          appendBinary,
                          parseBinary<applyVarbitTypmod>,
                          applyVarbitTypmod,
                          [](std::span<const int32_t> values) { return lengthTypmod(values, "varbit"); }};

} // namespace ouzel
