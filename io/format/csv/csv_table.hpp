#pragma once
#include "io/format/csv/csv_options.hpp"
#include "io/format/file_set.hpp"

namespace ouzel::io {

/// CSV files of one shape. The first one says what columns there are, unless the request does.
class CsvTable final : public ExternalTable {
public:
   /// Throws what findFiles() and sniffCsv() do.
   explicit CsvTable(const ExternalRequest& request);

   std::string_view formatName() const override { return "CSV"; }
   std::unique_ptr<ExternalScan> scan(ExternalScanSpec spec) const override;

   const RowFormat& rowFormat() const { return rows_; }
   const SessionFormat& sessionFormat() const { return format_; }
   /// The names of the first file's header, if it has one; other files must have the same.
   const std::vector<std::string>& header() const { return header_; }
   uint64_t bytes() const { return bytes_; }

private:
   RowFormat rows_;
   SessionFormat format_;
   std::vector<std::string> header_;
   uint64_t bytes_ = 0; ///< of all files
};

} // namespace ouzel::io
