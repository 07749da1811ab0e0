#pragma once
#include <cstdint>
#include <string>

namespace ouzel::io {

enum class CopyFormat : uint8_t { Text, Csv, Binary, Parquet };

/// How rows are written in a file of text: what the splitters must know of it. Defaults are those of COPY's text form.
struct RowFormat {
   CopyFormat format = CopyFormat::Text;
   char delimiter = '\t';
   char quote = '"', escape = '"'; ///< csv only
   std::string null = "\\N";
   bool header = false;
};

} // namespace ouzel::io
