#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "io/format/csv/csv_options.hpp"

namespace ouzel::io {

/// One field of a sampled row.
struct CsvField {
   std::string text;
   bool isNull = false;
};
using CsvRow = std::vector<CsvField>;

/// Splits off the first row of `text` and returns its length in bytes, with its line break. For samples and headers:
/// unlike FieldSplitter it accepts malformed rows, and it is slow.
size_t splitCsvRow(std::string_view text, const RowFormat& format, CsvRow& row);

/// Format and columns of a CSV file, as given by options or derived from a sample.
struct CsvShape {
   RowFormat rows;
   std::vector<ExternalColumn> columns;
   std::vector<std::string> header; ///< the header's names, unchanged; empty: no header
   double bytesPerRow = 0;
};

/// Derives delimiter, header, names and types from the beginning of a file, as far as the options do not give them. A
/// column gets the first type of boolean, bigint, double precision, date, timestamp, timestamptz and text that accepts
/// all its values in the sample. The first row is the header when its fields do not have the columns' types, or when
/// all columns are text. `isWhole`: the sample is the whole file. Throws 22P04 for a file without columns.
CsvShape sniffCsv(std::string_view sample, bool isWhole, const CsvOptions& options, const ExternalRequest& request,
                  const std::string& file);

} // namespace ouzel::io
