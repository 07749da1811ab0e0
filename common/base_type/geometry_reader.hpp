#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/geometry.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

// Reading the texts of geometric values: points from left to right, and what encloses them.

namespace ouzel {

/// As PostgreSQL's pair_decode(), single_decode() and path_decode(). Throws 22P02 that names the type.
class GeometryReader {
public:
   GeometryReader(const char* type, std::string_view text) : type_(type), text_(text), rest_(text) {}

   Point pair() {
      skipBlanks();
      const bool hasParentheses = take('(');
      Point point;
      point.x = number();
      if (!take(',')) fail();
      point.y = number();
      if (hasParentheses) {
         if (!take(')')) fail();
         skipBlanks();
      }
      return point;
   }
   double number() {
      skipBlanks();
      size_t size = rest_.find_first_of("(),[]{}<> \t\n\r\f\v");
      if (size == std::string_view::npos) size = rest_.size();
      const std::string_view digits = rest_.substr(0, size);
      double value = 0;
      switch (parseDouble(digits, value)) {
      case ParseStatus::Ok: break;
      case ParseStatus::OutOfRange:
         throw SqlError(sqlstate::numericValueOutOfRange,
                        '"' + std::string(digits) + "\" is out of range for type double precision");
      default: fail();
      }
      rest_.remove_prefix(size);
      skipBlanks();
      return value;
   }
   /// So many points, perhaps enclosed in parentheses, or in brackets where these are allowed: they make a path open.
   std::vector<Point> points(size_t count, bool mayBeOpen, bool& isOpen) {
      skipBlanks();
      isOpen = take('[');
      if (isOpen && !mayBeOpen) fail();
      bool isEnclosed = false;
      if (peek() == '(' && !isOpen) {
         const size_t next = rest_.find_first_not_of(" \t\n\r\f\v", 1);
         const bool hasInner = next != std::string_view::npos && rest_[next] == '(';
         isEnclosed = hasInner || rest_.rfind('(') == 0;
         if (isEnclosed) rest_.remove_prefix(next == std::string_view::npos ? rest_.size() : next);
      }
      std::vector<Point> found;
      constexpr size_t textMin = 4; // of a point: "1,2,"
      found.reserve(std::min(count, rest_.size() / textMin + 1));
      for (size_t i = 0; i < count; ++i) {
         found.push_back(pair());
         take(',');
      }
      if (isEnclosed || isOpen) {
         if (!take(')') && !(isOpen && take(']'))) fail();
         skipBlanks();
      }
      return found;
   }
   /// How many points the text has, by its commas.
   size_t pointCount() const {
      size_t commas = 0;
      for (const char c : text_)
         commas += c == ',';
      if (commas % 2 == 0) fail();
      return (commas + 1) / 2;
   }

   char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
   /// The first character behind blanks that follow the one at the front.
   char peekSecond() const {
      const size_t next = rest_.find_first_not_of(" \t\n\r\f\v", 1);
      return next == std::string_view::npos ? '\0' : rest_[next];
   }
   bool take(char c) {
      if (peek() != c) return false;
      rest_.remove_prefix(1);
      return true;
   }
   bool hasLaterParenthesis() const { return rest_.rfind('(') != 0; }
   void skipBlanks() {
      while (!rest_.empty() && isBlank(rest_.front()))
         rest_.remove_prefix(1);
   }
   void finish() const {
      if (!rest_.empty()) fail();
   }
   [[noreturn]] void fail() const { throwInvalidSyntax(type_, text_); }

private:
   const char* type_;
   const std::string_view text_;
   std::string_view rest_;
};

} // namespace ouzel
