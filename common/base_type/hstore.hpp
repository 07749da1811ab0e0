#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/type_form.hpp"

// The type hstore of the extension of that name: a map from texts to texts or NULLs. Its bytes:
//
//   what                     size
//   keys and values          each key followed by its value, without gaps; a NULL has no bytes
//   0                        1; no text has a zero byte
//   number of pairs          4
//   per key and per value    4 each: where its bytes end, shifted left by one; the lowest bit says NULL
//
// A map without pairs has no bytes at all. Pairs lie in the order of their keys' lengths, then of their keys' bytes.
// Numbers are big-endian. So the order of the bytes is that of hstore_cmp(), which compares all texts at once, then
// their size, the number of pairs, and the ends one by one.

namespace ouzel {

namespace oid {
inline constexpr Oid hstore = 9202, hstoreArray = 9203;
} // namespace oid

inline constexpr int32_t hstorePairsMax = 0x3FFFFFFF / 40; ///< PostgreSQL's MaxAllocSize / sizeof(Pairs)

/// A pair to store; no value: NULL.
struct HstorePair {
   std::string_view key;
   std::optional<std::string_view> value;
};

/// -1, 0 or 1 by the order in which keys are stored.
int compareHstoreKeys(std::string_view a, std::string_view b);

/// A map read in place; the bytes outlive it.
class HstoreView {
public:
   explicit HstoreView(std::string_view bytes);

   uint32_t size() const { return size_; }
   std::string_view key(uint32_t i) const { return text(2 * i); }
   std::optional<std::string_view> value(uint32_t i) const;
   HstorePair pair(uint32_t i) const { return {key(i), value(i)}; }
   std::vector<HstorePair> pairs() const;
   /// Where the key is; O(log size()).
   std::optional<uint32_t> find(std::string_view key) const;

private:
   uint32_t entry(uint32_t i) const;
   std::string_view text(uint32_t i) const;

   std::string_view bytes_;
   uint32_t size_ = 0;
   size_t entries_ = 0; ///< where the ends stand
};

/// Sorts the pairs and drops all but the first of equal keys.
void sortHstorePairs(std::vector<HstorePair>& pairs);
/// The bytes of a map. REQUIRES: sorted, no key twice.
std::string storeHstore(const std::vector<HstorePair>& pairs);
/// The map of pairs in any order, of which the first of equal keys stays.
std::string makeHstore(std::vector<HstorePair> pairs);
/// Throws 54000 for more pairs than a map may have.
void requireHstoreSize(int64_t pairs);

extern const TypeForm hstoreForm;

} // namespace ouzel
