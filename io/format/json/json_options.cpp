#include "io/format/json/json_options.hpp"

#include "common/error/sql_error.hpp"
#include "io/format/csv/csv_options.hpp"

namespace ouzel::io {

namespace {

JsonLayout layoutValue(const ExternalOption& option) {
   const std::string& text = singleValue(option);
   if (text == "auto") return JsonLayout::Auto;
   if (text == "newline_delimited" || text == "nd") return JsonLayout::Lines;
   if (text == "array") return JsonLayout::Array;
   if (text == "unstructured") throwNotSupported("format unstructured of read_json");
   throwBadValue(option, "auto, newline_delimited or array");
}

} // namespace

JsonOptions parseJsonOptions(const std::vector<ExternalOption>& options) {
   JsonOptions out;
   for (const ExternalOption& option : options) {
      if (option.name == "format")
         out.layout = layoutValue(option);
      else if (option.name == "records")
         out.records = singleValue(option) == "auto" ? std::nullopt : std::optional(booleanValue(option));
      else if (option.name == "sample_size")
         out.sampleRows = rowCountValue(option);
      else
         throwUnknownOption("read_json", option);
   }
   return out;
}

} // namespace ouzel::io
