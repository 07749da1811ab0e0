#pragma once
#include "common/base_type/type_form.hpp"

// point and box. A value lies as its coordinates, little-endian doubles: those of a point, or those of a box's upper
// right corner and then of its lower left one. There is no order, and equality is not that of the bytes: both types
// have operators of their own, and no operator class that sorts, groups or joins by them.

namespace ouzel {

extern const TypeForm pointForm, boxForm;

struct Point {
   double x = 0, y = 0;
};
struct Box {
   Point high, low;
   /// The box that has two corners.
   static Box of(const Point& a, const Point& b);
};

Point readPoint(StringView value);
Box readBox(StringView value);
StringView pointValue(const Point& point, Arena& arena);
StringView boxValue(const Box& box, Arena& arena);

} // namespace ouzel
