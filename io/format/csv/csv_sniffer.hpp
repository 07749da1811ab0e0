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

/// Split off the first row of `text`; returns the bytes it takes, its line break included. For samples and headers: it
/// is lenient and slow, FieldSplitter is neither.
size_t splitCsvRow(std::string_view text, const RowFormat& format, CsvRow& row);

/// What a file looks like.
struct CsvShape {
   RowFormat rows;
   std::vector<ExternalColumn> columns;
   std::vector<std::string> header; ///< as it stands in the file; empty: there is none
   double bytesPerRow = 0;
};

/// Find out delimiter, header, names and types from the beginning of a file, as far as the options leave them open.
/// A column gets the first of boolean, bigint, double precision, date, timestamp and timestamptz that all its values in
/// the sample are texts of; else text. The first row is the header when a column's types say that it is no row, or when
/// all columns are text. `isWhole`: the sample is the whole file. Throws 22P04 for a file without columns.
CsvShape sniffCsv(std::string_view sample, bool isWhole, const CsvOptions& options, const ExternalRequest& request,
                  const std::string& file);

} // namespace ouzel::io
