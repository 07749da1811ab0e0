#include "common/type/array_text.hpp"

#include <algorithm>

#include "common/base_type/type_form.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/text/utf8.hpp"
#include "common/type/array.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel {

namespace {

constexpr int32_t dimensionsMax = 6;
constexpr int64_t elementsMax = 134'217'727; // PostgreSQL's limit: eight bytes each within 1 GB

bool isNullWord(std::string_view text) {
   return text.size() == 4 && (text[0] | 32) == 'n' && (text[1] | 32) == 'u' && (text[2] | 32) == 'l' &&
          (text[3] | 32) == 'l';
}

void appendElement(std::string& out, const std::string& text, char delimiter) {
   const bool needsQuotes = text.empty() || isNullWord(text) || std::any_of(text.begin(), text.end(), [=](char c) {
                               return c == '"' || c == '\\' || c == '{' || c == '}' || c == delimiter || isBlank(c);
                            });
   if (!needsQuotes) {
      out.append(text);
      return;
   }
   out.push_back('"');
   for (const char c : text) {
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
   }
   out.push_back('"');
}

/// Reads one array literal.
class ArrayReader {
public:
   ArrayReader(std::string_view text, const SqlType& element, const SessionFormat& format)
      : text_(text), elementType_(element), delimiter_(arrayDelimiter(element.oid)), format_(format) {}

   std::string run() {
      skipBlanks();
      const bool hasBounds = peek() == '[';
      std::vector<ArrayDimension> bounds;
      if (hasBounds) bounds = readBounds();
      if (peek() != '{')
         fail(hasBounds ? "Array contents must start with \"{\"."
                        : "Array value must start with \"{\" or dimension information.");
      readLevel(0);
      skipBlanks();
      if (p_ < text_.size()) fail("Junk after closing right brace.");
      array_.elementType = elementType_.oid;
      array_.physical = arrayElementPhysical(elementType_.oid);
      if (array_.elements.empty()) {
         if (hasBounds) fail("Specified array dimensions do not match array contents.");
         return makeArray(array_);
      }
      if (hasBounds) {
         if (bounds.size() != lengths_.size()) fail("Specified array dimensions do not match array contents.");
         for (size_t i = 0; i < bounds.size(); ++i)
            if (bounds[i].length != lengths_[i]) fail("Specified array dimensions do not match array contents.");
         array_.dimensions = bounds;
      } else {
         for (const int32_t length : lengths_)
            array_.dimensions.push_back({length, 1});
      }
      return makeArray(array_);
   }

private:
   char peek() const { return p_ < text_.size() ? text_[p_] : '\0'; }
   bool atEnd() const { return p_ >= text_.size(); }
   void skipBlanks() {
      while (isBlank(peek()))
         ++p_;
   }
   [[noreturn]] void fail(const std::string& detail) const {
      throw SqlError(sqlstate::invalidTextRepresentation, "malformed array literal: \"" + std::string(text_) + '"')
          .detail(detail);
   }

   int32_t readBound() {
      const size_t start = p_;
      if (peek() == '-' || peek() == '+') ++p_;
      while (isDigit(peek()))
         ++p_;
      int32_t value = 0;
      if (parseInteger(text_.substr(start, p_ - start), value) != ParseStatus::Ok)
         fail("Missing array dimension value.");
      return value;
   }

   std::vector<ArrayDimension> readBounds() {
      std::vector<ArrayDimension> bounds;
      while (peek() == '[') {
         ++p_;
         if (bounds.size() == dimensionsMax)
            throw SqlError(sqlstate::programLimitExceeded,
                           "number of array dimensions (7) exceeds the maximum allowed (6)");
         int32_t lower = 1, upper = readBound();
         if (peek() == ':') {
            ++p_;
            lower = upper;
            upper = readBound();
         }
         if (peek() != ']') fail("Missing \"]\" after array dimensions.");
         ++p_;
         if (upper < lower)
            throw SqlError(sqlstate::arraySubscriptError, "upper bound cannot be less than lower bound");
         if (static_cast<int64_t>(upper) - lower + 1 > elementsMax)
            throw SqlError(sqlstate::programLimitExceeded, "array size exceeds the maximum allowed (134217727)");
         bounds.push_back({upper - lower + 1, lower});
      }
      skipBlanks();
      if (peek() != '=') fail("Missing \"=\" after array dimensions.");
      ++p_;
      skipBlanks();
      return bounds;
   }

   /// One brace level, its opening brace next.
   void readLevel(size_t depth) {
      if (depth >= static_cast<size_t>(dimensionsMax))
         throw SqlError(sqlstate::programLimitExceeded,
                        "number of array dimensions (7) exceeds the maximum allowed (6)");
      ++p_;
      skipBlanks();
      if (peek() == '}') {
         ++p_;
         if (depth != 0) fail("Unexpected \"}\" character.");
         return;
      }
      int32_t count = 0;
      for (;;) {
         skipBlanks();
         if (peek() == '{') {
            if (leafDepth_ == depth) fail("Unexpected \"{\" character.");
            readLevel(depth + 1);
         } else {
            if (leafDepth_ == unknownDepth) leafDepth_ = depth;
            if (leafDepth_ != depth) fail("Multidimensional arrays must have sub-arrays with matching dimensions.");
            readElement();
         }
         ++count;
         skipBlanks();
         if (atEnd()) fail("Unexpected end of input.");
         const char c = peek();
         ++p_;
         if (c == '}') break;
         if (c != delimiter_) fail("Unexpected array element.");
      }
      if (lengths_.size() <= depth) lengths_.resize(depth + 1, -1);
      if (lengths_[depth] != -1 && lengths_[depth] != count)
         fail("Multidimensional arrays must have sub-arrays with matching dimensions.");
      lengths_[depth] = count;
   }

