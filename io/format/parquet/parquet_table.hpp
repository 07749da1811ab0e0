#pragma once
#include <memory>
#include <parquet/arrow/reader.h>
#include <parquet/metadata.h>
#include <string>
#include <vector>

#include "io/format/parquet/arrow_bridge.hpp"
#include "io/format/parquet/parquet.hpp"

// The table that openParquet() returns. Only for .cpp files of this folder.

namespace ouzel::io {

/// One Parquet file and its footer.
struct ParquetFile {
   std::string path;
   uint64_t size = 0;
   std::shared_ptr<const ObjectReader> object; ///< object stores only: reader of the version whose footer was read
   std::shared_ptr<parquet::FileMetaData> metadata;
   std::vector<int> leaves; ///< by column of the table: leaf column of the file; -1: nested, unreadable
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

/// Makes Arrow's reader of an opened file, with the known footer. Leaves in `coded` are returned as dictionaries and
/// codes.
std::unique_ptr<parquet::arrow::FileReader> makeFileReader(const ParquetFile& file,
                                                           const std::shared_ptr<ArrowInput>& input,
                                                           arrow::MemoryPool* pool, int64_t batchRows,
                                                           const std::vector<int>& coded);

/// Whether all pages of a text chunk are dictionary-encoded.
bool isCodedText(const parquet::ColumnChunkMetaData& chunk);

/// Offset and size of a leaf's chunk in the file; false when the footer's numbers are invalid.
bool chunkRange(const parquet::ColumnChunkMetaData& chunk, uint64_t fileSize, uint64_t& offset, uint64_t& size);

/// Least and greatest value of a chunk, from its statistics, in the representation of the column. NULL: not known.
struct ChunkBounds {
   Value min, max;
   bool allNull = false;
};
ChunkBounds boundsOf(const ParquetFile& file, const ExternalColumn& column, int rowGroup, int leaf);

} // namespace ouzel::io
