#pragma once
#include <cstdint>
#include <string>
#include <vector>

struct List; // PostgreSQL's parse nodes

namespace ouzel::engine {

enum class CopyFormat : uint8_t { Text, Csv, Binary };

/// The options of one COPY, defaulted as PostgreSQL does.
struct CopyOptions {
   CopyFormat format = CopyFormat::Text;
   char delimiter = '\t';
   char quote = '"', escape = '"'; ///< csv only
   std::string null = "\\N";
   bool header = false, headerMatch = false;
   std::vector<std::string> forceQuote, forceNotNull, forceNull; ///< csv only, column names
   bool forceQuoteAll = false;
};

/// From the DefElems of a CopyStmt. Throws 42601, 22023 or 0A000 as PostgreSQL words them.
CopyOptions parseCopyOptions(const ::List* options, bool isFrom);

} // namespace ouzel::engine
