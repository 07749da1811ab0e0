#pragma once
#include <memory>
#include <parquet/arrow/reader.h>
#include <parquet/metadata.h>
#include <string>
#include <vector>

#include "io/format/parquet/arrow_bridge.hpp"
#include "io/format/parquet/parquet.hpp"

// What openParquet() makes. Only for .cpp files of this folder.

namespace ouzel::io {

/// One file with its footer.
struct ParquetFile {
   std::string path;
   uint64_t size = 0;
   std::shared_ptr<const ObjectReader> object; ///< in an object store: as it was when its footer was read; else null
   std::shared_ptr<parquet::FileMetaData> metadata;
   std::vector<int> leaves; ///< by column of the table: the leaf column of the file; -1: nested, not to be read
};

class ParquetTable final : public ExternalTable {
public:
   explicit ParquetTable(const ExternalRequest& request);

   std::string_view formatName() const override { return "Parquet"; }
   std::unique_ptr<ExternalScan> scan(ExternalScanSpec spec) const override;
   const std::vector<ParquetFile>& parquetFiles() const { return parquetFiles_; }

private:
   void addFile(const InputFile& file);

   std::vector<ParquetFile> parquetFiles_;
};

/// A reader over an opened file whose footer is known already; of `coded` leaves it gives dictionaries and codes.
std::unique_ptr<parquet::arrow::FileReader> makeFileReader(const ParquetFile& file,
                                                           const std::shared_ptr<ArrowInput>& input,
                                                           arrow::MemoryPool* pool, int64_t batchRows,
                                                           const std::vector<int>& coded);

/// Whether all pages of a chunk of text are codes of its dictionary.
bool isCodedText(const parquet::ColumnChunkMetaData& chunk);

/// The bytes of a leaf's chunk in a row group; false when the footer says nonsense.
bool chunkRange(const parquet::ColumnChunkMetaData& chunk, uint64_t fileSize, uint64_t& offset, uint64_t& size);

/// Least and greatest value in a chunk as its statistics have them, in the representation of the column; NULL: not
/// known.
struct ChunkBounds {
   Value min, max;
   bool allNull = false;
};
ChunkBounds boundsOf(const ParquetFile& file, const ExternalColumn& column, int rowGroup, int leaf);

} // namespace ouzel::io
