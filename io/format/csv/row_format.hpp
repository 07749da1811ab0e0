#pragma once
#include <cstdint>
#include <string>

namespace ouzel::io {

enum class CopyFormat : uint8_t { Text, Csv, Binary, Parquet };

/// Syntax of rows in a text file, as the splitters need it. The defaults are those of COPY's text format.
struct RowFormat {
   CopyFormat format = CopyFormat::Text;
   char delimiter = '\t';
   char quote = '"', escape = '"'; ///< csv only
   std::string null = "\\N";
   bool header = false;
};

} // namespace ouzel::io
