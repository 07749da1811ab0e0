#include "common/base_type/cube.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/type/array.hpp"
#include "executor/function/extension/comparisons.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// The extension cube: points and boxes of up to 100 dimensions. A dimension that a cube does not have is 0 in it.

namespace ouzel::executor {

namespace {

CubeView cubeOf(const StringView& bytes) {
   return CubeView({bytes.data(), bytes.size()});
}

// ---- making cubes ----

void requireDimensions(size_t count, const char* message) {
   if (count > cubeDimensionsMax)
      throw SqlError(sqlstate::programLimitExceeded, message)
          .detail("A cube cannot have more than " + std::to_string(cubeDimensionsMax) + " dimensions.");
}

/// The elements of an array of numbers. Throws 2202E for NULLs.
template <typename T>
std::vector<T> numbersOf(const StringView& bytes) {
   const ArrayView array({bytes.data(), bytes.size()});
   std::vector<T> numbers;
   for (ArrayView::Cursor element(array); element.next();) {
      if (element.isNull()) throw SqlError(sqlstate::arraySubscriptError, "cannot work with arrays containing NULLs");
      numbers.push_back(element.as<T>());
   }
   return numbers;
}

StringView pointOfArray(const StringView& array, KernelEnv& env) {
   std::vector<double> coordinates = numbersOf<double>(array);
   requireDimensions(coordinates.size(), "array is too long");
   return env.copy(CubeCorners{std::move(coordinates), {}}.stored(true));
}
StringView boxOfArrays(const StringView& a, const StringView& b, KernelEnv& env) {
   const CubeCorners corners{numbersOf<double>(a), numbersOf<double>(b)};
   requireDimensions(corners.first.size(), "can't extend cube");
   if (corners.first.size() != corners.second.size())
      throw SqlError(sqlstate::arraySubscriptError, "UR and LL arrays must be of same length");
   return env.copy(corners.stored());
}
StringView pointOf(double coordinate, KernelEnv& env) {
   return env.copy(CubeCorners{{coordinate}, {}}.stored(true));
}
StringView boxOf(double a, double b, KernelEnv& env) {
   return env.copy(CubeCorners{{a}, {b}}.stored());
}

CubeCorners cornersOf(const CubeView& cube) {
   CubeCorners corners;
   for (uint32_t i = 0; i < cube.dimensions(); ++i)
      corners.add(cube.first(i), cube.second(i));
   return corners;
}
/// With one more dimension.
StringView extendedBy(const StringView& bytes, double a, double b, bool isPoint, KernelEnv& env) {
   const CubeView cube = cubeOf(bytes);
   requireDimensions(cube.dimensions() + 1, "can't extend cube");
   CubeCorners corners = cornersOf(cube);
   corners.add(a, b);
   return env.copy(corners.stored(isPoint));
}
StringView extended(const StringView& cube, double coordinate, KernelEnv& env) {
   return extendedBy(cube, coordinate, coordinate, cubeOf(cube).isPoint(), env);
}
StringView extendedBox(const StringView& cube, double a, double b, KernelEnv& env) {
   return extendedBy(cube, a, b, cubeOf(cube).isPoint() && a == b, env);
}

/// The dimensions that an array names, counted from 1, in its order.
StringView subset(const StringView& bytes, const StringView& array, KernelEnv& env) {
   const CubeView cube = cubeOf(bytes);
   const std::vector<int32_t> numbers = numbersOf<int32_t>(array);
   requireDimensions(numbers.size(), "array is too long");
   CubeCorners corners;
   for (const int32_t number : numbers) {
      if (number <= 0 || static_cast<uint32_t>(number) > cube.dimensions())
         throw SqlError(sqlstate::arraySubscriptError, "Index out of bounds");
      const auto i = static_cast<uint32_t>(number - 1);
      corners.add(cube.first(i), cube.second(i));
   }
   return env.copy(corners.stored(cube.isPoint()));
}

uint32_t dimensionsOfBoth(const CubeView& a, const CubeView& b) {
   return std::max(a.dimensions(), b.dimensions());
}

StringView unite(const StringView& a, const StringView& b, KernelEnv& env) {
   const CubeView left = cubeOf(a), right = cubeOf(b);
   CubeCorners corners;
   for (uint32_t i = 0; i < dimensionsOfBoth(left, right); ++i)
      corners.add(CubeView::smaller(left.low(i), right.low(i)), CubeView::larger(left.high(i), right.high(i)));
   return env.copy(corners.stored());
}
/// Of cubes that do not meet, a box whose first corner is beyond the second one.
StringView intersect(const StringView& a, const StringView& b, KernelEnv& env) {
   const CubeView left = cubeOf(a), right = cubeOf(b);
   CubeCorners corners;
   for (uint32_t i = 0; i < dimensionsOfBoth(left, right); ++i)
      corners.add(CubeView::larger(left.low(i), right.low(i)), CubeView::smaller(left.high(i), right.high(i)));
   return env.copy(corners.stored());
}

/// Larger by a radius in all dimensions, and in so many more as there are not yet; smaller if it is negative.
StringView enlarge(const StringView& bytes, double radius, int32_t count, KernelEnv& env) {
   const CubeView cube = cubeOf(bytes);
   const auto wanted = static_cast<uint32_t>(std::clamp(count, 0, static_cast<int32_t>(cubeDimensionsMax)));
   CubeCorners corners;
   for (uint32_t i = 0; i < cube.dimensions(); ++i) {
      const bool isSwapped = cube.first(i) >= cube.second(i);
      double low = (isSwapped ? cube.second(i) : cube.first(i)) - radius;
      double high = (isSwapped ? cube.first(i) : cube.second(i)) + radius;
      if (low > high) low = high = (low + high) / 2;
      corners.add(low, high);
   }
   for (uint32_t i = cube.dimensions(); radius > 0 && i < wanted; ++i)
      corners.add(-radius, radius);
   return env.copy(corners.stored());
}

// ---- coordinates ----

int32_t dimensions(const StringView& cube) {
   return static_cast<int32_t>(cubeOf(cube).dimensions());
}
bool isPoint(const StringView& cube) {
   return cubeOf(cube).hasOnePoint();
}
double low(const StringView& cube, int32_t number) {
   return number > 0 ? cubeOf(cube).low(static_cast<uint32_t>(number - 1)) : 0;
}
double high(const StringView& cube, int32_t number) {
   return number > 0 ? cubeOf(cube).high(static_cast<uint32_t>(number - 1)) : 0;
}
/// Coordinates of the first corner, then of the second one.
double coordinate(const StringView& bytes, int32_t number) {
   const CubeView cube = cubeOf(bytes);
   if (number <= 0 || static_cast<uint32_t>(number) > 2 * cube.dimensions())
      throw SqlError(sqlstate::arraySubscriptError, "cube index " + std::to_string(number) + " is out of bounds");
   const auto i = static_cast<uint32_t>(number - 1);
   return i < cube.dimensions() ? cube.first(i) : cube.second(i - cube.dimensions());
}
/// The lower and the upper bound of the first dimension, then of the second one, ...; negated for negative numbers.
double bound(const StringView& bytes, int32_t number) {
   if (number == 0) throw SqlError(sqlstate::arraySubscriptError, "zero cube index is not defined");
   const CubeView cube = cubeOf(bytes);
   const auto i = static_cast<uint32_t>(std::abs(int64_t{number}) - 1);
   const double value = i % 2 == 0 ? cube.low(i / 2) : cube.high(i / 2);
   return number < 0 ? -value : value;
}

double volume(const StringView& bytes) {
   const CubeView cube = cubeOf(bytes);
   if (cube.isPoint() || cube.dimensions() == 0) return 0;
   double product = 1;
   for (uint32_t i = 0; i < cube.dimensions(); ++i)
      product *= std::abs(cube.first(i) - cube.second(i));
   return product;
}

// ---- distances ----

/// Between the cubes in one dimension; 0: they meet in it.
double gap(const CubeView& a, const CubeView& b, uint32_t i) {
   if (a.high(i) <= b.low(i)) return b.low(i) - a.high(i);
   if (a.low(i) >= b.high(i)) return a.low(i) - b.high(i);
   return 0;
}
double distance(const StringView& a, const StringView& b) {
   const CubeView left = cubeOf(a), right = cubeOf(b);
   double sum = 0;
   for (uint32_t i = 0; i < dimensionsOfBoth(left, right); ++i)
      sum += gap(left, right, i) * gap(left, right, i);
   return std::sqrt(sum);
}
double taxicabDistance(const StringView& a, const StringView& b) {
   const CubeView left = cubeOf(a), right = cubeOf(b);
   double sum = 0;
   for (uint32_t i = 0; i < dimensionsOfBoth(left, right); ++i)
      sum += std::abs(gap(left, right, i));
   return sum;
}
double chebyshevDistance(const StringView& a, const StringView& b) {
   const CubeView left = cubeOf(a), right = cubeOf(b);
   double largest = 0;
   for (uint32_t i = 0; i < dimensionsOfBoth(left, right); ++i)
      largest = CubeView::larger(std::abs(gap(left, right, i)), largest);
   return largest;
}

// ---- comparisons ----

bool overlaps(const StringView& a, const StringView& b) {
   const CubeView left = cubeOf(a), right = cubeOf(b);
   for (uint32_t i = 0; i < dimensionsOfBoth(left, right); ++i)
      if (left.low(i) > right.high(i) || left.high(i) < right.low(i)) return false;
   return true;
}
/// Dimensions that only `whole` has do not matter.
bool includes(const StringView& whole, const StringView& part) {
   const CubeView all = cubeOf(whole), wanted = cubeOf(part);
   for (uint32_t i = 0; i < wanted.dimensions(); ++i)
      if (all.low(i) > wanted.low(i) || all.high(i) < wanted.high(i)) return false;
   return true;
}
bool isIncluded(const StringView& part, const StringView& whole) {
   return includes(whole, part);
}

int32_t compare(const StringView& a, const StringView& b) {
   return compareCubes(cubeOf(a), cubeOf(b));
}
using Ordered = Comparisons<compare>;

} // namespace

void registerCube() {
   addKernel<pointOfArray>("cube/cube_a_f8");
   addKernel<boxOfArrays>("cube/cube_a_f8_f8");
   addKernel<pointOf>("cube/cube_f8");
   addKernel<boxOf>("cube/cube_f8_f8");
   addKernel<extended>("cube/cube_c_f8");
   addKernel<extendedBox>("cube/cube_c_f8_f8");
   addKernel<subset>("cube/cube_subset");
   addKernel<unite>("cube/cube_union");
   addKernel<intersect>("cube/cube_inter");
   addKernel<enlarge>("cube/cube_enlarge");
   addKernel<dimensions>("cube/cube_dim", totalKernel);
   addKernel<isPoint>("cube/cube_is_point", totalKernel);
   addKernel<low>("cube/cube_ll_coord", totalKernel);
   addKernel<high>("cube/cube_ur_coord", totalKernel);
   addKernel<coordinate>("cube/cube_coord");
   addKernel<bound>("cube/cube_coord_llur");
   addKernel<volume>("cube/cube_size", totalKernel);
   addKernel<distance>("cube/cube_distance", totalKernel);
   addKernel<taxicabDistance>("cube/distance_taxicab", totalKernel);
   addKernel<chebyshevDistance>("cube/distance_chebyshev", totalKernel);
   addKernel<overlaps>("cube/cube_overlap", totalKernel);
   addKernel<includes>("cube/cube_contains", totalKernel);
   addKernel<isIncluded>("cube/cube_contained", totalKernel);
   addKernel<compare>("cube/cube_cmp", totalKernel);
   addKernel<Ordered::isLess>("cube/cube_lt", totalKernel);
   addKernel<Ordered::isAtMost>("cube/cube_le", totalKernel);
   addKernel<Ordered::isEqual>("cube/cube_eq", totalKernel);
   addKernel<Ordered::isDifferent>("cube/cube_ne", totalKernel);
   addKernel<Ordered::isAtLeast>("cube/cube_ge", totalKernel);
   addKernel<Ordered::isGreater>("cube/cube_gt", totalKernel);
}

} // namespace ouzel::executor
