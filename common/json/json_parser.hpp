#pragma once
#include <string>
#include <string_view>

#include "common/json/json_lexer.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::json {

/// Arrays and objects that JSON text may nest. PostgreSQL's limit comes from its max_stack_depth, which is 2 MB by
/// default: then 12,000 are fine and 15,000 are not.
inline constexpr size_t nestingMax = 8'000;

/// Parses a JSON value and tells `handler` what it has, depth first. Throws as Lexer does, 54001 beyond nestingMax, and
/// what the handler throws. Notices cancels. A handler has
///
///    static constexpr bool decodesStrings;   // whether it wants the text of strings and keys
///    void beginObject(size_t at);            // where the brace stands in the text
///    void endObject(size_t end);             // behind the closing brace
///    void beginArray(size_t at);
///    void endArray(size_t end);
///    void key(std::string_view text);        // before the events of the member's value
///    void scalar(Token token, std::string_view text, size_t at, size_t end);   // text: decoded, or as it stands
template <typename Handler>
class Parser {
public:
   /// REQUIRES: the lexer decodes strings as the handler wants it.
   Parser(Lexer& lexer, Handler& handler) : lexer_(lexer), handler_(handler) {}

   /// Parses the value that begins with the lexer's token, and moves the lexer to the token behind it.
   void run() {
      enum class Step : uint8_t { Value, Member, After };
      for (Step step = Step::Value;;) {
         switch (step) {
         case Step::Value: step = value() ? Step::After : isInObject() ? Step::Member : Step::Value; break;
         case Step::Member:
            member();
            step = Step::Value;
            break;
         case Step::After:
            if (open_.empty()) return;
            if (lexer_.token() == Token::Comma) {
               lexer_.next();
               step = isInObject() ? Step::Member : Step::Value;
            } else {
               close();
            }
            break;
         }
      }
   }

private:
   bool isInObject() const { return open_.back() != 0; }

   /// A value: a scalar, an empty container, or the beginning of another (false).
   bool value() {
      const size_t at = lexer_.start(), end = lexer_.end();
      const Token token = lexer_.token();
      switch (token) {
      case Token::ObjectStart:
         open(true);
         handler_.beginObject(at);
         lexer_.next();
         if (lexer_.token() == Token::String) return false;
         if (lexer_.token() != Token::ObjectEnd) lexer_.failExpected("string or \"}\"");
         close();
         return true;
      case Token::ArrayStart:
         open(false);
         handler_.beginArray(at);
         lexer_.next();
         if (lexer_.token() != Token::ArrayEnd) return false;
         close();
         return true;
      case Token::String:
      case Token::Number:
      case Token::True:
      case Token::False:
      case Token::Null: {
         const std::string_view text =
             Handler::decodesStrings && token == Token::String ? lexer_.string() : lexer_.lexeme();
         lexer_.next(); // the error of a bad token comes before those of the handler
         handler_.scalar(token, text, at, end);
         return true;
      }
      default: lexer_.failExpected("JSON value");
      }
   }

   void member() {
      if (lexer_.token() != Token::String) lexer_.failExpected("string");
      const std::string_view key = Handler::decodesStrings ? lexer_.string() : lexer_.lexeme();
      lexer_.next();
      if (lexer_.token() != Token::Colon) lexer_.failExpected("\":\"");
      lexer_.next();
      handler_.key(key);
   }

   void open(bool isObject) {
      if (open_.size() >= nestingMax) throwStackDepth();
      if ((++opened_ & 0xFFF) == 0) checkInterrupted();
      open_.push_back(isObject ? 1 : 0);
   }

   void close() {
      const bool isObject = isInObject();
      if (lexer_.token() != (isObject ? Token::ObjectEnd : Token::ArrayEnd))
         lexer_.failExpected(isObject ? "\",\" or \"}\"" : "\",\" or \"]\"");
      const size_t end = lexer_.end();
      lexer_.next();
      open_.pop_back();
      if (isObject)
         handler_.endObject(end);
      else
         handler_.endArray(end);
   }

   Lexer& lexer_;
   Handler& handler_;
   /// The containers around, outermost first: whether each is an object. A string allocates nothing for the few levels
   /// that documents have.
   std::string open_;
   uint32_t opened_ = 0;
};

/// Parses text that is one value.
template <typename Handler>
void parse(std::string_view text, Handler& handler) {
   Lexer lexer(text, Handler::decodesStrings);
   lexer.next();
   Parser<Handler>(lexer, handler).run();
   if (lexer.token() != Token::End) lexer.failExpected("end of input");
}

} // namespace ouzel::json
