#pragma once
#include "sql/program/program.hpp"
#include "sql/program/scanner.hpp"

// Tokens as the grammar of PL/pgSQL wants them: names are looked up, so that what a word is depends on the variables
// declared so far, on the token before it and on where the parser is.

namespace ouzel::sql::program {

enum class WordKind : uint8_t {
   None,     ///< no word: see Token::raw
   Variable, ///< a variable or a field of one
   Word,
   Dotted, ///< a.b or a.b.c that is no variable
   Keyword,
};

struct Token {
   RawToken raw;
   std::string_view text;
   WordKind kind = WordKind::None;
   bool isReserved = false, isQuoted = false;
   std::vector<std::string> names; ///< of words and variables; of keywords in lower case
   VariableId variable = noVariable;

   bool isEnd() const { return raw.kind == TokenKind::End; }
   bool isString() const { return kind == WordKind::None && raw.kind == TokenKind::String; }
   bool isUnreserved() const { return kind == WordKind::Keyword && !isReserved; }
   bool isDotted() const { return names.size() > 1; }
   /// A keyword, or an operator or other sign.
   bool is(std::string_view what) const {
      return kind == WordKind::Keyword ? names[0] == what
                                       : kind == WordKind::None && raw.kind == TokenKind::Other && text == what;
   }
   /// An unreserved keyword that is meant although a variable may have its name.
   bool isEvenIfVariable(std::string_view word) const {
      return is(word) || (kind == WordKind::Variable && !isQuoted && names.size() == 1 && names[0] == word);
   }
   /// "a.b".
   std::string dottedName() const;
};

/// How words are looked up.
enum class Lookup : uint8_t {
   Normal,
   Declare, ///< no variables
   Sql,     ///< in SQL text: only fields of records
};

class TokenReader {
public:
   /// `program` gets variables for the fields that are named.
   TokenReader(std::string_view body, Program& program);

   const Token& next();
   /// The token that next() gave last.
   const Token& current() const { return current_; }
   /// Gives the current token once more.
   void pushBack() { pushed_.push_back(current_); }
   /// Whether the next token is this sign, or this reserved word.
   bool peekIs(std::string_view what);
   /// Whether the next tokens are a word, of whatever meaning, and this sign.
   bool peekIsWordThen(std::string_view what);
   /// Where the next token begins.
   uint32_t peekOffset();

   Lookup lookup = Lookup::Normal;
   NameId scope = noName; ///< what words are looked up in

   /// The number of the line, from 1, of a byte offset; remembered for reports.
   uint32_t lineOf(uint32_t offset);
   uint32_t latestLine() const { return latestLine_; }
   std::string_view body() const { return body_; }
   uint32_t position(uint32_t offset) const { return scanner_.position(offset); }

   /// `syntax error at or near "word"`, of the current token.
   [[noreturn, gnu::cold]] void fail(std::string_view message = "syntax error") const;
   [[gnu::cold]] SqlError error(SqlState state, const std::string& message, uint32_t offset) const;

   VariableId fieldOf(VariableId record, std::string_view name);

private:
   const RawToken& raw(size_t ahead = 0) const { return scanner_.at(at_ + ahead); }
   bool isPlainWord(const RawToken& token) const;
   Token wordToken();
   void resolveWord(Token& token);
   void resolveDotted(Token& token);
   bool atStatementStart() const;

   const Scanner scanner_;
   const std::string_view body_;
   Program& program_;
   size_t at_ = 0;
   Token current_;
   std::vector<Token> pushed_;
   std::vector<uint32_t> lineEnds_; ///< offsets of the body's newlines
   uint32_t latestLine_ = 1;
};

/// `"x" is not a known variable`, and syntax errors of tokens that are no words.
[[noreturn, gnu::cold]] void throwNotVariable(const TokenReader& reader);
[[noreturn, gnu::cold]] void throwNotVariable(const TokenReader& reader, const Token& token);

} // namespace ouzel::sql::program
