#pragma once
#include <memory>
#include <span>
#include <string>

#include "io/format/external_table.hpp"
#include "io/format/file_set.hpp"

// Parquet files as tables. Only sources of this folder include Arrow's headers, which cost seconds of compile time
// each. A build without Arrow has only absent.cpp, which refuses with 0A000.

namespace ouzel::io {

/// Reads the footers of all files. Files must have the same columns; 22023 names the file that differs. Throws 22P04
/// for a file that is no Parquet file.
ExternalTablePtr openParquet(const ExternalRequest& request);

/// Options of a Parquet file that is written.
struct ParquetOptions {
   std::string compression = "snappy"; ///< none, snappy, gzip, zstd, lz4
   uint32_t rowGroupRows = 122'880;
};

/// Writes rows to a Parquet file. Used by one thread.
class ParquetWriter {
public:
   virtual ~ParquetWriter() = default;
   /// Appends the live rows. Vectors have the `representations` given to makeParquetWriter().
   virtual void write(const Batch& batch) = 0;
   /// Writes the footer.
   virtual void finish() = 0;
};
/// Makes a writer. `file` and the other arguments outlive it. It buffers at most a row group, charged to `memory`.
/// Throws 0A000 for a column type that cannot be written.
std::unique_ptr<ParquetWriter> makeParquetWriter(OutputFile& file, const std::vector<ExternalColumn>& columns,
                                                 const std::vector<Representation>& representations,
                                                 const ParquetOptions& options, Reservation& memory);

} // namespace ouzel::io
