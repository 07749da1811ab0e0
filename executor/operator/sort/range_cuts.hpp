#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/operator/sort/sort_spill.hpp"

// Where the rows of several sorted runs are cut into ranges of keys. Only the first key of each page is known, so
// ranges have about as many rows as asked for. Rows that CutOrder finds equal are in the same range.

namespace ouzel::executor {

/// The part of a row's key that cuts look at: its packed first bytes, and the first bytes of a text that is longer than
/// its part of the key.
struct CutKey {
   static constexpr size_t textBytesMax = 256;
   SortPrefix prefix;
   std::string text; ///< empty where the prefix decides
};

/// An order of keys that never contradicts the order of the rows, but may find different keys equal. Immutable.
class CutOrder {
public:
   /// Of prefixes alone.
   CutOrder() = default;
   /// `columns`: only the first key columns count.
   CutOrder(const SortRowLayout& layout, const KeySpread& spread, uint32_t columns);

   /// The stored column whose text counts where prefixes are equal; UINT32_MAX: none. It is the same in all orders of a
   /// layout that have one.
   static uint32_t textColumnOf(const SortRowLayout& layout);
   /// Key bytes, and the text of textColumnOf().
   CutKey keyOf(const std::byte* key, std::string_view text) const;
   bool isBefore(const CutKey& a, const CutKey& b) const {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      return isTextBefore(a.text, b.text);
   }
   bool isBefore(const RowRef& row, const CutKey& key) const;

private:
   bool isTextBefore(std::string_view a, std::string_view b) const { return descending_ ? b < a : a < b; }

   std::optional<KeyPacking> packing_;
   uint32_t textColumn_ = UINT32_MAX;
   SortKeyLayout::Column text_; ///< of the key
   bool descending_ = false;
};

/// The pages of one run: the key of each page's first row, in ascending order, and each page's number of rows.
struct RunFences {
   std::span<const CutKey> firsts;
   std::span<const uint32_t> rows;
   /// The number of pages whose first row comes before `key`.
   size_t pagesBefore(const CutOrder& order, const CutKey& key) const;
};

/// Where ranges begin, ascending: range i has the keys in [cut i - 1, cut i). Range 0 begins with the first row, and
/// the last range ends with the last row. Each range but the last has about `rowsPerRange` rows; the first one has at
/// least `firstRows` rows, too.
std::vector<CutKey> chooseCuts(const CutOrder& order, std::span<const RunFences> runs, uint64_t rowsPerRange,
                               uint64_t firstRows);

/// Pages [from, end) of a run that can have rows of a range. Pages of adjacent ranges overlap by at most one. `lower`
/// and `upper` are the cuts around the range; null: the range has no such end.
struct PageSpan {
   size_t from, end;
};
PageSpan pagesOfRange(const CutOrder& order, const RunFences& run, const CutKey* lower, const CutKey* upper);

} // namespace ouzel::executor
