#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/hash/hyper_log_log.hpp"
#include "storage/base/ids.hpp"
#include "storage/block/statistics.hpp"
#include "storage/block/zone_key.hpp"
#include "storage/json/document_summary.hpp"

// The layout of a block in the store: one immutable object.
//
//   offset 0            "OUZELBLK"
//          8            pages, column by column, within a column by row group (a dictionary before its codes)
//                       Bloom filters (bloom_filter.hpp) of the chunks that have one, in the same order
//          headerOffset BlockHeader, LZ4-compressed (bytes: see format.cpp)
//          end - 40     BlockFooter
//
// A column chunk is one column of one row group (<= 32,768 rows): one page or more, each at most 256 KiB of encoded
// bytes unless one value alone is larger, each with its own checksum and optionally compressed. Page boundaries are
// multiples of 2,048 rows for fixed-size types. Those of strings are multiples of 256 rows after the page's first one,
// or any row where 256 strings alone are larger. Inside a page (after decompression):
//
//   0   PageHeader, 32 bytes
//   32  validity bitmap, one bit per row, if hasNulls; whole words
//   bodyOffset (multiple of 32), by encoding:
//       AllNull       nothing
//       Constant      the value of all rows: 16 bytes, of strings a 4-byte length and the bytes
//       PackedInts    one PackedVector per 2,048 rows, then their data at 32-byte multiples (bit_packing.hpp)
//       PlainFixed    values as in memory
//       PlainStrings  StringBody
//       Codes         dictionary codes packed with `width` bits; the code after the last entry means NULL
//       Dictionary    StringBody of the entries in byte order; rowCount entries
//
// A chunk of jsonb documents may have parts (storage/json/shape.hpp): columns of their own with different numbers of
// rows, whose pages follow each other in the chunk. Part 0 is one string, the bytes of the ShapeDictionary; part 1 the
// number of each row's shape, NULL where the document is; part 2 the residues; part 3 + i the values of leaf i.
//
// Pages begin at multiples of 64 bytes in the object, so that a page can be used in the memory that a read has filled.
// In older blocks pages begin anywhere, and are copied. In memory, 32 readable bytes follow every page, so that kernels
// may read whole registers.

namespace ouzel::storage {

inline constexpr std::string_view blockMagic = "OUZELBLK";
/// Versions 1, without Bloom filters, 2 and 3, without documents in parts, and 4, without packed text, are still read.
inline constexpr uint32_t blockFormatVersion = 6;
inline constexpr uint32_t pageSizeMax = 256 * 1024;
inline constexpr uint32_t pagePadding = 32;
inline constexpr uint32_t pageAlignment = 64;
inline constexpr uint32_t stringGranule = 256;
inline constexpr uint32_t dictionaryEntriesMax = 65'535; ///< one code is left for NULL

enum class PageEncoding : uint8_t { AllNull, Constant, PackedInts, PlainFixed, PlainStrings, Codes, Dictionary };
enum class PageCodec : uint8_t { None, Lz4, Letters /* letter_packing.hpp */ };

struct PageHeader {
   PageEncoding encoding = PageEncoding::AllNull; // 0
   uint8_t hasNulls = 0;                          // 1
   uint8_t width = 0;                             // 2  Codes: bits of a code
   uint8_t reserved0 = 0;                         // 3
   uint32_t rowCount = 0;                         // 4
   uint32_t bodyOffset = 0;                       // 8
   uint32_t reserved1[5] = {};                    // 12
};
static_assert(sizeof(PageHeader) == 32);

enum class PackedMode : uint8_t { FrameOfReference, Delta, Runs };

/// 2,048 integers. FrameOfReference: reference + packed * factor. Delta: the first value, then packed differences:
/// value[i] = value[i - 1] + reference + packed[i] (packed[0] is 0), the first value in `factor`. Runs: `runs` ends
/// (uint16), padded to 32 bytes, then packed values as in FrameOfReference.
struct PackedVector {
   int64_t reference = 0;                          // 0
   uint64_t factor = 1;                            // 8
   uint64_t range = 0;                             // 16 largest - smallest value; a fine zone map with `smallest`
   uint32_t offset = 0;                            // 24 of the data in the body
   uint8_t bits = 0;                               // 28
   PackedMode mode = PackedMode::FrameOfReference; // 29
   uint16_t runs = 0;                              // 30
   int64_t smallest = 0;                           // 32
};
static_assert(sizeof(PackedVector) == 40);

/// Strings: the start of each 256th string, the length of each string, the bytes. All offsets count from the body's
/// start.
struct StringBody {
   uint32_t lengthsOffset = 0; // 0
   uint32_t bytesOffset = 0;   // 4
   uint32_t lengthWidth = 1;   // 8  bytes a length takes: 1, 2 or 4
   uint32_t reserved = 0;      // 12
   // then uint32_t starts[(count + 255) / 256], counted from bytesOffset
};
static_assert(sizeof(StringBody) == 16);

struct PageEntry {
   uint64_t offset = 0; ///< in the object
   uint32_t storedSize = 0;
   uint32_t rawSize = 0;  ///< decompressed, without padding
   uint64_t checksum = 0; ///< XXH3-64 of the stored bytes
   uint32_t firstRow = 0; ///< in the row group
   uint32_t rowCount = 0; ///< of a dictionary: its entries
   PageCodec codec = PageCodec::None;
};

/// The place of a chunk's Bloom filter.
struct FilterEntry {
   uint64_t offset = 0;   ///< in the object
   uint32_t size = 0;     ///< 0: there is none
   uint64_t checksum = 0; ///< XXH3-64
};

/// A column of its own inside a chunk of documents.
struct ChunkPart {
   uint32_t firstPage = 0, pageCount = 0; ///< in the chunk; a dictionary, when there is one, comes first
   bool hasDictionary = false;
   uint32_t nullCount = 0;
   ZoneRange zone;
   /// Not stored: the part's number among all parts of the block.
   uint32_t number = 0;
};
inline constexpr uint32_t partShapeDictionary = 0, partShapes = 1, partResidues = 2, partLeaves = 3;

/// One column of one row group.
struct ChunkHeader {
   /// Most pages of a chunk: a page's key has 16 bits for it.
   static constexpr uint32_t pagesMax = 0xffff;

