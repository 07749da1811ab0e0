#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/materialize/row_page.hpp"
#include "executor/operator/sort/sort_buffer.hpp"
#include "io/spill/spill.hpp"

// Sorting what does not fit: sorted runs on disk, and their merge. A run is written as pages that hold keys and rows in
// order; the merge has a page of each run in memory and picks rows from them.

namespace ouzel::executor {

/// Sorted rows on disk. What is not read is freed with the spill space.
struct SpilledRun {
   std::vector<StoredRows> pages;
   std::vector<uint8_t> hasNulls; ///< by stored column
   uint64_t rows = 0, bytes = 0, storedBytes = 0;
   KeySpread spread;              ///< of the keys, at least
   std::vector<std::byte> fences; ///< the first key of each page, one every SortKeyLayout::stride() bytes
};

/// Rows in memory whose keys and columns are arrays: a page of a run on disk, or a batch of a SortRun.
struct RowPiece {
   const std::byte* keys = nullptr;
   uint32_t keyStride = 0;
   std::vector<const std::byte*> values; ///< by stored column
   std::vector<const ValidityWord*> validity;
   const std::byte* key(uint32_t row) const { return keys + size_t{row} * keyStride; }
};
struct RowRef {
   const RowPiece* piece = nullptr;
   uint32_t row = 0;
};

/// Copy stored column `column` of these rows to out[0...) and validity (null: the column has no NULLs). Strings keep
/// pointing where they did.
void gatherRefs(std::span<const RowRef> rows, uint32_t column, PhysicalType type, void* out, ValidityWord* validity);

/// The batches of some runs in memory as pieces.
class RunPieces {
public:
   RunPieces(std::span<const SortRun* const> runs, const SortRowLayout& layout);
   RowRef ref(RowAddress address) const {
      return {&pieces_[address.run][address.row / batchRowsMax], address.row % batchRowsMax};
   }

private:
   std::vector<std::vector<RowPiece>> pieces_; // by run
};

/// Writes a run. One thread's.
class RunWriter {
public:
   RunWriter(const SortRowLayout& layout, std::vector<uint8_t> hasNulls, io::SpillSpace& space, Reservation& memory,
             size_t pageBytes);
   /// The next rows in order; they are not needed any more when this returns. Best given about a page of them.
   void append(std::span<const RowRef> rows);
   /// As many rows as fill about a page.
   uint32_t rowsPerPage() const { return rowsPerPage_; }
   SpilledRun finish() { return std::move(run_); }

private:
   void copyKeys(std::span<const RowRef> rows);

   const SortRowLayout& layout_;
   io::SpillSpace& space_;
   const size_t pageBytes_;
   RowPage page_;
   std::vector<uint32_t> stringColumns_;
   uint32_t rowsPerPage_;
   SpilledRun run_;
};

/// Called now and then by what takes long; may throw.
using Interrupt = std::function<void()>;

/// Sort the rows of sealed runs and write the first `rowsWanted` of them.
SpilledRun spillRuns(const SortRowLayout& layout, std::span<const SortRun* const> runs, uint64_t rowsWanted,
                     io::SpillSpace& space, Reservation& memory, size_t pageBytes, const Interrupt& interrupt);

/// Merges runs on disk and rows in memory. Rows with equal keys come in the order in which their runs were added. One
/// thread's.
class SortMerge {
public:
   SortMerge(const SortRowLayout& layout, Reservation& memory);
   ~SortMerge();

   /// The pages of `run` are freed as they are read. `aheadBytes`: memory for reading ahead. Not after the first row.
   void addRun(const SpilledRun& run, io::SpillSpace& space, size_t aheadBytes);
   /// Rows in memory, sorted and with their keys; they stay there.
   void addResident(const SortBuffer& buffer);
   /// Leave out rows that are among the first `rows` ones, not always the first of these, without reading them; tells
   /// how many. Before the first row.
   uint64_t skip(uint64_t rows);
   /// The next rows in order, at most rowsMax; none at the end. They are valid until the next call.
   std::span<const RowRef> next(uint32_t rowsMax);
   const std::vector<uint8_t>& hasNulls() const { return hasNulls_; }

private:
   struct Input;
   struct Page;
   /// Of the next row of an input, as far as it usually decides. Past the end all bits are set.
   struct Head {
      uint64_t high, low;
   };
   void start();
   uint64_t rowsBefore(const SortPrefix& key) const;
   bool isBefore(uint32_t a, uint32_t b) const;
   bool isBeforeTied(uint32_t a, uint32_t b) const;
   uint32_t build(uint32_t node);
   void advance(uint32_t number);
   void setHead(uint32_t number, RowRef row);
   bool loadPage(Input& input);

   const SortRowLayout& layout_;
   Reservation& memory_;
   std::vector<PhysicalType> types_;
   std::vector<std::unique_ptr<Input>> inputs_;
   std::vector<uint8_t> hasNulls_;
   KeySpread spread_;
   std::optional<KeyPacking> packing_; // once all inputs are known
   bool isStarted_ = false;
   // A loser tree: inner node n keeps the input that lost there.
   uint32_t leaves_ = 1, winner_ = 0;
   std::vector<uint32_t> losers_;
   std::vector<Head> heads_; // of leaves
   std::vector<RowRef> out_;
   std::vector<std::unique_ptr<Page>> retired_, free_; // pages that were given out; pages to be used again
   size_t retiredBytes_ = 0, aheadBytes_ = 0;
};

/// How many runs to merge at once.
struct MergePlan {
   uint32_t fanIn = 2;
   uint32_t passes = 0; ///< over all rows, with the one whose rows are not written any more
};
/// The cheapest way to merge `runs` runs of `pages` pages together with `memoryPages` pages of memory (REMOP, external
/// merge sort): the least D + tau * C, D being the pages that are moved and C how often the device is asked.
/// The memory of a merge that writes is split between reading and writing as sqrt(fanIn) to 1. `fanInMax`: two pages
/// for each run must fit.
MergePlan planMerge(uint32_t runs, double pages, double memoryPages, double tau, uint32_t fanInMax);

/// Which runs a merging pass puts together: [from, end) of a list of runs, each becoming one. Just enough of them, and
/// the shortest at first, that `fanIn` are left; several passes when it must be.
struct MergeGroup {
   uint32_t from, end;
};
std::vector<MergeGroup> mergeGroups(uint32_t runs, uint32_t fanIn, uint32_t tasks);

} // namespace ouzel::executor
