#include "io/format/json/json_members.hpp"

#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"

namespace ouzel::io {

bool JsonLines::next(std::string_view& row) {
   while (!left_.empty()) {
      const auto* end = static_cast<const char*>(std::memchr(left_.data(), '\n', left_.size()));
      const size_t size = end ? static_cast<size_t>(end - left_.data()) : left_.size();
      row = left_.substr(0, size);
      left_.remove_prefix(end ? size + 1 : size);
      ++line_;
      if (row.ends_with('\r')) row.remove_suffix(1);
      if (row.find_first_not_of(" \t\r") != std::string_view::npos) return true;
   }
   return false;
}

std::string rowName(bool countsElements, uint64_t line) {
   return (countsElements ? "element " : "line ") + std::to_string(line);
}

void throwNoObject(json::Lexer& lexer) {
   const json::Token token = lexer.token();
   json::skipValue(lexer); // what is no JSON is refused as that
   throw SqlError(sqlstate::badCopyFileFormat,
                  std::string("expected a JSON object, but found ") + (token == json::Token::ArrayStart ? "an array"
                                                                       : token == json::Token::String   ? "a string"
                                                                       : token == json::Token::Number   ? "a number"
                                                                       : token == json::Token::Null     ? "null"
                                                                                                        : "a boolean"));
}

} // namespace ouzel::io
