#pragma once
#include <cstdint>
#include <string_view>

#include "common/base_type/type_form.hpp"
#include "common/memory/arena.hpp"
#include "common/value/string_view.hpp"

// bit and varbit: bit strings of any length. PostgreSQL orders them bit by bit, and a string before those that begin
// with it. Bytes with the same order:
//
//   group, 9 bytes   64 bits, the first in the highest bit of the first byte; zeros where the last group has fewer
//                    the number of bits of the last group, 1..64; 65 if another group follows
//
// The empty string has no group. A group that goes on sorts behind the same bits at an end.

namespace ouzel {

inline constexpr uint32_t bitGroupBits = 64, bitGroupBytes = 9;
inline constexpr int32_t bitLengthMax = INT32_MAX - 7;

/// A value longer than 1 GB.
[[noreturn]] void throwTooManyBits();

/// Reads the bytes of a bit string.
class BitView {
public:
   explicit BitView(std::string_view bytes) : bytes_(bytes) {}
   /// Number of bits.
   uint32_t size() const {
      if (bytes_.empty()) return 0;
      return (groupCount() - 1) * bitGroupBits + static_cast<unsigned char>(bytes_.back());
   }
   uint32_t groupCount() const { return static_cast<uint32_t>(bytes_.size()) / bitGroupBytes; }
   /// 64 bits, the first bit highest; zeros behind the end.
   uint64_t group(uint32_t index) const {
      if (index >= groupCount()) return 0;
      uint64_t bits;
      std::memcpy(&bits, bytes_.data() + size_t{index} * bitGroupBytes, sizeof bits);
      return __builtin_bswap64(bits);
   }
   /// The 64 bits that begin at a bit; zeros behind the end.
   uint64_t bitsFrom(uint64_t bit) const {
      const auto index = static_cast<uint32_t>(bit / bitGroupBits);
      const uint32_t shift = bit % bitGroupBits;
      return shift == 0 ? group(index) : (group(index) << shift) | (group(index + 1) >> (bitGroupBits - shift));
   }
   bool bit(uint32_t index) const {
      return ((group(index / bitGroupBits) >> (bitGroupBits - 1 - index % bitGroupBits)) & 1) != 0;
   }

private:
   std::string_view bytes_;
};

/// Writes the bits of a group to a string's bytes.
inline void putBitGroup(char* bytes, uint32_t index, uint64_t bits) {
   bits = __builtin_bswap64(bits);
   std::memcpy(bytes + size_t{index} * bitGroupBytes, &bits, sizeof bits);
}

/// Makes a bit string of a known length; `group(i)` gives its i-th 64 bits, of which those behind the end are dropped.
template <typename Group>
StringView makeBits(uint32_t bitCount, Arena& arena, Group&& group) {
   const uint32_t groups = static_cast<uint32_t>((uint64_t{bitCount} + bitGroupBits - 1) / bitGroupBits);
   const size_t size = size_t{groups} * bitGroupBytes;
   if (size > StringView::lengthMax) throwTooManyBits();
   char inlineBytes[bitGroupBytes];
   char* bytes = groups <= 1 ? inlineBytes : static_cast<char*>(arena.allocate(size, 1));
   for (uint32_t i = 0; i < groups; ++i) {
      const uint32_t rest = bitCount - i * bitGroupBits;
      uint64_t bits = group(i);
      if (rest < bitGroupBits) bits &= ~uint64_t{0} << (bitGroupBits - rest);
      putBitGroup(bytes, i, bits);
      bytes[size_t{i} * bitGroupBytes + 8] = static_cast<char>(rest <= bitGroupBits ? rest : bitGroupBits + 1);
   }
   return StringView(bytes, static_cast<uint32_t>(size));
}

/// The text of B'...' or X'...' as the scanner gives it, "b101" or "x1f", and plain digits are bits.
StringView parseBits(std::string_view text, Arena& arena);
/// bit(n): an explicit cast cuts or appends zeros, an assignment throws 22026. varbit(n): cuts, or throws 22001.
StringView applyBitTypmod(StringView value, int32_t typmod, bool isExplicit, Arena& arena);
StringView applyVarbitTypmod(StringView value, int32_t typmod, bool isExplicit, Arena& arena);

extern const TypeForm bitForm, varbitForm;

} // namespace ouzel
