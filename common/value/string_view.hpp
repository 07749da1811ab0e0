#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/error/check.hpp"

namespace ouzel {

namespace detail {
/// Ones for the bytes of a string of up to 12 bytes.
struct InlineMask {
   uint64_t low = 0;
   uint32_t high = 0;
};
inline constexpr std::array<InlineMask, 13> inlineMasks = [] {
   std::array<InlineMask, 13> masks{};
   for (uint32_t length = 0; length < masks.size(); ++length)
      for (uint32_t byte = 0; byte < length; ++byte)
         if (byte < 8)
            masks[length].low |= uint64_t{0xff} << byte * 8;
         else
            masks[length].high |= uint32_t{0xff} << (byte - 8) * 8;
   return masks;
}();
} // namespace detail

/// A 16-byte string: length and storage class, then up to 12 bytes inline, or a 4-byte prefix and a pointer.
///
/// Unused inline bytes are zero, so equality of short strings is two word compares. Owns nothing. A permanent pointer
/// is a literal or lives in the query's arena; a transient one is valid until its producer's next batch, and a copy
/// into longer-lived memory must copy the bytes.
class StringView {
public:
   enum class Storage : uint32_t { Transient = 0, Permanent = 1 };
   static constexpr uint32_t inlineMax = 12;
   static constexpr uint32_t lengthMax = (1u << 30) - 1;

   StringView() : word0_(0), word1_(0) {}
   StringView(const char* data, uint32_t length, Storage storage = Storage::Transient) {
      DCHECK(length <= lengthMax);
      if (length <= inlineMax) {
         char bytes[16] = {};
         std::memcpy(bytes + 4, data, length);
         std::memcpy(bytes, &length, 4);
         std::memcpy(&word0_, bytes, 8);
         std::memcpy(&word1_, bytes + 8, 8);
      } else {
         uint32_t prefix;
         std::memcpy(&prefix, data, 4);
         word0_ = (static_cast<uint64_t>(prefix) << 32) | (static_cast<uint64_t>(storage) << 30) | length;
         word1_ = reinterpret_cast<uint64_t>(data);
      }
   }
   StringView(std::string_view text, Storage storage = Storage::Transient)
      : StringView(text.data(), static_cast<uint32_t>(text.size()), storage) {}

   /// The same for data with inlineMax readable bytes, however short the string is: without a branch, since lengths are
   /// hard to foresee.
   static StringView ofPadded(const char* data, uint32_t length) {
      DCHECK(length <= lengthMax);
      uint64_t low;
      uint32_t high;
      std::memcpy(&low, data, sizeof low);
      std::memcpy(&high, data + sizeof low, sizeof high);
      const detail::InlineMask& mask = detail::inlineMasks[length < inlineMax ? length : inlineMax];
      low &= mask.low;
      high &= mask.high;
      StringView view;
      view.word0_ = low << 32 | length;
      const uint64_t rest = low >> 32 | static_cast<uint64_t>(high) << 32;
      view.word1_ = length <= inlineMax ? rest : reinterpret_cast<uint64_t>(data);
      return view;
   }

   uint32_t size() const { return static_cast<uint32_t>(word0_) & lengthMax; }
   bool empty() const { return size() == 0; }
   bool isInline() const { return size() <= inlineMax; }
   Storage storage() const { return static_cast<Storage>((word0_ >> 30) & 3); }
   /// Points into this object when inline: keep the object alive and in place.
   const char* data() const {
      return isInline() ? reinterpret_cast<const char*>(this) + 4 : reinterpret_cast<const char*>(word1_);
   }
   std::string_view view() const { return {data(), size()}; }
   /// Replace the pointer of a non-inline string after its bytes moved (materialisation, spill reload).
   void rebase(const char* data, Storage storage) {
      DCHECK(!isInline());
      DCHECK(data != nullptr);
      word0_ = (word0_ & ~(uint64_t{3} << 30)) | (static_cast<uint64_t>(storage) << 30);
      word1_ = reinterpret_cast<uint64_t>(data);
   }

   bool operator==(const StringView& other) const {
      constexpr uint64_t ignoreStorage = ~(uint64_t{3} << 30);
      if ((word0_ & ignoreStorage) != (other.word0_ & ignoreStorage)) return false;
      if (isInline() || word1_ == other.word1_) return word1_ == other.word1_;
      return std::memcmp(data(), other.data(), size()) == 0;
   }
   /// Byte order, the order of collation "C".
   int compare(const StringView& other) const {
      const uint32_t a = __builtin_bswap32(prefix()), b = __builtin_bswap32(other.prefix());
      if (a != b) return a < b ? -1 : 1;
      const uint32_t common = size() < other.size() ? size() : other.size();
      const int order = std::memcmp(data(), other.data(), common);
      if (order != 0) return order;
      return size() < other.size() ? -1 : size() > other.size() ? 1 : 0;
   }
   /// The first four bytes, zero padded, in memory order.
   uint32_t prefix() const { return static_cast<uint32_t>(word0_ >> 32); }

private:
   uint64_t word0_; // length:30, storage:2, prefix:32
   uint64_t word1_; // bytes 4..11 or pointer
};
static_assert(sizeof(StringView) == 16);

} // namespace ouzel
