#include "common/base_type/geometry.hpp"

#include <utility>

#include "common/base_type/geometry_bytes.hpp"
#include "common/base_type/geometry_reader.hpp"
#include "common/base_type/wire.hpp"

namespace ouzel {

namespace {

/// PostgreSQL's order of floats: NaN is the largest.
bool isGreater(double a, double b) {
   return b == b && (a != a || a > b);
}

void append(std::string& out, const Box& box, int32_t extraFloatDigits) {
   appendPoint(out, box.high, extraFloatDigits);
   out.push_back(',');
   appendPoint(out, box.low, extraFloatDigits);
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
   return readGeometry<Point>(value);
}
Box readBox(StringView value) {
   return readGeometry<Box>(value);
}
StringView pointValue(const Point& point, Arena& arena) {
   return geometryValue(point, arena);
}
StringView boxValue(const Box& box, Arena& arena) {
   return geometryValue(box, arena);
}

const TypeForm pointForm{
    .oid = oid::point,
    .wireSize = 16,
    .textGrowth = 4,
    .appendText = [](std::string& out, const void* v) { appendPoint(out, readPoint(valueAt<StringView>(v)), 1); },
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
                        int32_t digits) { appendPoint(out, readPoint(valueAt<StringView>(v)), digits); },
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
