#include "common/base_type/geometry.hpp"

#include "executor/function/base_type/coordinates.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions and operators of points and boxes, as PostgreSQL's geo_ops.c computes them.

namespace ouzel::executor {

namespace {

using namespace geometry;

// ---- points ----

Point added(const Point& a, const Point& b) {
   return {plus(a.x, b.x), plus(a.y, b.y)};
}
Point subtracted(const Point& a, const Point& b) {
   return {minus(a.x, b.x), minus(a.y, b.y)};
}
Point multiplied(const Point& a, const Point& b) {
   return {minus(times(a.x, b.x), times(a.y, b.y)), plus(times(a.x, b.y), times(a.y, b.x))};
}
Point divided(const Point& a, const Point& b) {
   const double square = plus(times(b.x, b.x), times(b.y, b.y));
   return {dividedBy(plus(times(a.x, b.x), times(a.y, b.y)), square),
           dividedBy(minus(times(a.y, b.x), times(a.x, b.y)), square)};
}

StringView construct(double x, double y, KernelEnv& env) {
   return pointValue({x, y}, env.strings);
}
template <auto combine>
StringView combinedPoints(const StringView& a, const StringView& b, KernelEnv& env) {
   return pointValue(combine(readPoint(a), readPoint(b)), env.strings);
}
template <auto test>
bool relatedPoints(const StringView& a, const StringView& b) {
   return test(readPoint(a), readPoint(b));
}
double pointDistance(const StringView& a, const StringView& b) {
   return distance(readPoint(a), readPoint(b));
}
double slope(const StringView& first, const StringView& second) {
   const Point a = readPoint(first), b = readPoint(second);
   if (same(a.x, b.x)) return std::numeric_limits<double>::infinity();
   if (same(a.y, b.y)) return 0;
   return dividedBy(minus(a.y, b.y), minus(a.x, b.x));
}
std::optional<double> coordinate(const StringView& point, int32_t index) {
   const Point value = readPoint(point);
   return index == 0 ? std::optional(value.x) : index == 1 ? std::optional(value.y) : std::nullopt;
}

void registerPoint() {
   addKernel<construct>("construct_point");
   addKernel<combinedPoints<added>>("point_add");
   addKernel<combinedPoints<subtracted>>("point_sub");
   addKernel<combinedPoints<multiplied>>("point_mul");
   addKernel<combinedPoints<divided>>("point_div");
   addKernel<relatedPoints<samePoint>>("point_eq");
   addKernel<relatedPoints<[](const Point& a, const Point& b) { return !samePoint(a, b); }>>("point_ne");
   addKernel<relatedPoints<[](const Point& a, const Point& b) { return less(a.x, b.x); }>>("point_left");
   addKernel<relatedPoints<[](const Point& a, const Point& b) { return greater(a.x, b.x); }>>("point_right");
   addKernel<relatedPoints<[](const Point& a, const Point& b) { return greater(a.y, b.y); }>>("point_above");
   addKernel<relatedPoints<[](const Point& a, const Point& b) { return less(a.y, b.y); }>>("point_below");
   addKernel<relatedPoints<[](const Point& a, const Point& b) { return same(a.x, b.x); }>>("point_vert");
   addKernel<relatedPoints<[](const Point& a, const Point& b) { return same(a.y, b.y); }>>("point_horiz");
   addKernel<pointDistance>("point_distance");
   addKernel<slope>("point_slope");
   addKernel<coordinate>("ouzel_point_part");
}

// ---- boxes ----

double width(const Box& box) {
   return minus(box.high.x, box.low.x);
}
double height(const Box& box) {
   return minus(box.high.y, box.low.y);
}
double area(const Box& box) {
   return times(width(box), height(box));
}
Point center(const Box& box) {
   return {dividedBy(plus(box.high.x, box.low.x), 2), dividedBy(plus(box.high.y, box.low.y), 2)};
}
bool overlap(const Box& a, const Box& b) {
   return lessOrSame(a.low.x, b.high.x) && lessOrSame(b.low.x, a.high.x) && lessOrSame(a.low.y, b.high.y) &&
          lessOrSame(b.low.y, a.high.y);
}
bool hasBox(const Box& a, const Box& b) {
   return greaterOrSame(a.high.x, b.high.x) && lessOrSame(a.low.x, b.low.x) && greaterOrSame(a.high.y, b.high.y) &&
          lessOrSame(a.low.y, b.low.y);
}
bool hasPoint(const Box& box, const Point& point) {
   return box.high.x >= point.x && box.low.x <= point.x && box.high.y >= point.y && box.low.y <= point.y;
}
/// The point of the box that is closest.
Point closest(const Box& box, const Point& point) {
   return {std::clamp(point.x, box.low.x, box.high.x), std::clamp(point.y, box.low.y, box.high.y)};
}

template <auto measure>
double measured(const StringView& box) {
   return measure(readBox(box));
}
template <auto test>
bool relatedBoxes(const StringView& a, const StringView& b) {
   return test(readBox(a), readBox(b));
}
template <auto compare>
bool comparedAreas(const StringView& a, const StringView& b) {
   return compare(area(readBox(a)), area(readBox(b)));
}
template <auto combine>
StringView movedBox(const StringView& box, const StringView& by, KernelEnv& env) {
   const Box value = readBox(box);
   const Point point = readPoint(by);
   return boxValue(Box::of(combine(value.high, point), combine(value.low, point)), env.strings);
}
StringView centerOf(const StringView& box, KernelEnv& env) {
   return pointValue(center(readBox(box)), env.strings);
}
StringView fromPoints(const StringView& a, const StringView& b, KernelEnv& env) {
   return boxValue(Box::of(readPoint(a), readPoint(b)), env.strings);
}
StringView fromPoint(const StringView& point, KernelEnv& env) {
   return boxValue({readPoint(point), readPoint(point)}, env.strings);
}
std::optional<StringView> intersection(const StringView& first, const StringView& second, KernelEnv& env) {
   const Box a = readBox(first), b = readBox(second);
   if (!overlap(a, b)) return std::nullopt;
   return boxValue({{smaller(a.high.x, b.high.x), smaller(a.high.y, b.high.y)},
                    {larger(a.low.x, b.low.x), larger(a.low.y, b.low.y)}},
                   env.strings);
}
StringView bounds(const StringView& first, const StringView& second, KernelEnv& env) {
   const Box a = readBox(first), b = readBox(second);
   return boxValue({{larger(a.high.x, b.high.x), larger(a.high.y, b.high.y)},
                    {smaller(a.low.x, b.low.x), smaller(a.low.y, b.low.y)}},
                   env.strings);
}
double boxDistance(const StringView& a, const StringView& b) {
   return distance(center(readBox(a)), center(readBox(b)));
}
bool containsPoint(const StringView& box, const StringView& point) {
   return hasPoint(readBox(box), readPoint(point));
}
bool isOnBox(const StringView& point, const StringView& box) {
   return containsPoint(box, point);
}
double boxToPoint(const StringView& box, const StringView& point) {
   const Point from = readPoint(point);
   return distance(from, closest(readBox(box), from));
}
double pointToBox(const StringView& point, const StringView& box) {
   return boxToPoint(box, point);
}
std::optional<StringView> closestOf(const StringView& point, const StringView& box, KernelEnv& env) {
   const Point found = closest(readBox(box), readPoint(point));
   if (std::isnan(found.x) || std::isnan(found.y)) return std::nullopt;
   return pointValue(found, env.strings);
}
/// The corners that subscripts give: the upper right one, the lower left one.
std::optional<StringView> corner(const StringView& box, int32_t index, KernelEnv& env) {
   const Box value = readBox(box);
   if (index != 0 && index != 1) return std::nullopt;
   return pointValue(index == 0 ? value.high : value.low, env.strings);
}

void registerPlaces() {
   addKernel<
       relatedBoxes<[](const Box& a, const Box& b) { return samePoint(a.high, b.high) && samePoint(a.low, b.low); }>>(
       "box_same");
   addKernel<relatedBoxes<overlap>>("box_overlap");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return less(a.high.x, b.low.x); }>>("box_left");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return lessOrSame(a.high.x, b.high.x); }>>("box_overleft");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return greater(a.low.x, b.high.x); }>>("box_right");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return greaterOrSame(a.low.x, b.low.x); }>>("box_overright");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return less(a.high.y, b.low.y); }>>("box_below");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return lessOrSame(a.high.y, b.high.y); }>>("box_overbelow");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return greater(a.low.y, b.high.y); }>>("box_above");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return greaterOrSame(a.low.y, b.low.y); }>>("box_overabove");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return lessOrSame(a.high.y, b.low.y); }>>("box_below_eq");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return greaterOrSame(a.low.y, b.high.y); }>>("box_above_eq");
   addKernel<relatedBoxes<hasBox>>("box_contain");
   addKernel<relatedBoxes<[](const Box& a, const Box& b) { return hasBox(b, a); }>>("box_contained");
   addKernel<containsPoint>("box_contain_pt");
   addKernel<isOnBox>("on_pb");
}

