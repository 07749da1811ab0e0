#pragma once
#include <string_view>
#include <vector>

#include "executor/function/text_search/ts_headline.hpp"
#include "executor/function/text_search/ts_match.hpp"

namespace ouzel::executor {

/// A token of a document for a headline. One that several words of the query find stands there once for each, and is
/// repeated but the first time.
struct TsHeadlineWord {
   TsToken token = TsToken::None;
   std::string_view text;
   uint16_t position = 0;
   int32_t sought = TsQuery::none; ///< the word of the query that it is
   bool isRepeated = false;
   // What the selection has said of it.
   bool isChosen = false, isMarked = false, isBlank = false, isLeftOut = false;

   bool isInteresting() const { return sought != TsQuery::none && !isRepeated; }
   /// Neither blank nor a token whose parts follow it.
   bool isWord() const { return token != TsToken::Blank && token != TsToken::Tag && !isComposed(); }
   bool isComposed() const {
      return token == TsToken::Url || token == TsToken::NumHyphenWord || token == TsToken::AsciiHyphenWord ||
             token == TsToken::HyphenWord;
   }
   /// Whether a headline should not begin or end with it.
   bool isBadEnd(int32_t shortWord) const;
};
using TsHeadlineWords = std::vector<TsHeadlineWord>;

/// Marks the words of a headline.
void selectHeadline(TsHeadlineWords& words, const TsQuery& query, const TsHeadlineOptions& options);

} // namespace ouzel::executor
