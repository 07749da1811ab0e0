#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::json {

enum class Token : uint8_t {
   End,
   ObjectStart,
   ObjectEnd,
   ArrayStart,
   ArrayEnd,
   Comma,
   Colon,
   String,
   Number,
   True,
   False,
   Null
};

/// Cuts JSON text into tokens, as strictly as PostgreSQL. Errors have PostgreSQL's message, DETAIL and CONTEXT: 22P02,
/// or 22P05 for \u0000 in a string that is decoded.
///
/// The text is valid UTF-8 and outlives the lexer. The decoded string of a token stays until the next but one string:
/// a parser may be one token ahead of what it reports.
class Lexer {
public:
   /// `decodesStrings`: string() is asked for, so escapes have to mean something: no \u0000, whole surrogate pairs.
   Lexer(std::string_view text, bool decodesStrings) : text_(text), decodesStrings_(decodesStrings) {}

   /// Moves to the next token.
   void next();
   /// From the next token on: whether strings are decoded. So a reader of objects pays for those that it wants.
   void setDecoding(bool decodesStrings) { decodesStrings_ = decodesStrings; }
   Token token() const { return token_; }
   /// The token as it stands in the text.
   std::string_view lexeme() const { return text_.substr(start_, end_ - start_); }
   /// Where the token begins and ends in the text.
   size_t start() const { return start_; }
   size_t end() const { return end_; }
   /// Where the token before this one ended.
   size_t previousEnd() const { return previousEnd_; }
   /// The text that a string stands for. REQUIRES: the lexer decodes strings, token() == Token::String.
   std::string_view string() const { return string_; }

   /// Throws 22P02 because of the current token: `Expected <what>, but found "<token>".`, or that the text ends early.
   [[noreturn]] void failExpected(const char* what) const;

private:
   void punctuation(Token token);
   void word();
   void number();
   void lexString();
   /// From an escape on: decodes what follows into a buffer.
   void decode(size_t at);
   uint32_t hexDigits(size_t& at) const;
   size_t plainEnd(size_t at) const;
   [[noreturn]] void failEarlyEnd() const;
   /// `end`: behind the last byte of the text that the error is about.
   [[noreturn]] void fail(const std::string& detail, size_t end) const;
   [[noreturn]] void failInString(const char* detail, size_t at) const;
   size_t characterEnd(size_t at) const;

   const std::string_view text_;
   bool decodesStrings_;
   Token token_ = Token::End;
   uint32_t line_ = 1;    ///< number of the line, from 1
   size_t lineStart_ = 0; ///< where it begins
   size_t start_ = 0, end_ = 0, previousEnd_ = 0;
   std::string_view string_;
   std::string decoded_[2]; ///< of the last two strings with escapes
   bool turn_ = false;      ///< which of them is the older
};

} // namespace ouzel::json
