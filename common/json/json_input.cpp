#include "common/json/json_input.hpp"

#include "common/json/json_parser.hpp"
#include "common/number/decimal.hpp"

namespace ouzel::json {

namespace {

struct Checker {
   static constexpr bool decodesStrings = false;
   void beginObject(size_t) {}
   void endObject(size_t) {}
   void beginArray(size_t) {}
   void endArray(size_t) {}
   void key(std::string_view) {}
   void scalar(Token, std::string_view, size_t, size_t) {}
};

/// Tells a writer what the parser finds.
class Builder {
public:
   static constexpr bool decodesStrings = true;
   explicit Builder(JsonbWriter& writer) : writer_(writer) {}

   void beginObject(size_t) { writer_.beginObject(); }
   void endObject(size_t) { writer_.endObject(); }
   void beginArray(size_t) { writer_.beginArray(); }
   void endArray(size_t) { writer_.endArray(); }
   void key(std::string_view text) { writer_.key(text); }
   void scalar(Token token, std::string_view text, size_t, size_t) {
      switch (token) {
      case Token::String: return writer_.string(text);
      case Token::Number: return number(text);
      case Token::Null: return writer_.null();
      default: return writer_.boolean(token == Token::True);
      }
   }

private:
   void number(std::string_view text) {
      writer_.number(decimal::parse(text, digits_));
      if (digits_.chunkBytes() != 0) digits_.reset(); // only numbers of many digits are in it
   }

   JsonbWriter& writer_;
   Arena digits_;
};

} // namespace

void checkJson(std::string_view text) {
   Checker checker;
   parse(text, checker);
}

void writeParsed(JsonbWriter& writer, std::string_view text) {
   Builder builder(writer);
   parse(text, builder);
}

void writeParsed(JsonbWriter& writer, Lexer& lexer) {
   Builder builder(writer);
   Parser<Builder>(lexer, builder).run();
}

void skipValue(Lexer& lexer) {
   Checker checker;
   Parser<Checker>(lexer, checker).run();
}

StringView parseJsonb(std::string_view text, Arena& arena) {
   // Rows of a column are parsed one after the other: the writer's memory is made once.
   static thread_local JsonbWriter writer;
   const JsonbWriter::Use use(writer, arena.reservation());
   writeParsed(writer, text);
   return finishInto(writer, arena);
}

StringView finishInto(JsonbWriter& writer, Arena& arena) {
   const size_t size = writer.finishedSize();
   if (size <= StringView::inlineMax) {
      char bytes[StringView::inlineMax];
      writer.finishInto(bytes);
      return StringView(bytes, static_cast<uint32_t>(size));
   }
   char* bytes = static_cast<char*>(arena.allocate(size, 1));
   writer.finishInto(bytes);
   return StringView(bytes, static_cast<uint32_t>(size));
}

} // namespace ouzel::json
