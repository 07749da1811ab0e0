#pragma once
#include <optional>

#include "io/format/csv/row_format.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::io {

/// The options of read_csv, with DuckDB's names. Absent options are derived from the file.
struct CsvOptions {
   RowFormat rows; ///< always csv; `delimiter` and `header` count only if the flags below are set
   bool hasDelimiter = false, hasHeader = false;
   bool allText = false;         ///< all_varchar
   uint32_t sampleRows = 20'480; ///< sample_size: rows that types are guessed from
};

/// Throws 22023 for an invalid value, 42883 for an unknown name.
CsvOptions parseCsvOptions(const std::vector<ExternalOption>& options);

/// The single text, the boolean, or the positive number of rows that the option must have. Throws 22023 otherwise.
const std::string& singleValue(const ExternalOption& option);
bool booleanValue(const ExternalOption& option);
uint32_t rowCountValue(const ExternalOption& option);
[[noreturn]] void throwBadValue(const ExternalOption& option, const char* expected);
[[noreturn]] void throwUnknownOption(std::string_view function, const ExternalOption& option);

} // namespace ouzel::io