   void readElement() {
      std::string text;
      if (peek() == '"') {
         ++p_;
         for (;; ++p_) {
            if (atEnd()) fail("Unexpected end of input.");
            if (peek() == '"') break;
            if (peek() == '\\') {
               ++p_;
               if (atEnd()) fail("Unexpected end of input.");
            }
            text.push_back(peek());
         }
         ++p_;
         skipBlanks();
         if (!atEnd() && peek() != delimiter_ && peek() != '}') fail("Unexpected array element.");
         return addElement(text);
      }
      size_t significant = 0; // trailing blanks do not count unless escaped
      bool hasEscape = false;
      for (; !atEnd() && peek() != delimiter_ && peek() != '}'; ++p_) {
         if (peek() == '"') fail("Unexpected array element.");
         if (peek() == '{') fail("Unexpected \"{\" character.");
         bool escaped = false;
         if (peek() == '\\') {
            ++p_;
            if (atEnd()) fail("Unexpected end of input.");
            escaped = hasEscape = true;
         }
         text.push_back(peek());
         if (escaped || !isBlank(peek())) significant = text.size();
      }
      text.resize(significant);
      if (atEnd()) fail("Unexpected end of input.");
      if (text.empty()) fail(std::string("Unexpected \"") + peek() + "\" character.");
      if (!hasEscape && isNullWord(text)) {
         array_.elements.push_back(Value::null(arrayElementPhysical(elementType_.oid)));
         return;
      }
      addElement(text);
   }

   void addElement(const std::string& text) { array_.elements.push_back(parsePart(elementType_, text, format_)); }

   static constexpr size_t unknownDepth = SIZE_MAX;
   std::string_view text_;
   SqlType elementType_;
   const char delimiter_;
   const SessionFormat& format_;
   size_t p_ = 0;
   size_t leafDepth_ = unknownDepth;
   std::vector<int32_t> lengths_;
   ArrayValue array_;
};

} // namespace

void appendArrayText(std::string& out, std::string_view bytes, Oid element, const SessionFormat& format) {
   appendArrayText(out, bytes, [element, &format](const SqlType& type, const Value& value) {
      return textOf(element == oid::oid ? SqlType{element, -1, invalidOid} : type, value, format);
   });
}

void appendArrayText(std::string& out, std::string_view bytes, const ElementText& elementText) {
   const ArrayValue array = readArray(bytes);
   if (array.elements.empty()) {
      out.append("{}");
      return;
   }
   const bool showsBounds = std::any_of(array.dimensions.begin(), array.dimensions.end(),
                                        [](const ArrayDimension& d) { return d.lower != 1; });
   if (showsBounds) {
      for (const ArrayDimension& d : array.dimensions) {
         out.push_back('[');
         appendInteger(out, d.lower);
         out.push_back(':');
         appendInteger(out, static_cast<int64_t>(d.lower) + d.length - 1);
         out.push_back(']');
      }
      out.push_back('=');
   }
   const SqlType type{array.elementType, -1, invalidOid};
   const char delimiter = arrayDelimiter(array.elementType);
   const size_t depth = array.dimensions.size();
   std::vector<int32_t> position(depth, 0);
   out.append(depth, '{');
   for (size_t i = 0; i < array.elements.size(); ++i) {
      const Value& v = array.elements[i];
      if (v.isNull) {
         out.append("NULL");
      } else {
         appendElement(out, elementText(type, v), delimiter);
      }
      // Close the levels that end here, and open them again if there is more.
      size_t closed = 0;
      for (size_t level = depth; level-- > 0;) {
         if (++position[level] < array.dimensions[level].length) break;
         position[level] = 0;
         ++closed;
      }
      out.append(closed, '}');
      if (i + 1 == array.elements.size()) break;
      out.push_back(delimiter);
      out.append(closed, '{');
   }
}

void appendVectorText(std::string& out, std::string_view bytes, const SessionFormat& format) {
   const ArrayValue array = readArray(bytes);
   const SqlType type{array.elementType, -1, invalidOid};
   for (size_t i = 0; i < array.elements.size(); ++i) {
      if (i != 0) out.push_back(' ');
      out.append(textOf(type, array.elements[i], format));
   }
}

std::string parseArrayText(std::string_view text, const SqlType& element, const SessionFormat& format) {
   return ArrayReader(text, element, format).run();
}

std::string parseVectorText(std::string_view text, Oid element, const SessionFormat& format) {
   std::vector<Value> elements;
   for (size_t p = 0; p < text.size();) {
      while (p < text.size() && isBlank(text[p]))
         ++p;
      const size_t start = p;
      while (p < text.size() && !isBlank(text[p]))
         ++p;
      if (p > start) elements.push_back(parseText({element, -1, invalidOid}, text.substr(start, p - start), format));
   }
   return makeArray(element, elements, 0);
}

} // namespace ouzel
