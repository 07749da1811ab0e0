#pragma once
#include <string>
#include <string_view>

#include "common/base_type/ts_query.hpp"
#include "executor/function/text_search/ts_analyzer.hpp"

namespace ouzel::executor {

/// The options of ts_headline().
struct TsHeadlineOptions {
   int32_t wordsMax = 35, wordsMin = 15;
   int32_t shortWord = 3; ///< words of this length are not where a headline begins or ends
   int32_t fragmentsMax = 0;
   bool isWhole = false; ///< HighlightAll: the whole document
   std::string before = "<b>", after = "</b>", delimiter = " ... ";

   /// Reads "MaxWords=20, StartSel=<i>". Throws 22023, 42601.
   static TsHeadlineOptions read(std::string_view text);
};

/// A part of the text in which words of the query stand out.
std::string tsHeadline(const TsConfiguration& configuration, std::string_view text, const TsQuery& query,
                       const TsHeadlineOptions& options);

} // namespace ouzel::executor
