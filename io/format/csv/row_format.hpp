#pragma once
#include <cstdint>
#include <string>

namespace ouzel::io {

enum class CopyFormat : uint8_t { Text, Csv, Binary, Parquet, Json };

/// How the values of a JSON file follow each other: one a line, or as the elements of one array. Auto: as an array if
/// the file begins with a bracket.
enum class JsonLayout : uint8_t { Lines, Array, Auto };

/// Syntax of rows in a text file, as the splitters need it. The defaults are those of COPY's text format.
struct RowFormat {
   CopyFormat format = CopyFormat::Text;
   char delimiter = '\t';
   char quote = '"', escape = '"'; ///< csv only
   std::string null = "\\N";
   bool header = false;
   bool mixesLineBreaks = false; ///< lines may end with \n alone though the first one ends with \r\n

   // json only:
   JsonLayout layout = JsonLayout::Lines;
   bool isDocument = false; ///< a row is the value of the only column; else an object, and its members are the fields
   bool refusesOthers = false; ///< a member that is no field is an error; else it is passed over
};

} // namespace ouzel::io
