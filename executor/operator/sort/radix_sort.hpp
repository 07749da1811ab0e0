#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

// Sorts entries by keys of 8 or 16 bytes, read as numbers. Counting passes run over the highest bits in which keys
// differ; there are as many passes as separate the entries if keys are spread evenly. Entries that are still alike are
// then sorted by the bits below. Stable.

namespace ouzel::executor {

/// A row's address with 8 bytes of its key.
template <typename Address>
struct NarrowEntry {
   static constexpr uint32_t words = 1;
   uint64_t key[1];
   Address address;
};
/// A row's address with 16 bytes of its key.
template <typename Address>
struct WideEntry {
   static constexpr uint32_t words = 2;
   uint64_t key[2];
   Address address;
};

template <typename Entry>
inline bool keyBefore(const Entry& a, const Entry& b) {
   if constexpr (Entry::words == 1) return a.key[0] < b.key[0];
   return a.key[0] != b.key[0] ? a.key[0] < b.key[0] : a.key[1] < b.key[1];
}

template <typename Entry>
inline bool sameKey(const Entry& a, const Entry& b) {
   if constexpr (Entry::words == 1) return a.key[0] == b.key[0];
   return a.key[0] == b.key[0] && a.key[1] == b.key[1];
}

template <typename Entry>
void insertionSort(Entry* entries, size_t count) {
   for (size_t i = 1; i < count; ++i) {
      if (!keyBefore(entries[i], entries[i - 1])) continue;
      const Entry entry = entries[i];
      size_t to = i;
      do {
         entries[to] = entries[to - 1];
         --to;
      } while (to > 0 && keyBefore(entry, entries[to - 1]));
      entries[to] = entry;
   }
}

/// `scratch` has room for `count` entries. The words of the keys before `word` are equal in all entries.
template <typename Entry>
void radixSort(Entry* entries, Entry* scratch, size_t count, uint32_t word = 0) {
   constexpr size_t fewEntries = 24;
   constexpr uint32_t digitBits = 8, digits = 1 << digitBits, passesMax = 8;
   if (count <= fewEntries) return insertionSort(entries, count);
   uint64_t differing = 0;
   for (; word < Entry::words && differing == 0; ++word) {
      const uint64_t first = entries[0].key[word];
      for (size_t i = 1; i < count; ++i)
         differing |= entries[i].key[word] ^ first;
   }
   if (differing == 0) return;
   --word;
   const auto top = static_cast<uint32_t>(std::bit_width(differing));
   const uint32_t wanted = (static_cast<uint32_t>(std::bit_width(count)) + 2 * digitBits - 1) / digitBits;
   const uint32_t passes = std::min({wanted, (top + digitBits - 1) / digitBits, passesMax});
   const uint32_t low = top > passes * digitBits ? top - passes * digitBits : 0; // lower bits: the recursive calls

   uint32_t counts[passesMax][digits];
   std::memset(counts, 0, passes * sizeof counts[0]);
   for (size_t i = 0; i < count; ++i) {
      const uint64_t key = entries[i].key[word] >> low;
      for (uint32_t pass = 0; pass < passes; ++pass)
         ++counts[pass][key >> (pass * digitBits) & (digits - 1)];
   }
   Entry *from = entries, *to = scratch;
   for (uint32_t pass = 0; pass < passes; ++pass) {
      uint32_t* at = counts[pass];
      const uint32_t shift = low + pass * digitBits;
      if (at[from[0].key[word] >> shift & (digits - 1)] == count) continue; // all entries have the same digit
      for (uint32_t digit = 0, sum = 0; digit < digits; ++digit)
         sum += std::exchange(at[digit], sum);
      for (size_t i = 0; i < count; ++i)
         to[at[from[i].key[word] >> shift & (digits - 1)]++] = from[i];
      std::swap(from, to);
   }
   if (from != entries) std::memcpy(static_cast<void*>(entries), from, count * sizeof(Entry));
   if (low == 0 && word + 1 == Entry::words) return;
   for (size_t begin = 0; begin < count;) {
      const uint64_t key = entries[begin].key[word] >> low;
      size_t end = begin + 1;
      while (end < count && entries[end].key[word] >> low == key)
         ++end;
      if (end - begin > 1) radixSort(entries + begin, scratch, end - begin, word);
      begin = end;
   }
}

} // namespace ouzel::executor
