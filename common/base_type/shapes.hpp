#pragma once
#include <vector>

#include "common/base_type/geometry.hpp"

// lseg, line, path, polygon and circle. A value lies as little-endian doubles: the two ends of an lseg; A, B and C of
// the line Ax + By + C = 0; a polygon's points; a path's points behind one number, 1 if it is closed and 0 if not; a
// circle's center and radius. As with points there is no order.

namespace ouzel {

extern const TypeForm lsegForm, lineForm, pathForm, polygonForm, circleForm;

struct Segment {
   Point first, second;
};
struct Line {
   double a = 0, b = 0, c = 0;
   /// Through a point. An infinite slope: upright.
   static Line through(const Point& point, double slope);
};
struct Circle {
   Point center;
   double radius = 0;
};
struct Path {
   bool isClosed = false;
   std::vector<Point> points;
};

Segment readSegment(StringView value);
Line readLine(StringView value);
Circle readCircle(StringView value);
Path readPath(StringView value);
std::vector<Point> readPolygon(StringView value);
StringView segmentValue(const Segment& segment, Arena& arena);
StringView lineValue(const Line& line, Arena& arena);
StringView circleValue(const Circle& circle, Arena& arena);
StringView pathValue(const Path& path, Arena& arena);
StringView polygonValue(const std::vector<Point>& points, Arena& arena);

/// Two coordinates that operators take as equal: they differ by no more than a millionth.
bool isSameCoordinate(double a, double b);
/// As PostgreSQL's point_sl(): infinite for an upright pair of points.
double slopeOf(const Point& a, const Point& b);

} // namespace ouzel
