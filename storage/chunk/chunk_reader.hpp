#pragma once
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "io/object_store/read_tally.hpp"
#include "storage/block/block.hpp"
#include "storage/block/page_decoder.hpp"
#include "storage/block/value_range.hpp"

namespace ouzel::storage {

/// Which rows a ChunkReader reads, and where their pages come from.
struct ChunkPlace {
   static constexpr uint32_t whole = UINT32_MAX;

   const Block* block = nullptr;
   uint32_t column = 0, rowGroup = 0;
   uint32_t part = whole;                  ///< of a chunk of documents (ChunkHeader::parts)
   std::shared_ptr<const Landing> landing; ///< the stretch that was read ahead; null: none
   std::shared_ptr<io::ReadTally> tally;   ///< of reads over a network; null: none
   TableUse* use = nullptr;                ///< counts pages; null: nobody does

   const ChunkHeader& header() const { return block->header().chunk(column, rowGroup); }
};

/// Reads one chunk, or one part of a chunk of documents. Owned by one worker.
///
/// Columns are decoded by whole aligned vectors of 2,048 rows into the reader's scratch. The scratch keeps the vector
/// until another one is read, so that small batches of one vector decode once. Where few rows are selected, single
/// values are fetched instead. Vectors point into pinned pages or the scratch. Those of strings stay valid until
/// passPages() or open(), others until the next read() or open().
class ChunkReader {
public:
   explicit ChunkReader(PhysicalType type) : type_(type) {}

   PhysicalType type() const { return type_; }
   /// Pages are pinned when they are first needed.
   void open(ChunkPlace place);
   /// Lets go of the pages.
   void close();
   bool isOpen() const { return place_.block != nullptr; }
   /// The rows before `row` are done with, and so are their strings: lets go of their pages. Rows are read forward as a
   /// rule; a page that is needed again is pinned again.
   void passPages(uint32_t row);
   /// How many of the rows [first, first + count) lie in pages of `bytes` bytes together, but at least those of the
   /// first page. Pages of values of fixed size do not count: they are small.
   uint32_t rowsWithin(uint32_t first, uint32_t count, size_t bytes) const;

   /// Rows [first, first + count) lie inside one aligned vector; `rows` counts from `first`.
   Vector read(uint32_t first, uint32_t count, const Selection& rows);
   /// Writes the selected rows of the aligned vector from `first` on whose integers the range contains to `out`, which
   /// has room for 8 more, and returns their number. Packed integers are compared as they are.
   uint32_t filterRange(uint32_t first, const ValueRange& range, const Selection& rows, RowIndex* out);
   /// Whether matchRange() works on the vector: its integers are packed.
   bool isPacked(uint32_t first);
   /// matchInts() of the aligned vector from `first` on. REQUIRES: isPacked().
   Matches matchRange(uint32_t first, const ValueRange& range, uint64_t* mask);
   /// The same for strings by their length in bytes, NULLs as empty ones, for any rows inside a vector. Nothing if that
   /// is not known without decoding them.
   std::optional<uint32_t> filterLength(uint32_t first, uint32_t count, uint32_t lower, uint32_t upper,
                                        const Selection& rows, RowIndex* out);
   /// The page that holds a row, and the row's number in it.
   PageView pageOf(uint32_t row, uint32_t& inPage);

   /// Rows of the chunk or part.
   uint32_t rowCount() const;
   /// Whether read() gives Dictionary vectors.
   bool hasDictionary() const { return part_.hasDictionary; }
   /// Of all values of the chunk or part.
   const ZoneRange& zone() const { return part_.zone; }
   /// False when no value in the aligned vector of rows from `first` on can lie in the range.
   bool mayMatch(uint32_t first, ZoneKey lower, ZoneKey upper);

   /// The value of all rows of the aligned vector from `first` on, if the page says that they have the same one.
   std::optional<int64_t> onlyValue(uint32_t first);

   // For rows that lie elsewhere, and values of this reader's type:
   /// Room for 2,048 values.
   char* scratch();
   Vector constant(const Value& value);
   /// A copy of `count` validity bits from bit `first` on, so that bit 0 is the first row.
   const ValidityWord* shifted(const ValidityWord* validity, uint32_t first, uint32_t count);

private:
   struct FreeDeleter {
      void operator()(void* memory) const { std::free(memory); }
   };
   const PageEntry& entryAt(uint32_t index) const { return place_.header().pages[part_.firstPage + index]; }
   PageView pageAt(uint32_t index);
   uint32_t firstPageOfRows() const { return part_.hasDictionary ? 1 : 0; }
   uint32_t pageIndexOf(uint32_t row) const;
   uint64_t dictionaryId() const;
   Vector readCodes(uint32_t first, uint32_t count, const Selection& rows);
   Vector readStrings(uint32_t first, uint32_t count, const Selection& rows);

   const PhysicalType type_;
   ChunkPlace place_;
   ChunkPart part_;            ///< of a whole chunk: all of its pages
   std::vector<PagePin> pins_; ///< by index in the part
   uint32_t passed_ = 0;       ///< page of the row of the last passPages(); no page of rows before it is pinned
   std::unique_ptr<char[], FreeDeleter> values_;
   std::unique_ptr<ValidityWord[]> validity_;
   std::unique_ptr<uint16_t[], FreeDeleter> codes_;
   uint32_t decoded_ = UINT32_MAX; ///< first row of the vector that the scratch holds completely; UINT32_MAX: none
};

/// The same for integers that were read.
uint32_t filterValues(const Vector& vector, const ValueRange& range, const Selection& rows, RowIndex* out);

} // namespace ouzel::storage
