#pragma once
#include "io/format/csv/csv_options.hpp"
#include "io/format/file_set.hpp"

namespace ouzel::io {

/// CSV files with one format and one list of columns. The first file that is not empty determines the columns, unless
/// the request names them. Immutable, thread-safe.
class CsvTable final : public ExternalTable {
public:
   /// Throws what findFiles() and sniffCsv() do.
   explicit CsvTable(const ExternalRequest& request);

   std::string_view formatName() const override { return "CSV"; }
   std::unique_ptr<ExternalScan> scan(ExternalScanSpec spec) const override;

   const RowFormat& rowFormat() const { return rows_; }
   const SessionFormat& sessionFormat() const { return format_; }
   /// The header of the first file, empty if it has none. The other files must have the same header.
   const std::vector<std::string>& header() const { return header_; }
   uint64_t bytes() const { return bytes_; }

private:
   RowFormat rows_;
   SessionFormat format_;
   std::vector<std::string> header_;
   uint64_t bytes_ = 0; ///< of all files
};

} // namespace ouzel::io
