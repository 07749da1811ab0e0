#include "common/base_type/geometry.hpp"

#include <charconv>
#include <utility>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

/// PostgreSQL's order of floats: NaN is the largest.
bool isGreater(double a, double b) {
   return b == b && (a != a || a > b);
}

/// Reads points from left to right, as pair_decode() and path_decode().
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
   /// Two points, perhaps in parentheses of their own.
   std::pair<Point, Point> corners() {
      skipBlanks();
      bool isEnclosed = false;
      if (peek() == '[') fail();
      if (peek() == '(') {
         const size_t next = rest_.find_first_not_of(" \t\n\r\f\v", 1);
         const bool hasInner = next != std::string_view::npos && rest_[next] == '(';
         isEnclosed = hasInner || rest_.rfind('(') == 0;
         if (isEnclosed) rest_.remove_prefix(next == std::string_view::npos ? rest_.size() : next);
      }
      std::pair<Point, Point> both;
      both.first = pair();
      take(',');
      both.second = pair();
      take(',');
      if (isEnclosed) {
         if (!take(')')) fail();
         skipBlanks();
      }
      return both;
   }
   void finish() const {
      if (!rest_.empty()) fail();
   }

private:
   char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
   bool take(char c) {
      if (peek() != c) return false;
      rest_.remove_prefix(1);
      return true;
   }
   void skipBlanks() {
      while (!rest_.empty() && isBlank(rest_.front()))
         rest_.remove_prefix(1);
   }
   double number() {
      skipBlanks();
      size_t size = rest_.find_first_of("(),[] \t\n\r\f\v");
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
   [[noreturn]] void fail() const { throwInvalidSyntax(type_, text_); }

   const char* type_;
   const std::string_view text_;
   std::string_view rest_;
};

void append(std::string& out, const Point& point, int32_t extraFloatDigits) {
   out.push_back('(');
   appendDouble(out, point.x, extraFloatDigits);
   out.push_back(',');
   appendDouble(out, point.y, extraFloatDigits);
   out.push_back(')');
}
void append(std::string& out, const Box& box, int32_t extraFloatDigits) {
   append(out, box.high, extraFloatDigits);
   out.push_back(',');
   append(out, box.low, extraFloatDigits);
}

void appendWire(std::string& out, double value) {
   appendBig(out, std::bit_cast<uint64_t>(value));
}
Point takePoint(WireReader& reader) {
   Point point;
   point.x = std::bit_cast<double>(reader.take<uint64_t>());
   point.y = std::bit_cast<double>(reader.take<uint64_t>());
   return point;
}

template <typename T>
T readAs(StringView value) {
   T result;
   if (value.size() != sizeof result) throwInternal("malformed geometric value");
   std::memcpy(&result, value.data(), sizeof result);
   return result;
}
template <typename T>
StringView valueOf(const T& value, Arena& arena) {
   return arena.copyString({reinterpret_cast<const char*>(&value), sizeof value});
}

} // namespace

static_assert(sizeof(Point) == 16 && sizeof(Box) == 32);

Box Box::of(const Point& a, const Point& b) {
   Box box{a, b};
   if (isGreater(b.x, a.x)) std::swap(box.high.x, box.low.x);
   if (isGreater(b.y, a.y)) std::swap(box.high.y, box.low.y);
   return box;
}

Point readPoint(StringView value) {
   return readAs<Point>(value);
}
Box readBox(StringView value) {
   return readAs<Box>(value);
}
StringView pointValue(const Point& point, Arena& arena) {
   return valueOf(point, arena);
}
StringView boxValue(const Box& box, Arena& arena) {
   return valueOf(box, arena);
}

const TypeForm pointForm{
    .oid = oid::point,
    .wireSize = 16,
    .textGrowth = 4,
    .appendText = [](std::string& out, const void* v) { append(out, readPoint(valueAt<StringView>(v)), 1); },
    .parseText =
        [](void* target, std::string_view text, int32_t, Arena& arena) {
           GeometryReader reader("point", text);
           const Point point = reader.pair();
           reader.finish();
           putValue(target, pointValue(point, arena));
        },
    .appendBinary =
        [](std::string& out, const void* v) {
           const Point point = readPoint(valueAt<StringView>(v));
           appendWire(out, point.x);
           appendWire(out, point.y);
        },
    .parseBinary =
        [](void* target, std::string_view bytes, int32_t, Arena& arena) {
           WireReader reader(bytes);
           const Point point = takePoint(reader);
           reader.finish();
           putValue(target, pointValue(point, arena));
        },
    .appendRounded = [](std::string& out, const void* v,
                        int32_t digits) { append(out, readPoint(valueAt<StringView>(v)), digits); },
    .isOrdered = false};

const TypeForm boxForm{
    .oid = oid::box,
    .wireSize = 32,
    .textGrowth = 4,
    .appendText = [](std::string& out, const void* v) { append(out, readBox(valueAt<StringView>(v)), 1); },
    .parseText =
        [](void* target, std::string_view text, int32_t, Arena& arena) {
           GeometryReader reader("box", text);
           const auto [a, b] = reader.corners();
           reader.finish();
           putValue(target, boxValue(Box::of(a, b), arena));
        },
    .appendBinary =
        [](std::string& out, const void* v) {
           const Box box = readBox(valueAt<StringView>(v));
           for (const double coordinate : {box.high.x, box.high.y, box.low.x, box.low.y})
              appendWire(out, coordinate);
        },
    .parseBinary =
        [](void* target, std::string_view bytes, int32_t, Arena& arena) {
           WireReader reader(bytes);
           const Point a = takePoint(reader), b = takePoint(reader);
           reader.finish();
           putValue(target, boxValue(Box::of(a, b), arena));
        },
    .appendRounded = [](std::string& out, const void* v,
                        int32_t digits) { append(out, readBox(valueAt<StringView>(v)), digits); },
    .isOrdered = false};

} // namespace ouzel
