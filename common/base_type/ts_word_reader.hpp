#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/ts_vector.hpp"

namespace ouzel {

/// What isspace() knows of ASCII.
constexpr bool isTsSpace(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Takes words off the text of a tsvector or a tsquery: plain ones, in which a backslash precedes any character, or
/// ones in quotes. Throws 42601 with the whole text.
class TsWordReader {
public:
   /// Vector: words have positions. Query: operators and ':' end a word. Web: so does '"', and there are no quotes and
   /// no backslashes.
   enum class Syntax : uint8_t { Vector, Query, Web };

   TsWordReader(std::string_view text, Syntax syntax) : text_(text), syntax_(syntax) {}

   /// Reads the next word and its places; false: the text has ended.
   bool next(std::vector<TsPlace>& places);
   /// The word that next() has read.
   const std::string& word() const { return word_; }
   /// Where the next word is looked for.
   size_t position() const { return at_; }
   void moveTo(size_t position) { at_ = position; }

private:
   bool isAtEnd() const { return at_ == text_.size(); }
   bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }
   bool isSpace() const { return at_ < text_.size() && isTsSpace(text_[at_]); }
   bool endsPlainWord() const;
   void readPlain();
   void readQuoted();
   void takeEscaped();
   void readPlaces(std::vector<TsPlace>& places);
   void readWeight(TsPlace& place);
   [[noreturn, gnu::cold]] void throwSyntax() const;

   std::string_view text_;
   Syntax syntax_;
   size_t at_ = 0;
   std::string word_;
};

} // namespace ouzel
