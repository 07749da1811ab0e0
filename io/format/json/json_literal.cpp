#include "io/format/json/json_literal.hpp"

#include <optional>
#include <vector>

#include "common/json/json_input.hpp"
#include "common/thread/stack.hpp"
#include "common/type/row_text.hpp"
#include "common/type/user_types.hpp"
#include "io/format/json/json_members.hpp"

namespace ouzel::io {

namespace {

using json::Token;

Token tokenOf(std::string_view json) {
   json::Lexer lexer(json, false);
   lexer.next();
   return lexer.token();
}

/// Moves the lexer over a value and returns its text. `text`: all that the lexer reads.
std::string_view takeValue(json::Lexer& lexer, std::string_view text) {
   const size_t start = lexer.start();
   json::skipValue(lexer);
   return text.substr(start, lexer.previousEnd() - start);
}

void appendQuotedPart(std::string& out, std::string_view text) {
   out += '"';
   for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
   }
   out += '"';
}

void appendPart(std::string& out, Oid type, std::string_view json, const SessionFormat& format) {
   std::string text;
   appendLiteral(text, type, json, format);
   appendQuotedPart(out, text);
}

void appendArray(std::string& out, Oid element, std::string_view json, const SessionFormat& format) {
   checkStack();
   json::Lexer lexer(json, false);
   lexer.next(); // the bracket
   lexer.next();
   out += '{';
   for (bool isFirst = true; lexer.token() != Token::ArrayEnd; isFirst = false) {
      if (!isFirst) {
         out += ',';
         lexer.next(); // behind the comma
      }
      const Token token = lexer.token();
      const std::string_view value = takeValue(lexer, json);
      if (token == Token::Null)
         out += "NULL";
      else if (token == Token::ArrayStart && element != oid::json && element != oid::jsonb)
         appendArray(out, element, value, format);
      else
         appendPart(out, element, value, format);
   }
   out += '}';
}

void appendRow(std::string& out, Oid type, std::string_view json, const SessionFormat& format) {
   const RowFields fields = rowFields(type, format);
   std::vector<std::optional<std::string_view>> values(fields->size());
   std::string decoded;
   forEachMember(json, [&](std::string_view key, uint32_t, json::Lexer& lexer) {
      const std::string_view name = textOfString(key, decoded);
      lexer.next();
      const bool isNull = lexer.token() == Token::Null;
      const std::string_view value = takeValue(lexer, json);
      for (size_t i = 0; i < fields->size(); ++i)
         if (!(*fields)[i].isDropped && (*fields)[i].name == name)
            values[i] = isNull ? std::optional<std::string_view>() : value;
   });
   out += '(';
   for (bool isFirst = true; const RowField& field : *fields) {
      if (field.isDropped) continue;
      if (!std::exchange(isFirst, false)) out += ',';
      const auto& value = values[static_cast<size_t>(&field - fields->data())];
      if (value) appendPart(out, field.type.oid, *value, format);
   }
   out += ')';
}

} // namespace

bool hasParts(Oid type) {
   return arrayElementType(type) != invalidOid || (isRowValue(type) && type != oid::record);
}

void appendLiteral(std::string& out, Oid type, std::string_view json, const SessionFormat& format) {
   checkStack();
   const Token token = tokenOf(json);
   const bool isJson = type == oid::json || type == oid::jsonb;
   const Oid element = arrayElementType(type);
   std::string decoded;
   if (token == Token::ArrayStart && element != invalidOid)
      appendArray(out, element, json, format);
   else if (token == Token::ObjectStart && hasParts(type) && element == invalidOid)
      appendRow(out, type, json, format);
   else
      out += token == Token::String && !isJson ? textOfString(json, decoded) : json;
}

} // namespace ouzel::io
