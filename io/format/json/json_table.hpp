#pragma once
#include <string>
#include <vector>

#include "io/format/csv/row_format.hpp"
#include "io/format/external_table.hpp"
#include "io/format/file_set.hpp"

namespace ouzel::io {

/// JSON files with one list of columns: objects on lines, or in an array. The first rows determine the columns, unless
/// the request names them. Immutable, thread-safe.
class JsonTable final : public ExternalTable {
public:
   /// Throws what findFiles() and JsonSniffer do.
   explicit JsonTable(const ExternalRequest& request);

   std::string_view formatName() const override { return "JSON"; }
   std::unique_ptr<ExternalScan> scan(ExternalScanSpec spec) const override;

   const RowFormat& rowFormat() const { return rows_; }
   const SessionFormat& sessionFormat() const { return format_; }
   const std::vector<std::string>& keys() const { return keys_; } ///< of members, by column
   const std::string& hint() const { return hint_; }              ///< for values that do not fit; may be empty
   uint64_t bytes() const { return bytes_; }

private:
   RowFormat rows_;
   SessionFormat format_;
   std::vector<std::string> keys_;
   std::string hint_;
   uint64_t bytes_ = 0; ///< of all files
};

} // namespace ouzel::io
