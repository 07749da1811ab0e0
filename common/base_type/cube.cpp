#include "common/base_type/cube.hpp"

#include <algorithm>
#include <bit>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

// ---- reading and writing ----

CubeView::CubeView(std::string_view bytes) {
   if (bytes.empty()) return;
   isPoint_ = bytes.front() != 0;
   const size_t size = sizeof(double) * (isPoint_ ? 1 : 2);
   const size_t dimensions = (bytes.size() - 1) / size;
   if (dimensions > cubeDimensionsMax || dimensions * size != bytes.size() - 1) throwInternal("malformed cube value");
   dimensions_ = static_cast<uint32_t>(dimensions);
   coordinates_ = bytes.data() + 1;
}

bool CubeView::hasOnePoint() const {
   if (isPoint_) return true;
   for (uint32_t i = 0; i < dimensions_; ++i)
      if (first(i) != second(i)) return false;
   return true;
}

std::string CubeCorners::stored(bool isPoint) const {
   std::string bytes(1, isPoint ? '\1' : '\0');
   bytes.append(reinterpret_cast<const char*>(first.data()), first.size() * sizeof(double));
   if (!isPoint) bytes.append(reinterpret_cast<const char*>(second.data()), second.size() * sizeof(double));
   return bytes;
}

int compareCubes(const CubeView& a, const CubeView& b) {
   const auto three = [](double x, double y) {
      const bool isNumber = x == x;
      if (!isNumber || y != y) return isNumber ? -1 : y == y ? 1 : 0;
      return x < y ? -1 : x > y ? 1 : 0;
   };
   const uint32_t common = std::min(a.dimensions(), b.dimensions()), all = std::max(a.dimensions(), b.dimensions());
   for (const auto& [begin, end] : {std::pair(0u, common), std::pair(common, all)}) {
      for (uint32_t i = begin; i < end; ++i)
         if (const int order = three(a.low(i), b.low(i)); order != 0) return order;
      for (uint32_t i = begin; i < end; ++i)
         if (const int order = three(a.high(i), b.high(i)); order != 0) return order;
   }
   return a.dimensions() < b.dimensions() ? -1 : a.dimensions() > b.dimensions() ? 1 : 0;
}

// ---- text ----

namespace {

/// Reads "1, 2", "(1, 2)", "(1, 2), (3, 4)" and "[(1, 2), (3, 4)]". As with PostgreSQL's grammar, what is wrong with
/// the corners is found before what stands behind them.
class CubeParser {
public:
   explicit CubeParser(std::string_view text) : text_(text) {}

   std::string run() {
      const bool isBracketed = take("[");
      const bool isPoint = !isBracketed && peek() != "(";
      const std::vector<std::string_view> first = isPoint ? numbers() : corner();
      std::string cube;
      if (isBracketed) {
         expect(",");
         const std::vector<std::string_view> second = corner();
         expect("]");
         cube = box(first, second);
      } else if (!isPoint && take(",")) {
         cube = box(first, corner());
      } else {
         requireDimensions(first.size());
         cube = CubeCorners{valuesOf(first), {}}.stored(true);
      }
      if (!peek().empty()) refuseToken();
      return cube;
   }

private:
   [[noreturn]] static void refuse(std::string detail) {
      throw SqlError(sqlstate::invalidTextRepresentation, "invalid input syntax for cube").detail(std::move(detail));
   }
   [[noreturn]] void refuseToken() {
      const std::string_view token = peek();
      refuse(token.empty() ? "syntax error at end of input" : "syntax error at or near \"" + std::string(token) + '"');
   }
   static void requireDimensions(size_t count) {
      if (count > cubeDimensionsMax)
         refuse("A cube cannot have more than " + std::to_string(cubeDimensionsMax) + " dimensions.");
   }

   // ---- tokens: numbers, and single characters ----

   static bool startsWith(std::string_view text, std::string_view word) {
      return lowerCase(text.substr(0, word.size())) == word;
   }
   /// Bytes of the number at the front; 0: there is none.
   static size_t numberSize(std::string_view text) {
      if (startsWith(text, "nan")) return 3;
      const auto digitsEnd = [&](size_t at) {
         while (at < text.size() && isDigit(text[at]))
            ++at;
         return at;
      };
      const auto isSign = [&](size_t at) { return at < text.size() && (text[at] == '+' || text[at] == '-'); };
      const size_t begin = isSign(0) ? 1 : 0;
      if (startsWith(text.substr(begin), "infinity")) return begin + 8;
      if (startsWith(text.substr(begin), "inf")) return begin + 3;
      size_t end = digitsEnd(begin), digits = end - begin;
      if (end < text.size() && text[end] == '.') {
         const size_t fractionEnd = digitsEnd(end + 1);
         digits += fractionEnd - end - 1;
         end = fractionEnd;
      }
      if (digits == 0) return 0;
      if (end < text.size() && asciiLower(text[end]) == 'e') {
         const size_t exponent = end + (isSign(end + 1) ? 2 : 1), exponentEnd = digitsEnd(exponent);
         if (exponentEnd > exponent) end = exponentEnd;
      }
      return end;
   }
   /// The next token; empty: there is none.
   std::string_view peek() {
      at_ = std::min(text_.find_first_not_of(" \t\n\r\f", at_), text_.size());
      const std::string_view rest = text_.substr(at_);
      if (rest.empty()) return rest;
      size_t size = std::max<size_t>(numberSize(rest), 1);
      while (size < rest.size() && (rest[size] & 0xC0) == 0x80) // of a character that is not ASCII
         ++size;
      return rest.substr(0, size);
   }
   bool take(std::string_view wanted) {
      if (peek() != wanted) return false;
      at_ += wanted.size();
      return true;
   }
   void expect(std::string_view wanted) {
      if (!take(wanted)) refuseToken();
   }

