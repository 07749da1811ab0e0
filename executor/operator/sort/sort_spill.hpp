#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/materialize/column_page.hpp"
#include "executor/operator/sort/sort_buffer.hpp"
#include "io/spill/spill.hpp"

// Sorted runs on disk, for sorts that do not fit into memory, and the plan of their merges. A run is written as pages
// with keys and rows in order; sort_merge.hpp reads them.

namespace ouzel::executor {

/// A run on disk: sorted rows. Pages that are never read are freed with the spill space.
struct SpilledRun {
   std::vector<SpilledColumnPage> pages;
   std::vector<uint8_t> hasNulls; ///< by stored column
   uint64_t rows = 0, bytes = 0, storedBytes = 0;
   KeySpread spread;              ///< of the keys; may have further bits
   std::vector<std::byte> fences; ///< the first key of each page, one every SortKeyLayout::stride() bytes
   /// By page, if CutOrder::textColumnOf() names a column: the first bytes of the first row's text, if its key has not
   /// all of it.
   std::vector<std::string> fenceTexts;
};

/// Rows in memory whose keys and columns are arrays: a loaded page of a run, or a batch of a SortRun. Does not own the
/// rows.
struct ColumnPiece {
   const std::byte* keys = nullptr;
   uint32_t keyStride = 0;
   std::vector<const std::byte*> values; ///< by stored column
   std::vector<const ValidityWord*> validity;
   const std::byte* key(uint32_t row) const { return keys + size_t{row} * keyStride; }
};
struct RowRef {
   const ColumnPiece* piece = nullptr;
   uint32_t row = 0;
};

/// Copy stored column `column` of these rows to out[0...) and validity (null: the column has no NULLs). Strings are not
/// copied: the views point to the same bytes as before.
void gatherRefs(std::span<const RowRef> rows, uint32_t column, PhysicalType type, void* out, ValidityWord* validity);

/// The batches of runs in memory as pieces.
class ColumnPieces {
public:
   ColumnPieces(std::span<const SortRun* const> runs, const SortRowLayout& layout);
   RowRef ref(RowAddress address) const {
      return {&pieces_[address.run][address.row / batchRowsMax], address.row % batchRowsMax};
   }

private:
   std::vector<std::vector<ColumnPiece>> pieces_; // by run
};

/// Writes a run. Used by one thread.
class RunWriter {
public:
   RunWriter(const SortRowLayout& layout, std::vector<uint8_t> hasNulls, io::SpillSpace& space, Reservation& memory,
             size_t pageBytes);
   /// Write the next rows in order; the rows may be freed afterwards. Works best with about rowsPerPage() rows per
   /// call.
   void append(std::span<const RowRef> rows);
   /// The number of rows that fill about a page.
   uint32_t rowsPerPage() const { return rowsPerPage_; }
   SpilledRun finish() { return std::move(run_); }

private:
   void copyKeys(std::span<const RowRef> rows);

   const SortRowLayout& layout_;
   io::SpillSpace& space_;
   const size_t pageBytes_;
   ColumnPage page_;
   std::vector<uint32_t> stringColumns_;
   const uint32_t textColumn_; // CutOrder::textColumnOf()
   uint32_t rowsPerPage_;
   SpilledRun run_;
};

/// Called now and then by functions that take long; may throw to stop them.
using Interrupt = std::function<void()>;

/// Sort the rows of sealed runs and write the first `rowsWanted` of them.
SpilledRun spillRuns(const SortRowLayout& layout, std::span<const SortRun* const> runs, uint64_t rowsWanted,
                     io::SpillSpace& space, Reservation& memory, size_t pageBytes, const Interrupt& interrupt);

/// Runs [from, end) of a list, which a merging pass merges into one run. mergeGroups() chooses the shortest runs, and
/// no more than needed, so that `fanIn` runs remain, if one pass can do that. There are about `tasks` groups.
struct MergeGroup {
   uint32_t from, end;
};
std::vector<MergeGroup> mergeGroups(uint32_t runs, uint32_t fanIn, uint32_t tasks);

} // namespace ouzel::executor
