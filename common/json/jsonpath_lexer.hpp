#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"

// The words of a jsonpath text. Used by jsonpath_parser.cpp only.

namespace ouzel::json {

enum class PathWord : uint8_t {
   End,
   Symbol,   ///< one of ? % $ . [ ] { } ( ) | & ! = < > @ # , * : - + / in PathToken::symbol
   AnyLevel, // **
   And,
   Or,
   Less,
   LessOrEqual,
   Equal,
   NotEqual,
   GreaterOrEqual,
   Greater,
   Not,
   String,
   Variable,
   Integer,
   Number,
   Identifier, ///< no key word
   // Key words: all of them are names of members too.
   To,
   Null,
   True,
   False,
   Is,
   Unknown,
   Exists,
   Strict,
   Lax,
   Last,
   Starts,
   With,
   LikeRegex,
   Flag,
   Abs,
   Size,
   Type,
   Floor,
   Double,
   Ceiling,
   KeyValue,
   DateTime,
};

struct PathToken {
   PathWord word = PathWord::End;
   char symbol = 0;
   std::string_view text; ///< of a string, variable, number or name, without escapes
   std::string_view near; ///< what an error at this token shows, as PostgreSQL's scanner has it; empty: the end
};

/// Cuts a text into words as PostgreSQL 15's scanner does, with its errors.
class PathLexer {
public:
   /// Texts with escapes go to the arena.
   PathLexer(std::string_view text, Arena& arena) : text_(text), arena_(arena) {}
   PathToken next();

   /// Throws 42601 `message at or near "..." of jsonpath input`.
   [[noreturn]] static void fail(const char* message, std::string_view near);

private:
   enum class Quoting : uint8_t { None, String, Variable };

   bool atEnd() const { return at_ >= text_.size(); }
   char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
   void skipComment();
   bool number(PathToken& token);
   /// The rest of a text in quotes, or of a name.
   PathToken quoted(PathWord word);
   bool name(PathToken& token);
   void escape(std::string& out);
   void unicodeEscapes(std::string& out);
   std::string_view keep(std::string_view source, const std::string& made, bool isMade);

   std::string_view text_;
   Arena& arena_;
   size_t at_ = 0;
};

} // namespace ouzel::json
