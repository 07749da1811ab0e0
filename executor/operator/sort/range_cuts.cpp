#include "executor/operator/sort/range_cuts.hpp"

#include <algorithm>
#include <cstring>

namespace ouzel::executor {

uint32_t CutOrder::textColumnOf(const SortRowLayout& layout) {
   for (size_t i = 0; i < layout.key.columns().size(); ++i) {
      const SortKeyLayout::Column& column = layout.key.columns()[i];
      if (!column.isExact) return column.type == PhysicalType::String ? layout.keyColumns[i] : UINT32_MAX;
   }
   return UINT32_MAX;
}

CutOrder::CutOrder(const SortRowLayout& layout, const KeySpread& spread, uint32_t columns) {
   const auto& keys = layout.key.columns();
   const bool isPart = columns < keys.size();
   packing_.emplace(layout.key, spread, !isPart ? UINT32_MAX : columns > 0 ? keys[columns - 1].end : 0);
   // The text counts if the prefix has all bits before it, and itself all that the key has of it.
   if (!packing_->isWhole() || layout.key.isExact()) return;
   for (uint32_t i = 0; i < keys.size() && i < columns; ++i)
      if (!keys[i].isExact) {
         textColumn_ = textColumnOf(layout);
         text_ = keys[i];
         descending_ = keys[i].descending;
         return;
      }
}

CutKey CutOrder::keyOf(const std::byte* key, std::string_view text) const {
   CutKey out{packing_->prefix(key), {}};
   if (textColumn_ != UINT32_MAX && SortKeyLayout::isUnresolved(text_, key))
      out.text = text.substr(0, CutKey::textBytesMax);
   return out;
}

bool CutOrder::isBefore(const RowRef& row, const CutKey& key) const {
   const std::byte* bytes = row.piece->key(row.row);
   const SortPrefix prefix = packing_->prefix(bytes);
   if (prefix != key.prefix) return prefix < key.prefix;
   if (key.text.empty()) return false;
   StringView text;
   std::memcpy(&text, row.piece->values[textColumn_] + row.row * sizeof text, sizeof text);
   return isTextBefore(text.view().substr(0, CutKey::textBytesMax), key.text);
}

size_t RunFences::pagesBefore(const CutOrder& order, const CutKey& key) const {
   const auto end = std::partition_point(firsts.begin(), firsts.end(),
                                         [&](const CutKey& first) { return order.isBefore(first, key); });
   return static_cast<size_t>(end - firsts.begin());
}

std::vector<CutKey> chooseCuts(const CutOrder& order, std::span<const RunFences> runs, uint64_t rowsPerRange,
                               uint64_t firstRows) {
   struct Page {
      const CutKey* first;
      uint32_t run, rows;
   };
   std::vector<Page> pages;
   for (uint32_t run = 0; run < runs.size(); ++run)
      for (size_t page = 0; page < runs[run].firsts.size(); ++page)
         pages.push_back({&runs[run].firsts[page], run, runs[run].rows[page]});
   std::sort(pages.begin(), pages.end(),
             [&](const Page& a, const Page& b) { return order.isBefore(*a.first, *b.first); });

   std::vector<CutKey> cuts;
   std::vector<uint64_t> begun(runs.size(), 0); // rows of each run's last page so far: they may reach past the cut
   uint64_t rows = 0;                           // of pages that begin in this range
   uint64_t certain = 0;                        // rows that come before the current page's first key
   for (size_t i = 0; i < pages.size(); ++i) {
      const Page& page = pages[i];
      const bool isNewKey = i > 0 && order.isBefore(*pages[i - 1].first, *page.first);
      if (isNewKey && rows >= rowsPerRange && (!cuts.empty() || certain >= firstRows)) {
         cuts.push_back(*page.first);
         rows = 0;
      }
      rows += page.rows;
      certain += begun[page.run];
      begun[page.run] = page.rows;
   }
   return cuts;
}

PageSpan pagesOfRange(const CutOrder& order, const RunFences& run, const CutKey* lower, const CutKey* upper) {
   const size_t end = upper ? run.pagesBefore(order, *upper) : run.firsts.size();
   const size_t before = lower ? run.pagesBefore(order, *lower) : 0;
   // The last page that begins before the range may have rows of the range.
   return {std::min(before > 0 ? before - 1 : 0, end), end};
}

} // namespace ouzel::executor
