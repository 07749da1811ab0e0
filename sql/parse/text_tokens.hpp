#pragma once
#include <cstdint>
#include <string_view>

namespace ouzel::sql {

/// A word, string, number or sign of an SQL text.
struct TextToken {
   enum class Kind : uint8_t { Word, QuotedName, String, Number, Parameter, Sign };

   Kind kind = Kind::Sign;
   uint32_t begin = 0, end = 0; ///< byte offsets
};

/// Cuts an SQL text that the parser has accepted into tokens, and skips blanks and comments. Signs come one by one:
/// "<=" are two.
class TextTokens {
public:
   explicit TextTokens(std::string_view text) : text_(text) {}

   /// False: the text is over.
   bool next(TextToken& token);

private:
   bool isAt(uint32_t place, char c) const { return place < text_.size() && text_[place] == c; }
   void skipBlanks();
   void skipComment();
   TextToken::Kind cut();
   void cutQuoted(char quote, bool hasEscapes);
   bool cutDollarQuoted();
   void cutNumber();

   const std::string_view text_;
   uint32_t at_ = 0;
};

} // namespace ouzel::sql
