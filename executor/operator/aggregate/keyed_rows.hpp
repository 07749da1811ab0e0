#pragma once
#include <span>
#include <vector>

#include "executor/materialize/key_hash.hpp"
#include "executor/materialize/row_batch.hpp"
#include "executor/operator/aggregate/aggregate_feed.hpp"

namespace ouzel::executor {

/// The types of a layout's columns.
inline std::vector<PhysicalType> typesOf(const RowLayout& layout) {
   std::vector<PhysicalType> types;
   for (uint32_t column = 0; column < layout.columnCount(); ++column)
      types.push_back(layout.type(column));
   return types;
}

/// Gathers up to batchRowsMax stored rows at a time, whose first columns are the keys of groups, and finds the groups.
/// Without a function `find` the groups are not looked for. With `ignoresValues` the other columns are NULL where they
/// should be, and have any value elsewhere.
class KeyedRows {
public:
   KeyedRows(QueryContext& context, const RowLayout& layout, uint32_t keyCount, const FindGroups& find,
             bool ignoresValues = false)
      : context_(context), layout_(layout), keyCount_(keyCount), ignoresValues_(ignoresValues), find_(find),
        space_(typesOf(layout)), columns_(layout.columnCount()) {}

   void gather(std::span<std::byte* const> rows) {
      const auto count = static_cast<uint32_t>(rows.size());
      for (uint32_t column = 0; column < layout_.columnCount(); ++column)
         columns_[column] = column >= keyCount_ && ignoresValues_ && !layout_.mayHaveNulls(column)
                                ? anyVector(layout_.type(column))
                                : space_.gather(column, layout_, column, rows.data(), count);
      if (!find_) return; // there is one group
      live_.bind(columns_.data(), keyCount_, Selection::dense(count));
      hashKeys(live_.data(), keyCount_, count, context_.settings().zeroHashes, hashes_);
      find_(live_.data(), hashes_, count, groups_);
   }
   const std::vector<Vector>& columns() const { return columns_; }
   std::byte** groups() { return groups_; }

private:
   QueryContext& context_;
   const RowLayout& layout_;
   const uint32_t keyCount_;
   const bool ignoresValues_;
   const FindGroups& find_;
   RowBatch space_;
   std::vector<Vector> columns_;
   LiveColumns live_;
   uint64_t hashes_[batchRowsMax];
   std::byte* groups_[batchRowsMax];
};

} // namespace ouzel::executor
