#include "common/base_type/shapes.hpp"

#include <numbers>

#include "executor/function/base_type/coordinates.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions and operators of segments, lines, paths, polygons and circles, as PostgreSQL's geo_ops.c computes them.
// What is closest to what, and how polygons lie to each other, is not here.

namespace ouzel::executor {

namespace {

using namespace geometry;

template <auto read, auto measure>
auto measured(const StringView& value) {
   return measure(read(value));
}
template <auto read, auto test>
bool related(const StringView& a, const StringView& b) {
   return test(read(a), read(b));
}
/// Compares what is measured of two values.
template <auto read, auto measure, auto compare>
bool compared(const StringView& a, const StringView& b) {
   return compare(measure(read(a)), measure(read(b)));
}
/// The operators <, <=, =, >= and > by what is measured.
template <auto read, auto measure>
void addComparisons(const std::string& prefix) {
   addKernel<compared<read, measure, less>>(prefix + "lt");
   addKernel<compared<read, measure, lessOrSame>>(prefix + "le");
   addKernel<compared<read, measure, greaterOrSame>>(prefix + "ge");
   addKernel<compared<read, measure, greater>>(prefix + "gt");
}

Point middle(const Point& a, const Point& b) {
   return {dividedBy(plus(a.x, b.x), 2), dividedBy(plus(a.y, b.y), 2)};
}

// ---- segments and lines ----

double lengthOf(const Segment& segment) {
   return distance(segment.first, segment.second);
}
double slopeOfSegment(const Segment& segment) {
   return slopeOf(segment.first, segment.second);
}
/// The slope of what stands upright on it.
double uprightSlope(const Segment& segment) {
   const Point &a = segment.first, &b = segment.second;
   if (same(a.x, b.x)) return 0;
   return same(a.y, b.y) ? std::numeric_limits<double>::infinity() : dividedBy(minus(a.x, b.x), minus(b.y, a.y));
}
bool isOn(const Segment& segment, const Point& point) {
   return same(plus(distance(point, segment.first), distance(point, segment.second)), lengthOf(segment));
}
bool isParallel(const Segment& a, const Segment& b) {
   return same(slopeOfSegment(a), slopeOfSegment(b));
}
bool isPerpendicular(const Segment& a, const Segment& b) {
   return same(slopeOfSegment(a), uprightSlope(b));
}
bool isHorizontal(const Segment& segment) {
   return same(segment.first.y, segment.second.y);
}
bool isVertical(const Segment& segment) {
   return same(segment.first.x, segment.second.x);
}
bool isSameSegment(const Segment& a, const Segment& b) {
   return samePoint(a.first, b.first) && samePoint(a.second, b.second);
}

/// nullopt: the lines are parallel.
std::optional<Point> crossing(const Line& l, const Line& m) {
   const bool isUpright = same(l.b, 0);
   if (isUpright && same(m.b, 0)) return std::nullopt;
   const Line &by = isUpright ? m : l, &other = isUpright ? l : m; // by.b is not 0
   if (same(other.a, times(by.a, dividedBy(other.b, by.b)))) return std::nullopt;
   const double x =
       dividedBy(minus(times(by.b, other.c), times(other.b, by.c)), minus(times(by.a, other.b), times(other.a, by.b)));
   const double y = dividedBy(-plus(times(by.a, x), by.c), by.b);
   return Point{x == 0 ? 0 : x, y == 0 ? 0 : y};
}
Line lineOf(const Segment& segment) {
   return Line::through(segment.first, slopeOfSegment(segment));
}
std::optional<Point> crossing(const Segment& a, const Segment& b) {
   const std::optional<Point> point = crossing(lineOf(a), lineOf(b));
   if (!point || !isOn(a, *point) || !isOn(b, *point)) return std::nullopt;
   return point;
}
bool meetsBox(const Segment& segment, const Box& box) {
   const Box around = Box::of(segment.first, segment.second);
   if (!(lessOrSame(around.low.x, box.high.x) && lessOrSame(box.low.x, around.high.x) &&
         lessOrSame(around.low.y, box.high.y) && lessOrSame(box.low.y, around.high.y)))
      return false;
   const auto isInside = [&](const Point& point) {
      return box.high.x >= point.x && box.low.x <= point.x && box.high.y >= point.y && box.low.y <= point.y;
   };
   if (isInside(segment.first) || isInside(segment.second)) return true;
   const Point upperLeft{box.low.x, box.high.y}, lowerRight{box.high.x, box.low.y};
   for (const Segment& side : {Segment{box.low, upperLeft}, Segment{upperLeft, box.high}, Segment{lowerRight, box.high},
                               Segment{box.low, lowerRight}})
      if (crossing(side, segment)) return true;
   return false;
}

StringView constructSegment(const StringView& a, const StringView& b, KernelEnv& env) {
   return segmentValue({readPoint(a), readPoint(b)}, env.strings);
}
StringView diagonal(const StringView& box, KernelEnv& env) {
   const Box value = readBox(box);
   return segmentValue({value.high, value.low}, env.strings);
}
StringView segmentCenter(const StringView& segment, KernelEnv& env) {
   const Segment value = readSegment(segment);
   return pointValue(middle(value.first, value.second), env.strings);
}
bool segmentMeets(const StringView& a, const StringView& b) {
   return crossing(readSegment(a), readSegment(b)).has_value();
}
std::optional<StringView> segmentCrossing(const StringView& a, const StringView& b, KernelEnv& env) {
   const std::optional<Point> point = crossing(readSegment(a), readSegment(b));
   return point ? std::optional(pointValue(*point, env.strings)) : std::nullopt;
}
bool segmentMeetsBox(const StringView& segment, const StringView& box) {
   return meetsBox(readSegment(segment), readBox(box));
}
bool isPointOnSegment(const StringView& point, const StringView& segment) {
   return isOn(readSegment(segment), readPoint(point));
}
StringView constructLine(const StringView& a, const StringView& b, KernelEnv& env) {
   const Point first = readPoint(a), second = readPoint(b);
   if (samePoint(first, second))
      throw SqlError(sqlstate::invalidParameterValue, "invalid line specification: must be two distinct points");
   return lineValue(Line::through(first, slopeOf(first, second)), env.strings);
}
bool linesMeet(const StringView& a, const StringView& b) {
   return crossing(readLine(a), readLine(b)).has_value();
}
bool linesAreParallel(const StringView& a, const StringView& b) {
   return !linesMeet(a, b);
}
std::optional<StringView> lineCrossing(const StringView& a, const StringView& b, KernelEnv& env) {
   const std::optional<Point> point = crossing(readLine(a), readLine(b));
   return point ? std::optional(pointValue(*point, env.strings)) : std::nullopt;
}
bool isPointOnLine(const StringView& point, const StringView& line) {
   const Point at = readPoint(point);
   const Line value = readLine(line);
   return same(plus(plus(times(value.a, at.x), times(value.b, at.y)), value.c), 0);
}

/// Lines are the same whose numbers are proportional; ones with NaN, whose numbers are.
bool isSameLine(const Line& a, const Line& b) {
   const double numbers[] = {a.a, a.b, a.c, b.a, b.b, b.c};
   if (std::ranges::any_of(numbers, [](double number) { return std::isnan(number); })) {
      const auto equal = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
      return equal(a.a, b.a) && equal(a.b, b.b) && equal(a.c, b.c);
   }
   double ratio = 1;
   if (!same(b.a, 0))
      ratio = dividedBy(a.a, b.a);
   else if (!same(b.b, 0))
      ratio = dividedBy(a.b, b.b);
   else if (!same(b.c, 0))
      ratio = dividedBy(a.c, b.c);
   return same(a.a, times(ratio, b.a)) && same(a.b, times(ratio, b.b)) && same(a.c, times(ratio, b.c));
}

void registerSegments() {
   addKernel<constructSegment>("lseg_construct");
   addKernel<diagonal>("box_diagonal");
   addKernel<segmentCenter>("lseg_center");
   addKernel<measured<readSegment, lengthOf>>("lseg_length");
   addKernel<measured<readSegment, isHorizontal>>("lseg_horizontal");
   addKernel<measured<readSegment, isVertical>>("lseg_vertical");
   addKernel<related<readSegment, isParallel>>("lseg_parallel");
   addKernel<related<readSegment, isPerpendicular>>("lseg_perp");
   addKernel<related<readSegment, isSameSegment>>("lseg_eq");
   addKernel<related<readSegment, [](const Segment& a, const Segment& b) { return !isSameSegment(a, b); }>>("lseg_ne");
   addComparisons<readSegment, lengthOf>("lseg_");
   addKernel<segmentMeets>("lseg_intersect");
   addKernel<segmentCrossing>("lseg_interpt");
   addKernel<segmentMeetsBox>("inter_sb");
   addKernel<isPointOnSegment>("on_ps");
   addKernel<constructLine>("line_construct_pp");
   addKernel<linesMeet>("line_intersect");
   addKernel<linesAreParallel>("line_parallel");
   addKernel<lineCrossing>("line_interpt");
   addKernel<isPointOnLine>("on_pl");
   addKernel<related<readLine, isSameLine>>("line_eq");
   addKernel<measured<readLine, [](const Line& line) { return same(line.a, 0); }>>("line_horizontal");
   addKernel<measured<readLine, [](const Line& line) { return same(line.b, 0); }>>("line_vertical");
}

// ---- paths and polygons ----

int32_t pointsOf(const Path& path) {
   return static_cast<int32_t>(path.points.size());
}
double pathLength(const StringView& value) {
   const Path path = readPath(value);
   double length = 0;
   for (size_t i = path.isClosed ? 0 : 1; i < path.points.size(); ++i)
      length = plus(length, distance(path.points[i == 0 ? path.points.size() - 1 : i - 1], path.points[i]));
   return length;
}
std::optional<double> pathArea(const StringView& value) {
   const Path path = readPath(value);
   if (!path.isClosed) return std::nullopt;
   double area = 0;
   for (size_t i = 0; i < path.points.size(); ++i) {
      const Point &a = path.points[i], &b = path.points[(i + 1) % path.points.size()];
      area = minus(plus(area, times(a.x, b.y)), times(a.y, b.x));
   }
   return dividedBy(std::fabs(area), 2);
}
template <bool isClosed>
StringView withEnds(const StringView& value, KernelEnv& env) {
   Path path = readPath(value);
   path.isClosed = isClosed;
   return pathValue(path, env.strings);
}
std::optional<StringView> joined(const StringView& first, const StringView& second, KernelEnv& env) {
   Path a = readPath(first);
   const Path b = readPath(second);
   if (a.isClosed || b.isClosed) return std::nullopt;
   a.points.insert(a.points.end(), b.points.begin(), b.points.end());
   return pathValue(a, env.strings);
}
StringView polygonOfPath(const StringView& value, KernelEnv& env) {
   const Path path = readPath(value);
   if (!path.isClosed) throw SqlError(sqlstate::invalidParameterValue, "open path cannot be converted to polygon");
   return polygonValue(path.points, env.strings);
}
StringView pathOfPolygon(const StringView& polygon, KernelEnv& env) {
   return pathValue({true, readPolygon(polygon)}, env.strings);
}
int32_t polygonPoints(const StringView& polygon) {
   return static_cast<int32_t>(readPolygon(polygon).size());
}
StringView polygonOfBox(const StringView& value, KernelEnv& env) {
   const Box box = readBox(value);
   return polygonValue({box.low, {box.low.x, box.high.y}, box.high, {box.high.x, box.low.y}}, env.strings);
}
StringView boxOfPolygon(const StringView& polygon, KernelEnv& env) {
   const std::vector<Point> points = readPolygon(polygon);
   if (points.empty()) throwInternal("a polygon without points");
   Box box{points[0], points[0]};
   for (const Point& point : points) {
      box.high = {std::max(box.high.x, point.x), std::max(box.high.y, point.y)};
      box.low = {std::min(box.low.x, point.x), std::min(box.low.y, point.y)};
   }
   return boxValue(box, env.strings);
}
/// The means of the points, and of their distances from there.
Circle circleOf(const std::vector<Point>& points) {
   Circle circle;
   for (const Point& point : points)
      circle.center = {plus(circle.center.x, point.x), plus(circle.center.y, point.y)};
   const auto count = static_cast<double>(points.size());
   circle.center = {dividedBy(circle.center.x, count), dividedBy(circle.center.y, count)};
   for (const Point& point : points)
      circle.radius = plus(circle.radius, distance(point, circle.center));
   circle.radius = dividedBy(circle.radius, count);
   return circle;
}
StringView circleOfPolygon(const StringView& polygon, KernelEnv& env) {
   return circleValue(circleOf(readPolygon(polygon)), env.strings);
}
StringView centerOfPolygon(const StringView& polygon, KernelEnv& env) {
   return pointValue(circleOf(readPolygon(polygon)).center, env.strings);
}

/// Polygons are the same that have the same points in the same order, from whichever point on, in either direction.
bool isSamePolygon(const std::vector<Point>& a, const std::vector<Point>& b) {
   const size_t count = a.size();
   if (b.size() != count) return false;
   for (size_t start = 0; start < count; ++start) {
      bool forward = true, backward = true;
      for (size_t i = 0; (forward || backward) && i < count; ++i) {
         forward = forward && samePoint(a[i], b[(start + i) % count]);
         backward = backward && samePoint(a[i], b[(start + count - i) % count]);
      }
      if (forward || backward) return true;
   }
   return false;
}

void registerPaths() {
   addKernel<measured<readPath, pointsOf>>("path_npoints");
   addKernel<measured<readPath, [](const Path& path) { return path.isClosed; }>>("path_isclosed");
   addKernel<measured<readPath, [](const Path& path) { return !path.isClosed; }>>("path_isopen");
   addKernel<compared<readPath, pointsOf, std::equal_to<int32_t>{}>>("path_n_eq");
   addKernel<compared<readPath, pointsOf, std::less<int32_t>{}>>("path_n_lt");
   addKernel<compared<readPath, pointsOf, std::less_equal<int32_t>{}>>("path_n_le");
   addKernel<compared<readPath, pointsOf, std::greater<int32_t>{}>>("path_n_gt");
   addKernel<compared<readPath, pointsOf, std::greater_equal<int32_t>{}>>("path_n_ge");
   addKernel<pathLength>("path_length");
   addKernel<pathArea>("path_area");
   addKernel<withEnds<true>>("path_close");
   addKernel<withEnds<false>>("path_open");
   addKernel<joined>("path_add");
   addKernel<polygonOfPath>("path_poly");
   addKernel<pathOfPolygon>("poly_path");
   addKernel<polygonPoints>("poly_npoints");
   addKernel<related<readPolygon, isSamePolygon>>("poly_same");
   addKernel<polygonOfBox>("box_poly");
   addKernel<boxOfPolygon>("poly_box");
   addKernel<circleOfPolygon>("poly_circle");
   addKernel<centerOfPolygon>("poly_center");
}

// ---- circles ----

double areaOf(const Circle& circle) {
   return times(times(circle.radius, circle.radius), std::numbers::pi);
}
double between(const Circle& a, const Circle& b) {
   return distance(a.center, b.center);
}
bool hasCircle(const Circle& a, const Circle& b) {
   return lessOrSame(between(a, b), minus(a.radius, b.radius));
}
bool isSameCircle(const Circle& a, const Circle& b) {
   return ((std::isnan(a.radius) && std::isnan(b.radius)) || same(a.radius, b.radius)) && samePoint(a.center, b.center);
}
StringView constructCircle(const StringView& center, double radius, KernelEnv& env) {
   return circleValue({readPoint(center), radius}, env.strings);
}
StringView circleCenter(const StringView& circle, KernelEnv& env) {
   return pointValue(readCircle(circle).center, env.strings);
}
StringView boxOfCircle(const StringView& value, KernelEnv& env) {
   const Circle circle = readCircle(value);
   const double side = dividedBy(circle.radius, std::numbers::sqrt2);
   return boxValue({{plus(circle.center.x, side), plus(circle.center.y, side)},
                    {minus(circle.center.x, side), minus(circle.center.y, side)}},
                   env.strings);
}
StringView circleOfBox(const StringView& value, KernelEnv& env) {
   const Box box = readBox(value);
   const Point center = middle(box.high, box.low);
   return circleValue({center, distance(center, box.high)}, env.strings);
}
bool circleHasPoint(const StringView& circle, const StringView& point) {
   const Circle value = readCircle(circle);
   return distance(value.center, readPoint(point)) <= value.radius;
}
bool isInCircle(const StringView& point, const StringView& circle) {
   return circleHasPoint(circle, point);
}
double circleDistance(const StringView& first, const StringView& second) {
   const Circle a = readCircle(first), b = readCircle(second);
   return std::max(0.0, minus(between(a, b), plus(a.radius, b.radius)));
}
double pointToCircle(const StringView& point, const StringView& circle) {
   const Circle value = readCircle(circle);
   return std::max(0.0, minus(distance(readPoint(point), value.center), value.radius));
}
double circleToPoint(const StringView& circle, const StringView& point) {
   return pointToCircle(point, circle);
}
template <auto combine>
StringView movedCircle(const StringView& circle, const StringView& by, KernelEnv& env) {
   Circle value = readCircle(circle);
   const Point point = readPoint(by);
   value.center = {combine(value.center.x, point.x), combine(value.center.y, point.y)};
   return circleValue(value, env.strings);
}
double left(const Circle& circle) {
   return minus(circle.center.x, circle.radius);
}
double right(const Circle& circle) {
   return plus(circle.center.x, circle.radius);
}
double bottom(const Circle& circle) {
   return minus(circle.center.y, circle.radius);
}
double top(const Circle& circle) {
   return plus(circle.center.y, circle.radius);
}
/// Compares a border of one circle with a border of the other.
template <auto border, auto compare, auto otherBorder>
bool lies(const StringView& a, const StringView& b) {
   return compare(border(readCircle(a)), otherBorder(readCircle(b)));
}

void registerCircles() {
   addKernel<constructCircle>("cr_circle");
   addKernel<circleCenter>("circle_center");
   addKernel<measured<readCircle, [](const Circle& circle) { return circle.radius; }>>("circle_radius");
   addKernel<measured<readCircle, [](const Circle& circle) { return times(circle.radius, 2); }>>("circle_diameter");
   addKernel<measured<readCircle, areaOf>>("circle_area");
   addComparisons<readCircle, areaOf>("circle_");
   addKernel<compared<readCircle, areaOf, same>>("circle_eq");
   addKernel<compared<readCircle, areaOf, [](double a, double b) { return !same(a, b); }>>("circle_ne");
   addKernel<related<readCircle, isSameCircle>>("circle_same");
   addKernel<related<readCircle, hasCircle>>("circle_contain");
   addKernel<related<readCircle, [](const Circle& a, const Circle& b) { return hasCircle(b, a); }>>("circle_contained");
   addKernel<related<readCircle, [](const Circle& a, const Circle& b) {
      return lessOrSame(between(a, b), plus(a.radius, b.radius));
   }>>("circle_overlap");
   addKernel<lies<right, less, left>>("circle_left");
   addKernel<lies<right, lessOrSame, right>>("circle_overleft");
   addKernel<lies<left, greater, right>>("circle_right");
   addKernel<lies<left, greaterOrSame, left>>("circle_overright");
   addKernel<lies<top, less, bottom>>("circle_below");
   addKernel<lies<top, lessOrSame, top>>("circle_overbelow");
   addKernel<lies<bottom, greater, top>>("circle_above");
   addKernel<lies<bottom, greaterOrSame, bottom>>("circle_overabove");
   addKernel<circleHasPoint>("circle_contain_pt");
   addKernel<isInCircle>("pt_contained_circle");
   addKernel<circleDistance>("circle_distance");
   addKernel<pointToCircle>("dist_pc");
   addKernel<circleToPoint>("dist_cpoint");
   addKernel<movedCircle<plus>>("circle_add_pt");
   addKernel<movedCircle<minus>>("circle_sub_pt");
   addKernel<boxOfCircle>("circle_box");
   addKernel<circleOfBox>("box_circle");
}

} // namespace

void registerShapes() {
   registerSegments();
   registerPaths();
   registerCircles();
}

} // namespace ouzel::executor
