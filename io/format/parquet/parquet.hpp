#pragma once
#include <memory>
#include <span>
#include <string>

#include "io/format/external_table.hpp"
#include "io/format/file_set.hpp"

// Parquet files as tables. Arrow's headers stay inside this folder: they cost seconds each. A build without Arrow has
// absent.cpp in the place of the others, which refuses with 0A000.

namespace ouzel::io {

/// Reads the footers of all files. They must have the same columns (22023 names the one that has not); 22P04 for what
/// is no Parquet file.
ExternalTablePtr openParquet(const ExternalRequest& request);

/// How a Parquet file is written.
struct ParquetOptions {
   std::string compression = "snappy"; ///< none, snappy, gzip, zstd, lz4
   uint32_t rowGroupRows = 122'880;
};

/// Rows on their way into a Parquet file. Used by one thread.
class ParquetWriter {
public:
   virtual ~ParquetWriter() = default;
   /// The live rows; vectors as `representations` said.
   virtual void write(const Batch& batch) = 0;
   /// Writes the footer.
   virtual void finish() = 0;
};
/// Throws 0A000 for a column's type that Parquet has no counterpart for here. Everything outlives the writer. What it
/// holds, at most a row group, is charged to `memory`.
std::unique_ptr<ParquetWriter> makeParquetWriter(OutputFile& file, const std::vector<ExternalColumn>& columns,
                                                 const std::vector<Representation>& representations,
                                                 const ParquetOptions& options, Reservation& memory);

} // namespace ouzel::io
