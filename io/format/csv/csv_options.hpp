#pragma once
#include <optional>

#include "io/format/csv/row_format.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::io {

/// The options of read_csv, named as DuckDB names them. What is absent is found out from the file.
struct CsvOptions {
   RowFormat rows; ///< always csv; `delimiter` and `header` count only if the next two say so
   bool hasDelimiter = false, hasHeader = false;
   bool allText = false;         ///< all_varchar
   uint32_t sampleRows = 20'480; ///< sample_size: rows that types are guessed from
};

/// Throws 22023 for a value, 42883 for a name that is not known.
CsvOptions parseCsvOptions(const std::vector<ExternalOption>& options);

/// The value of an option that is one text, or true or false. 22023 otherwise.
const std::string& singleValue(const ExternalOption& option);
bool booleanValue(const ExternalOption& option);
[[noreturn]] void throwUnknownOption(std::string_view function, const ExternalOption& option);

} // namespace ouzel::io
