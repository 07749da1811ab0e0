#include "common/base_type/ts_word_reader.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

constexpr bool isTsOperator(char c) {
   return c == '!' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<';
}
constexpr bool isDigit(char c) {
   return c >= '0' && c <= '9';
}

} // namespace

void TsWordReader::throwSyntax() const {
   throw SqlError(sqlstate::syntaxError, std::string("syntax error in ") +
                                             (syntax_ == Syntax::Vector ? "tsvector" : "tsquery") + ": \"" +
                                             std::string(text_) + '"');
}

bool TsWordReader::endsPlainWord() const {
   if (isAtEnd() || isSpace()) return true;
   const char c = text_[at_];
   return syntax_ == Syntax::Vector ? c == ':' : isTsOperator(c) || c == ':' || (syntax_ == Syntax::Web && c == '"');
}

void TsWordReader::takeEscaped() {
   ++at_;
   if (isAtEnd()) throw SqlError(sqlstate::syntaxError, "there is no escaped character: \"" + std::string(text_) + '"');
   word_ += text_[at_++];
}

void TsWordReader::readPlain() {
   const bool hasEscapes = syntax_ != Syntax::Web;
   if (syntax_ != Syntax::Vector && isTsOperator(text_[at_])) throwSyntax();
   // The first character belongs to the word, whatever it is.
   do {
      if (hasEscapes && is('\\'))
         takeEscaped();
      else
         word_ += text_[at_++];
   } while (!endsPlainWord());
}

void TsWordReader::readQuoted() {
   for (++at_;;) {
      if (isAtEnd()) throwSyntax();
      if (is('\\')) {
         takeEscaped();
      } else if (!is('\'')) {
         word_ += text_[at_++];
      } else {
         ++at_;
         if (!is('\'')) break;
         word_ += text_[at_++]; // a quote that is doubled
      }
   }
   if (word_.empty()) throwSyntax();
}

void TsWordReader::readWeight(TsPlace& place) {
   for (; !isAtEnd() && !isSpace() && !is(','); ++at_) {
      const char c = text_[at_];
      const int weight = c == '*' ? 3 : tsWeightOf(c);
      if (weight >= 0) {
         if (place.weight != 0) throwSyntax();
         place.weight = static_cast<uint8_t>(weight);
      } else if (!isDigit(c)) {
         throwSyntax();
      }
   }
}

void TsWordReader::readPlaces(std::vector<TsPlace>& places) {
   do {
      ++at_; // ':' or ','
      if (isAtEnd() || !isDigit(text_[at_])) throwSyntax();
      int64_t position = 0;
      for (; !isAtEnd() && isDigit(text_[at_]); ++at_)
         if (position <= tsPositionMax) position = position * 10 + (text_[at_] - '0');
      if (position == 0)
         throw SqlError(sqlstate::syntaxError, "wrong position info in tsvector: \"" + std::string(text_) + '"');
      places.push_back({limitedPosition(position), 0});
      readWeight(places.back());
   } while (is(','));
}

bool TsWordReader::next(std::vector<TsPlace>& places) {
   word_.clear();
   places.clear();
   while (isSpace())
      ++at_;
   if (isAtEnd()) return false;
   if (syntax_ != Syntax::Web && is('\''))
      readQuoted();
   else
      readPlain();
   if (syntax_ == Syntax::Vector && is(':')) readPlaces(places);
   return true;
}

} // namespace ouzel
