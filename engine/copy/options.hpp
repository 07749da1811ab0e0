#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/text/encoding.hpp"
#include "io/format/csv/row_format.hpp"
#include "io/format/parquet/parquet.hpp"

struct List; // PostgreSQL's parse nodes

namespace ouzel::sql {
class SourceText;
}

namespace ouzel::engine {

using io::CopyFormat;

/// The options of one COPY, defaulted as PostgreSQL does.
struct CopyOptions : io::RowFormat {
   std::optional<CharacterEncoding> encoding; ///< of texts; none: the client's
   bool headerMatch = false;
   io::ParquetOptions parquet;
   std::vector<std::string> forceQuote, forceNotNull, forceNull; ///< csv only, column names
   bool forceQuoteAll = false;
   bool forceArray = false; ///< json, COPY TO only: brackets around the rows and commas between them
};

/// From the DefElems of a CopyStmt in `source`. Throws 42601, 22023 or 0A000 as PostgreSQL words them.
CopyOptions parseCopyOptions(const ::List* options, bool isFrom, const sql::SourceText& source);

} // namespace ouzel::engine
