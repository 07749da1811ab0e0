#pragma once
#include <string_view>

namespace ouzel {

/// Whether the texts are the same but for the case of ASCII letters; `word` is in lower case. Signal-safe.
bool equalsLower(std::string_view text, std::string_view word) noexcept;

/// Walks over the tokens of SQL as far as they matter for the log: words, string literals, everything else. Works for
/// texts that are no valid SQL.
class SqlScanner {
public:
   explicit SqlScanner(std::string_view sql) : sql_(sql) {}

   enum class Token { Word, Literal, Semicolon, Other, End };
   /// The next token; its text is sql[begin, end).
   Token next();

   size_t begin = 0, end = 0;

private:
   void skipBlanks();
   void skipComment();
   /// From the opening quote on. An unterminated literal reaches to the end.
   Token literal(bool hasEscapes);
   bool dollarQuoted();
   Token word();

   const std::string_view sql_;
};

} // namespace ouzel
