#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/operator/sort/range_cuts.hpp"
#include "executor/operator/sort/run_pages.hpp"
#include "executor/operator/sort/sort_spill.hpp"

// Merges of sorted runs. MergeRanges has the runs and cuts their rows into ranges of keys; a SortMerge gives the rows
// of one range. Merges of several ranges run at the same time and share the pages at their ends, so each page is read
// once.

namespace ouzel::executor {

/// Merges rows of one range, from pages and from memory. Rows with equal keys come in the order in which their inputs
/// were added. Used by one thread.
class SortMerge {
public:
   /// Keys in [lower, upper) of `order`; null: no end.
   struct Bounds {
      const CutOrder* order = nullptr;
      const CutKey* lower = nullptr;
      const CutKey* upper = nullptr;
   };
   SortMerge(const SortRowLayout& layout, RunPages& pages, const KeyPacking& packing, const Bounds& bounds);
   ~SortMerge();
   SortMerge(const SortMerge&) = delete;
   SortMerge& operator=(const SortMerge&) = delete;

   /// Called before the first next(). `span`: pages that have rows of the range; RunPages knows this merge as their
   /// user.
   void addPages(uint32_t run, PageSpan span);
   /// Rows in memory, in order, all within the range.
   void addRows(const ColumnPieces& pieces, std::span<const RowAddress> order);
   /// The next rows in order, at most rowsMax; none at the end. The rows are valid until the next call.
   std::span<const RowRef> next(uint32_t rowsMax);

private:
   /// Either pages of a run or addresses of rows in memory.
   struct Input {
      RowRef head; // the next row
      bool isExhausted = false;
      uint32_t run = 0;
      PageSpan left{0, 0};                  // pages not yet acquired
      const RunPages::Page* page = nullptr; // the last one acquired
      uint32_t rowEnd = 0;                  // of `page`: one past its last row of the range
      std::span<const RowAddress> order;    // addresses of the rows not yet given
      const ColumnPieces* pieces = nullptr; // null: pages of a run
   };
   /// The packed key of an input's next row; mostly decides without looking at the row. All bits are set past the end.
   struct Head {
      uint64_t high, low;
   };
   struct UsedPage {
      uint32_t run;
      size_t page;
   };
   void start();
   bool isBefore(uint32_t a, uint32_t b) const;
   bool isBeforeTied(uint32_t a, uint32_t b) const;
   uint32_t build(uint32_t node);
   void advance(uint32_t number);
   void setHead(uint32_t number, RowRef row);
   bool loadPage(Input& input);
   uint32_t rowsBefore(const RunPages::Page& page, const CutKey& key) const;
   void releaseRetired();

   const SortRowLayout& layout_;
   RunPages& pages_;
   const KeyPacking& packing_;
   const Bounds bounds_;
   std::vector<Input> inputs_;
   bool isStarted_ = false;
   // A loser tree: losers_[n] is the input that lost at inner node n.
   uint32_t leaves_ = 1, winner_ = 0;
   std::vector<uint32_t> losers_;
   std::vector<Head> heads_; // by leaf: the input's head
   std::vector<RowRef> out_;
   std::vector<UsedPage> retired_; // pages of rows that next() gave out
   size_t retiredBytes_ = 0;
};

/// Runs on disk and rows in memory, in ranges of keys.
///
///    addRun(), addResident() --> skip(), cut(), both optional --> start() --> open() of each range, once
///
/// One thread calls all but open(). Outlives its merges.
class MergeRanges {
public:
   MergeRanges(const SortRowLayout& layout, Reservation& memory);

   /// `run` must outlive the merges; its pages are freed as they are read. `aheadBytes`: memory for reading ahead.
   void addRun(const SpilledRun& run, io::SpillSpace& space, size_t aheadBytes);
   /// Add the rows of a sorted buffer that has its keys. The buffer must outlive the merges.
   void addResident(const SortBuffer& buffer);
   /// Leave out some of the first `rows` rows (not always the very first) without reading them. Returns their number,
   /// at most `rows`.
   uint64_t skip(uint64_t rows);
   /// Cut into ranges of about `rowsPerRange` rows; the first one has at least `firstRows`. Rows with equal first
   /// `columns` key columns are in the same range.
   void cut(uint64_t rowsPerRange, uint64_t firstRows, uint32_t columns);
   void cut(uint64_t rowsPerRange, uint64_t firstRows = 0) { cut(rowsPerRange, firstRows, UINT32_MAX); }
   /// Take the cuts back.
   void uncut() { cuts_.clear(); }
   /// The most memory of the pages of `lanes` ranges in a row, without one page of each run. A run's pages are read in
   /// their order, so the lane in the last of these ranges needs all pages of the others in memory. A range is large
   /// if many rows have one key.
   size_t bytesOfRanges(uint32_t lanes) const;
   void start();

   /// Without cut(): one range with all rows.
   uint32_t count() const { return static_cast<uint32_t>(cuts_.size()) + 1; }
   std::unique_ptr<SortMerge> open(uint32_t range);
   /// A lower bound for the rows of a range: those of pages that are certainly within it. Near the number of rows if
   /// there are many rows.
   uint64_t rowsAtLeast(uint32_t range) const;
   /// By stored column.
   const std::vector<uint8_t>& hasNulls() const { return hasNulls_; }

private:
   struct Run {
      const SpilledRun* run;
      size_t skipped = 0;         // first pages, left out
      std::vector<CutKey> firsts; // of pages that are not left out, by cutOrder_
      std::vector<uint32_t> rows;
      RunFences fences() const { return {firsts, rows}; }
   };
   void setCutOrder(uint32_t columns);
   const CutKey* lower(uint32_t range) const { return range > 0 ? &cuts_[range - 1] : nullptr; }
   const CutKey* upper(uint32_t range) const { return range < cuts_.size() ? &cuts_[range] : nullptr; }
   uint64_t residentBefore(const CutKey& key) const;
   uint64_t rowsBefore(const CutKey& key) const;

   const SortRowLayout& layout_;
   RunPages pages_;
   std::vector<Run> runs_;
   std::unique_ptr<ColumnPieces> pieces_; // of the rows in memory; null: none
   std::span<const RowAddress> order_;    // of these rows
   std::vector<uint8_t> hasNulls_;
   KeySpread spread_;
   std::optional<KeyPacking> packing_;
   std::optional<CutOrder> cutOrder_;
   std::vector<CutKey> cuts_;
};

} // namespace ouzel::executor