   std::vector<PageEntry> pages; ///< in row order; a dictionary, when there is one, is pages[0]
   bool hasDictionary = false;
   uint32_t nullCount = 0;
   ZoneRange zone;
   FilterEntry filter;
   std::vector<ChunkPart> parts; ///< of documents that were taken apart; else empty

   bool isDictionaryPage(uint32_t index) const;
};

/// Statistics of one column of a block, or of any set of rows. Merging is exact for all members but `distinct`.
struct ColumnSketch {
   HyperLogLog distinct;
   ZoneRange zone;
   uint64_t valueCount = 0, nullCount = 0;
   uint64_t valueBytes = 0; ///< of non-NULL values
   void merge(const ColumnSketch& other);
};

/// What the documents of a column have at their paths.
struct DocumentColumn {
   uint32_t column = 0;
   DocumentSummary summary;
};

struct BlockHeader {
   SegmentId segment = 0;
   uint32_t rowCount = 0;
   uint64_t objectSize = 0;
   std::vector<uint32_t> rowGroupRows;
   std::vector<PhysicalType> columnTypes;
   std::vector<ChunkHeader> chunks; ///< [column * rowGroups + rowGroup]
   std::vector<ColumnSketch> sketches;
   std::shared_ptr<const SampleRows> sample;
   std::vector<DocumentColumn> documents; ///< of the columns that were taken apart, or that might have been

   /// Null: nothing is known.
   const DocumentSummary* documentsOf(uint32_t column) const;
   uint32_t rowGroupCount() const { return static_cast<uint32_t>(rowGroupRows.size()); }
   const ChunkHeader& chunk(uint32_t column, uint32_t rowGroup) const {
      return chunks[static_cast<size_t>(column) * rowGroupRows.size() + rowGroup];
   }
   void serialize(std::string& out) const;
   /// Throws XX001.
   static BlockHeader deserialize(std::string_view bytes);
};

struct BlockFooter {
   uint64_t headerOffset = 0;             // 0
   uint32_t headerStoredSize = 0;         // 8
   uint32_t headerRawSize = 0;            // 12
   uint64_t headerChecksum = 0;           // 16
   uint32_t version = blockFormatVersion; // 24
   uint32_t reserved = 0;                 // 28
   uint64_t magic = 0;                    // 32 blockMagic
};
static_assert(sizeof(BlockFooter) == 40);

uint64_t checksumOf(std::string_view bytes);

} // namespace ouzel::storage