   // ---- parts ----

   std::vector<std::string_view> numbers() {
      std::vector<std::string_view> found;
      do {
         const std::string_view number = peek();
         if (numberSize(number) == 0) refuseToken();
         found.push_back(number);
         at_ += number.size();
      } while (take(","));
      return found;
   }
   std::vector<std::string_view> corner() {
      expect("(");
      if (take(")")) return {};
      std::vector<std::string_view> found = numbers();
      expect(")");
      return found;
   }
   static std::string written(const std::vector<std::string_view>& numbers) {
      std::string text;
      for (const std::string_view number : numbers)
         text.append(text.empty() ? "" : ",").append(number);
      return text;
   }
   static std::vector<double> valuesOf(const std::vector<std::string_view>& numbers) {
      std::vector<double> values;
      for (const std::string_view number : numbers)
         if (parseDouble(number, values.emplace_back()) == ParseStatus::OutOfRange)
            throw SqlError(sqlstate::numericValueOutOfRange,
                           '"' + std::string(number) + "\" is out of range for type double precision");
      return values;
   }
   static std::string box(const std::vector<std::string_view>& first, const std::vector<std::string_view>& second) {
      if (first.size() != second.size())
         refuse("Different point dimensions in (" + written(first) + ") and (" + written(second) + ").");
      requireDimensions(first.size());
      return CubeCorners{valuesOf(first), valuesOf(second)}.stored();
   }

   const std::string_view text_;
   size_t at_ = 0;
};

void appendRounded(std::string& out, const void* value, int32_t extraFloatDigits) {
   const auto bytes = valueAt<StringView>(value);
   const CubeView cube(bytes.view());
   const auto append = [&](bool isSecond) {
      out += '(';
      for (uint32_t i = 0; i < cube.dimensions(); ++i) {
         if (i > 0) out += ", ";
         appendDouble(out, isSecond ? cube.second(i) : cube.first(i), extraFloatDigits);
      }
      out += ')';
   };
   append(false);
   if (cube.hasOnePoint()) return;
   out += ',';
   append(true);
}

// ---- binary form: the number of dimensions, its highest bit set for a point; the coordinates ----

constexpr uint32_t pointBit = 1u << 31;

void send(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const CubeView cube(bytes.view());
   appendBig(out, cube.dimensions() | (cube.isPoint() ? pointBit : 0));
   for (uint32_t i = 0; i < cube.dimensions(); ++i)
      appendBig(out, std::bit_cast<uint64_t>(cube.first(i)));
   for (uint32_t i = 0; i < cube.dimensions() && !cube.isPoint(); ++i)
      appendBig(out, std::bit_cast<uint64_t>(cube.second(i)));
}

void receive(void* target, std::string_view bytes, int32_t, Arena& arena) {
   WireReader reader(bytes);
   const auto header = reader.take<uint32_t>();
   const uint32_t dimensions = header & ~pointBit;
   const bool isPoint = (header & pointBit) != 0;
   if (dimensions > cubeDimensionsMax)
      throw SqlError(sqlstate::programLimitExceeded, "cube dimension is too large")
          .detail("A cube cannot have more than " + std::to_string(cubeDimensionsMax) + " dimensions.");
   CubeCorners corners;
   const auto take = [&](std::vector<double>& values) {
      for (uint32_t i = 0; i < dimensions; ++i)
         values.push_back(std::bit_cast<double>(reader.take<uint64_t>()));
   };
   take(corners.first);
   if (!isPoint) take(corners.second);
   reader.finish();
   putValue(target, arena.copyString(corners.stored(isPoint)));
}

} // namespace

const TypeForm cubeForm{
    .oid = oid::cube,
    .wireSize = -1,
    .textGrowth = 4,
    .appendText = [](std::string& out, const void* value) { appendRounded(out, value, 1); },
    .parseText = [](void* target, std::string_view text, int32_t,
                    Arena& arena) { putValue(target, arena.copyString(CubeParser(text).run())); },
    .appendBinary = send,
    .parseBinary = receive,
    .appendRounded = appendRounded,
};

} // namespace ouzel
