#include "io/format/csv/csv_options.hpp"

#include <charconv>

#include "common/error/sql_error.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel::io {

namespace {

char characterValue(const ExternalOption& option) {
   const std::string& text = singleValue(option);
   if (text == "\\t") return '\t';
   if (text.size() != 1 || text[0] == '\n' || text[0] == '\r' || text[0] == '\0')
      throwBadValue(option, "a single one-byte character");
   return text[0];
}

} // namespace

void throwBadValue(const ExternalOption& option, const char* expected) {
   throw SqlError(sqlstate::invalidParameterValue, "option \"" + option.name + "\" must be " + expected);
}

const std::string& singleValue(const ExternalOption& option) {
   if (option.values.size() != 1) throwBadValue(option, "a single value");
   return option.values[0];
}

bool booleanValue(const ExternalOption& option) {
   bool value = false;
   if (parseBoolean(singleValue(option), value) != ParseStatus::Ok) throwBadValue(option, "true or false");
   return value;
}

uint32_t rowCountValue(const ExternalOption& option) {
   const std::string& text = singleValue(option);
   uint32_t rows = 0;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
   if (error != std::errc() || end != text.data() + text.size() || rows == 0) throwBadValue(option, "a number of rows");
   return rows;
}

void throwUnknownOption(std::string_view function, const ExternalOption& option) {
   throw SqlError(sqlstate::undefinedFunction, std::string(function) + " has no option named \"" + option.name + "\"");
}

CsvOptions parseCsvOptions(const std::vector<ExternalOption>& options) {
   CsvOptions out;
   out.rows.format = CopyFormat::Csv;
   out.rows.mixesLineBreaks = true;
   out.rows.delimiter = ',';
   out.rows.null.clear();
   bool hasEscape = false;
   for (const ExternalOption& option : options) {
      if (option.name == "delim" || option.name == "sep") {
         out.rows.delimiter = characterValue(option);
         out.hasDelimiter = true;
      } else if (option.name == "header") {
         out.rows.header = booleanValue(option);
         out.hasHeader = true;
      } else if (option.name == "quote") {
         out.rows.quote = characterValue(option);
         if (!hasEscape) out.rows.escape = out.rows.quote;
      } else if (option.name == "escape") {
         out.rows.escape = characterValue(option);
         hasEscape = true;
      } else if (option.name == "nullstr") {
         out.rows.null = singleValue(option);
      } else if (option.name == "all_varchar") {
         out.allText = booleanValue(option);
      } else if (option.name == "sample_size") {
         out.sampleRows = rowCountValue(option);
      } else {
         throwUnknownOption("read_csv", option);
      }
   }
   if (out.rows.delimiter == out.rows.quote)
      throw SqlError(sqlstate::invalidParameterValue, "delimiter and quote of read_csv must be different");
   return out;
}

} // namespace ouzel::io
