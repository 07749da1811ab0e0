#include "common/base_type/geometry.hpp"

#include <utility>

#include "common/base_type/geometry_reader.hpp"
#include "common/base_type/wire.hpp"

namespace ouzel {

namespace {

/// PostgreSQL's order of floats: NaN is the largest.
bool isGreater(double a, double b) {
   return b == b && (a != a || a > b);
}

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
           bool isOpen = false;
           const std::vector<Point> corners = reader.points(2, false, isOpen);
           reader.finish();
           putValue(target, boxValue(Box::of(corners[0], corners[1]), arena));
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
