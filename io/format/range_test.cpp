#include "io/format/range_test.hpp"

#include <cmath>

namespace ouzel::io {

bool isOrdered(PhysicalType type) {
   return type != PhysicalType::Decimal && type != PhysicalType::Interval;
}

bool isLess(const Value& a, const Value& b) {
   switch (a.type) {
   case PhysicalType::I128: return a.i128 < b.i128;
   case PhysicalType::F32:
   case PhysicalType::F64: return std::isnan(b.f64) ? !std::isnan(a.f64) : a.f64 < b.f64;
   case PhysicalType::String: return a.bytes < b.bytes;
   default: return a.i64 < b.i64;
   }
}

bool excludes(const ExternalRange& range, const Value& min, const Value& max) {
   if (!range.lower.isNull && !max.isNull && range.lower.type == max.type && isOrdered(max.type) &&
       isLess(max, range.lower))
      return true;
   return !range.upper.isNull && !min.isNull && range.upper.type == min.type && isOrdered(min.type) &&
          isLess(range.upper, min);
}

} // namespace ouzel::io