void registerBox() {
   registerPlaces();
   addKernel<comparedAreas<same>>("box_eq");
   addKernel<comparedAreas<less>>("box_lt");
   addKernel<comparedAreas<lessOrSame>>("box_le");
   addKernel<comparedAreas<greater>>("box_gt");
   addKernel<comparedAreas<greaterOrSame>>("box_ge");
   addKernel<measured<area>>("box_area");
   addKernel<measured<width>>("box_width");
   addKernel<measured<height>>("box_height");
   addKernel<centerOf>("box_center");
   addKernel<movedBox<added>>("box_add");
   addKernel<movedBox<subtracted>>("box_sub");
   addKernel<movedBox<multiplied>>("box_mul");
   addKernel<movedBox<divided>>("box_div");
   addKernel<fromPoints>("points_box");
   addKernel<fromPoint>("point_box");
   addKernel<intersection>("box_intersect");
   addKernel<bounds>("boxes_bound_box");
   addKernel<boxDistance>("box_distance");
   addKernel<boxToPoint>("dist_bp");
   addKernel<pointToBox>("dist_pb");
   addKernel<closestOf>("close_pb");
   addKernel<corner>("ouzel_box_corner");
}

} // namespace

void registerGeometry() {
   registerPoint();
   registerBox();
}

} // namespace ouzel::executor
