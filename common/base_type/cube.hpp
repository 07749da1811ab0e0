#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/base_type/type_form.hpp"

// The type cube of the extension of that name: a point, or a box with two corners that are opposite to each other, in
// up to 100 dimensions. Its bytes:
//
//   what                          size
//   1 for a point, 0 for a box    1
//   coordinates of a corner       8 each, little-endian
//   of a box, the other corner    8 each
//
// Corners are kept as they were given, so equal boxes may differ in their bytes: order keys (common/type/order_key.hpp)
// are made of the lower and the upper bounds. A box whose corners are equal is written as a point.

namespace ouzel {

namespace oid {
inline constexpr Oid cube = 9212, cubeArray = 9213;
} // namespace oid

inline constexpr uint32_t cubeDimensionsMax = 100;

/// A cube read in place; the bytes outlive it.
class CubeView {
public:
   /// Throws XX000 unless the bytes are a cube's. No bytes, which a kernel may find where a NULL is, have no
   /// dimensions.
   explicit CubeView(std::string_view bytes);

   uint32_t dimensions() const { return dimensions_; }
   bool isPoint() const { return isPoint_; }
   /// Coordinates of the corners.
   double first(uint32_t i) const { return at(i); }
   double second(uint32_t i) const { return at(isPoint_ ? i : i + dimensions_); }
   /// The bounds of a dimension, which may be one that the cube does not have: there it is 0.
   double low(uint32_t i) const { return i < dimensions_ ? smaller(first(i), second(i)) : 0; }
   double high(uint32_t i) const { return i < dimensions_ ? larger(first(i), second(i)) : 0; }
   /// Whether the corners are equal.
   bool hasOnePoint() const;

   // As PostgreSQL's macros, where NaN is neither smaller nor larger.
   static double smaller(double a, double b) { return a < b ? a : b; }
   static double larger(double a, double b) { return a > b ? a : b; }

private:
   double at(uint32_t i) const { return valueAt<double>(coordinates_ + size_t{i} * sizeof(double)); }

   const char* coordinates_ = nullptr;
   uint32_t dimensions_ = 0;
   bool isPoint_ = true;
};

/// A cube to store.
struct CubeCorners {
   std::vector<double> first, second; ///< of one size, or of a point only the first

   void add(double a, double b) {
      first.push_back(a);
      second.push_back(b);
   }
   std::string stored(bool isPoint) const;
   /// A point if the corners are equal. REQUIRES: both are there.
   std::string stored() const { return stored(first == second); }
};

/// The order of cube_cmp(): by lower bounds, then upper bounds, then the number of dimensions. Dimensions that only one
/// cube has come after the others. NaN is equal to itself and larger than other numbers, unlike in PostgreSQL, where it
/// is equal to all.
int compareCubes(const CubeView& a, const CubeView& b);

extern const TypeForm cubeForm;

} // namespace ouzel
