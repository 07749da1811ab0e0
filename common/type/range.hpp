#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/value/physical_type.hpp"
#include "common/value/range_types.hpp"
#include "common/value/string_view.hpp"

// The bytes of a range and of a multirange (PhysicalType::String).
//
//   range        4  OID of the range type
//                1  flags
//                   the lower bound, then the upper one, where the flags say that there are values
//   multirange   4  OID of the type of its ranges
//                4  number of ranges
//                   per range: flags and bounds, as above; none is empty, they are in order and do not touch
//
// A bound lies as a field of a row does: a fixed-size value as in a flat vector, a variable-size one as uint32 length
// and bytes. A numeric is always a Decimal. All numbers are little-endian and unaligned. Equal ranges, of numerics for
// example, may differ in their bytes, so that ranges have order keys (order_key.hpp).

namespace ouzel {

/// One end of a range.
struct RangeBound {
   alignas(16) std::byte value[16] = {}; ///< as it lies in a flat vector; not read if infinite
   bool isInfinite = false, isInclusive = false, isLower = false;

   void set(PhysicalType type, const void* from);
   template <typename T>
   const T& as() const {
      return *reinterpret_cast<const T*>(value);
   }
   /// The other side of the same cut: where this range ends and its neighbour begins.
   RangeBound flipped() const {
      RangeBound other = *this;
      other.isInclusive = !isInclusive;
      other.isLower = !isLower;
      return other;
   }
};

/// A range taken apart. Strings point into the bytes it was read from.
struct Range {
   RangeBound lower{{}, true, false, true}, upper{{}, true, false, false};
   bool isEmpty = false;

   static Range empty() {
      Range range;
      range.isEmpty = true;
      return range;
   }
};
using Ranges = std::vector<Range>;

/// The flags of a range, and a range that has them and bounds without values; PostgreSQL's, as in the binary form.
uint8_t rangeFlags(const Range& range);
Range rangeOfFlags(uint8_t flags);

/// What there is to know of the values of a range type. Small: copies are cheap.
class RangeKind {
public:
   /// Throws XX000 for a type that is neither a range nor a multirange.
   static RangeKind of(Oid rangeOrMultirange);

   Oid range() const { return range_; }
   Oid subtype() const { return subtype_; } ///< of the bounds
   Oid domain() const { return domain_; }   ///< over it, that the bounds are of; invalidOid: of none
   PhysicalType physical() const { return physical_; }

   /// Three-way comparison of two values of bounds.
   int compareValues(const void* a, const void* b) const;
   /// Three-way comparison of bounds by their values only, and as the ends of ranges: PostgreSQL's
   /// range_cmp_bound_values() and range_cmp_bounds().
   int compareBoundValues(const RangeBound& a, const RangeBound& b) const;
   int compareBounds(const RangeBound& a, const RangeBound& b) const;
   /// The order of ranges: empty ones first, then by lower bound, then by upper bound.
   int compare(const Range& a, const Range& b) const;

   /// A range in canonical form. Throws 22000 for a lower bound above the upper one, and where the canonical form of a
   /// discrete range exceeds its type.
   Range make(RangeBound lower, RangeBound upper) const;

private:
   explicit RangeKind(const RangeType& type);

   Oid range_, subtype_, domain_;
   PhysicalType physical_;
   bool isDiscrete_;
};

/// Reads the ranges of a multirange, or one range, in place. Throws XX000 if the bytes are not such.
class RangeReader {
public:
   explicit RangeReader(std::string_view bytes);
   const RangeKind& kind() const { return kind_; }
   Range next();
   uint32_t nextCount(); ///< the number of ranges of a multirange

private:
   void readBound(RangeBound& bound);

   std::string_view rest_;
   const RangeKind kind_;
};

Range readRange(std::string_view bytes);
Ranges readMultirange(std::string_view bytes);

/// Append the bytes of a range or a multirange.
void appendRange(std::string& out, const RangeKind& kind, const Range& range);
/// REQUIRES: the ranges are in order, none is empty, none touches another.
void appendMultirange(std::string& out, const RangeKind& kind, const Ranges& ranges);

/// The ranges of a multirange: in order, without empty ones, those that touch united.
Ranges normalizedRanges(const RangeKind& kind, Ranges ranges);

// ---- texts and binary forms: PostgreSQL's range_in, range_out, ... ----

struct SessionFormat;
class UserTypes;

void appendRangeText(std::string& out, std::string_view bytes, const SessionFormat& format);
void appendMultirangeText(std::string& out, std::string_view bytes, const SessionFormat& format);
/// Throw 22P02, and what the input functions of the bounds throw.
std::string parseRangeText(std::string_view text, Oid type, const SessionFormat& format);
std::string parseMultirangeText(std::string_view text, Oid type, const SessionFormat& format);

// `types` may be null if the bounds' type is no user's.
void appendRangeBinary(std::string& out, std::string_view bytes, const UserTypes* types);
void appendMultirangeBinary(std::string& out, std::string_view bytes, const UserTypes* types);
/// Throw 22P03, 08P01, and what the receive functions of the bounds throw.
std::string readRangeBinary(std::string_view message, Oid type, const UserTypes* types);
std::string readMultirangeBinary(std::string_view message, Oid type, const UserTypes* types);

} // namespace ouzel
