#include "executor/function/text/text_search.hpp"

#include <cstdint>
#include <cstring>
#include <immintrin.h>

namespace ouzel::executor {

namespace {

/// Compares the needle's first and last byte with a block of positions at once. Only positions where both match are
/// compared in full.
template <typename Block>
size_t findWide(const char* text, size_t positions, const char* needle, size_t size) {
   const auto first = Block::broadcast(needle[0]), last = Block::broadcast(needle[size - 1]);
   size_t at = 0;
   for (;;) {
      uint32_t mask = Block::matches(text + at, first) & Block::matches(text + at + size - 1, last);
      while (mask != 0) {
         const size_t candidate = at + static_cast<uint32_t>(__builtin_ctz(mask));
         if (std::memcmp(text + candidate, needle, size) == 0) return candidate;
         mask &= mask - 1;
      }
      if (at + Block::width >= positions) return std::string_view::npos;
      // The last block overlaps the block before, so that no load reads past the end.
      at = at + 2 * Block::width <= positions ? at + Block::width : positions - Block::width;
   }
}

struct Block16 {
   static constexpr size_t width = 16;
   static __m128i broadcast(char c) { return _mm_set1_epi8(c); }
   static uint32_t matches(const char* p, __m128i c) {
      return static_cast<uint32_t>(
          _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), c)));
   }
};
struct Block32 {
   static constexpr size_t width = 32;
   static __m256i broadcast(char c) { return _mm256_set1_epi8(c); }
   static uint32_t matches(const char* p, __m256i c) {
      return static_cast<uint32_t>(
          _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), c)));
   }
};

} // namespace

size_t findBytes(std::string_view haystack, std::string_view needle) {
   if (needle.empty()) return 0;
   if (needle.size() > haystack.size()) return std::string_view::npos;
   const size_t positions = haystack.size() - needle.size() + 1;
   if (positions >= 32) return findWide<Block32>(haystack.data(), positions, needle.data(), needle.size());
   if (positions >= 16) return findWide<Block16>(haystack.data(), positions, needle.data(), needle.size());
   for (size_t at = 0; at < positions; ++at)
      if (haystack[at] == needle[0] && std::memcmp(haystack.data() + at, needle.data(), needle.size()) == 0) return at;
   return std::string_view::npos;
}

} // namespace ouzel::executor
