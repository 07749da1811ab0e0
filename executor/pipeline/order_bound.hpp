#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

namespace ouzel::executor {

/// How far ORDER BY ... LIMIT still wants rows of a scan or an aggregation below it, by the first key, an integer
/// column: each worker of the sort that has kept as many rows as are wanted says what the last of them has. The scan
/// reads the row groups with the first keys first, and leaves out what lies behind the bound; the aggregation leaves
/// out such groups before it computes their other columns. With `tiesCount` rows whose first key is that of the last
/// wanted row are wanted, too, since later keys decide. Thread-safe.
class OrderBound {
public:
   OrderBound(bool descending, bool nullsComeFirst, bool ties)
      : isDescending(descending), nullsFirst(nullsComeFirst), tiesCount(ties) {}

   const bool isDescending, nullsFirst, tiesCount;

   /// Before the sort begins.
   void reset() { rank_.store(INT64_MAX, std::memory_order_relaxed); }
   void tighten(int64_t value) {
      int64_t rank = isDescending ? ~value : value;
      if (!tiesCount && rank != INT64_MIN) --rank;
      int64_t seen = rank_.load(std::memory_order_relaxed);
      while (rank < seen && !rank_.compare_exchange_weak(seen, rank, std::memory_order_relaxed)) {
      }
   }
   /// Empty: all rows are wanted.
   std::optional<int64_t> value() const {
      const int64_t rank = rank_.load(std::memory_order_relaxed);
      if (rank == INT64_MAX) return std::nullopt;
      return isDescending ? ~rank : rank;
   }

private:
   std::atomic<int64_t> rank_{INT64_MAX}; ///< a smaller one comes first
};

} // namespace ouzel::executor
