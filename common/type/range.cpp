#include "common/type/range.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/calendar/calendar.hpp"
#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/type/order_key.hpp"

namespace ouzel {

namespace {

/// PostgreSQL's flags, which the binary form of the protocol has too.
constexpr uint8_t emptyFlag = 1, lowerInclusive = 2, upperInclusive = 4, lowerInfinite = 8, upperInfinite = 16;

template <typename T>
void append(std::string& out, T value) {
   out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

[[noreturn, gnu::cold]] void throwMalformed() {
   throwInternal("malformed range value");
}

void appendBound(std::string& out, const RangeKind& kind, const RangeBound& bound) {
   if (bound.isInfinite) return;
   if (!isVariableSize(kind.physical())) {
      out.append(reinterpret_cast<const char*>(bound.value), physicalSize(kind.physical()));
      return;
   }
   const std::string_view bytes = bound.as<StringView>().view();
   append(out, static_cast<uint32_t>(bytes.size()));
   out.append(bytes);
}

void appendParts(std::string& out, const RangeKind& kind, const Range& range) {
   out.push_back(static_cast<char>(rangeFlags(range)));
   if (range.isEmpty) return;
   appendBound(out, kind, range.lower);
   appendBound(out, kind, range.upper);
}

/// Makes an inclusive upper bound, or an exclusive lower one, the next value with the other sign.
void moveToNext(RangeBound& bound, Oid subtype) {
   bound.isInclusive = !bound.isInclusive;
   switch (subtype) {
   case oid::int8: {
      int64_t value = bound.as<int64_t>();
      if (value == INT64_MAX) throw SqlError(sqlstate::numericValueOutOfRange, "bigint out of range");
      return bound.set(PhysicalType::I64, &++value);
   }
   default: {
      int32_t value = bound.as<int32_t>();
      if (subtype == oid::date && !isValidDate(int64_t{value} + 1))
         throw SqlError(sqlstate::datetimeValueOutOfRange, "date out of range");
      if (value == INT32_MAX) throw SqlError(sqlstate::numericValueOutOfRange, "integer out of range");
      return bound.set(PhysicalType::I32, &++value);
   }
   }
}

bool movesOn(const RangeBound& bound, Oid subtype) {
   if (bound.isInfinite || bound.isInclusive == bound.isLower) return false;
   return subtype != oid::date || !isInfiniteDate(bound.as<int32_t>());
}

int compareStrings(Oid subtype, std::string_view a, std::string_view b) {
   const SqlType type{subtype, -1, invalidOid};
   if (!hasOrderKey(type)) return std::clamp(a.compare(b), -1, 1);
   std::string left, right;
   appendOrderKey(left, type, a);
   appendOrderKey(right, type, b);
   return std::clamp(left.compare(right), -1, 1);
}

/// Of a value.
RangeKind kindOf(std::string_view bytes) {
   Oid range;
   if (bytes.size() < sizeof range) throwMalformed();
   std::memcpy(&range, bytes.data(), sizeof range);
   return RangeKind::of(range);
}

} // namespace

uint8_t rangeFlags(const Range& range) {
   if (range.isEmpty) return emptyFlag;
   const auto flag = [](bool is, uint8_t bit) { return is ? bit : uint8_t{0}; };
   return static_cast<uint8_t>(
       flag(range.lower.isInclusive, lowerInclusive) | flag(range.upper.isInclusive, upperInclusive) |
       flag(range.lower.isInfinite, lowerInfinite) | flag(range.upper.isInfinite, upperInfinite));
}

Range rangeOfFlags(uint8_t flags) {
   Range range;
   range.isEmpty = (flags & emptyFlag) != 0;
   range.lower.isInclusive = (flags & lowerInclusive) != 0;
   range.upper.isInclusive = (flags & upperInclusive) != 0;
   range.lower.isInfinite = range.isEmpty || (flags & lowerInfinite) != 0;
   range.upper.isInfinite = range.isEmpty || (flags & upperInfinite) != 0;
   return range;
}

void RangeBound::set(PhysicalType type, const void* from) {
   std::memcpy(value, from, physicalSize(type));
   isInfinite = false;
}

// ---- kinds ----

RangeKind::RangeKind(const RangeType& type)
   : range_(type.range), subtype_(type.subtype), domain_(type.domain),
     physical_(storedRepresentation({type.subtype, -1, invalidOid}).physical), isDiscrete_(type.isDiscrete) {}

RangeKind RangeKind::of(Oid rangeOrMultirange) {
   const RangeType* type = findRangeType(rangeOrMultirange);
   if (!type) type = findMultirangeType(rangeOrMultirange);
   if (!type) throwInternal("not a range type");
   return RangeKind(*type);
}

int RangeKind::compareValues(const void* a, const void* b) const {
   const auto three = [](auto l, auto r) { return l < r ? -1 : l > r ? 1 : 0; };
   const auto compared = [&]<typename T>(T) { return three(*static_cast<const T*>(a), *static_cast<const T*>(b)); };
   const auto floats = [&]<typename T>(T) { // NaN is the largest
      const T l = *static_cast<const T*>(a), r = *static_cast<const T*>(b);
      return std::isnan(l) || std::isnan(r) ? int(std::isnan(l)) - int(std::isnan(r)) : three(l, r);
   };
   switch (physical_) {
   case PhysicalType::Bool: return compared(uint8_t{});
   case PhysicalType::I16: return compared(int16_t{});
   case PhysicalType::I32: return compared(int32_t{});
   case PhysicalType::I64: return compared(int64_t{});
   case PhysicalType::I128: return compared(int128{});
   case PhysicalType::F32: return floats(float{});
   case PhysicalType::F64: return floats(double{});
   case PhysicalType::Interval:
      return three(intervalSpan(*static_cast<const Interval*>(a)), intervalSpan(*static_cast<const Interval*>(b)));
   case PhysicalType::Decimal:
      return decimal::compare(*static_cast<const StringView*>(a), *static_cast<const StringView*>(b));
   case PhysicalType::String:
      return compareStrings(subtype_, static_cast<const StringView*>(a)->view(),
                            static_cast<const StringView*>(b)->view());
   }
   throwInternal("a range over an unexpected type");
}

int RangeKind::compareBoundValues(const RangeBound& a, const RangeBound& b) const {
   if (a.isInfinite && b.isInfinite && a.isLower == b.isLower) return 0;
   if (a.isInfinite) return a.isLower ? -1 : 1;
   if (b.isInfinite) return b.isLower ? 1 : -1;
   return compareValues(a.value, b.value);
}

int RangeKind::compareBounds(const RangeBound& a, const RangeBound& b) const {
   const int order = compareBoundValues(a, b);
   if (order != 0 || a.isInfinite) return order;
   // Where a bound stands beside its value: before it, at it or behind it.
   const auto side = [](const RangeBound& bound) { return bound.isInclusive ? 0 : bound.isLower ? 1 : -1; };
   return std::clamp(side(a) - side(b), -1, 1);
}

int RangeKind::compare(const Range& a, const Range& b) const {
   if (a.isEmpty || b.isEmpty) return static_cast<int>(b.isEmpty) - static_cast<int>(a.isEmpty);
   const int order = compareBounds(a.lower, b.lower);
   return order != 0 ? order : compareBounds(a.upper, b.upper);
}

Range RangeKind::make(RangeBound lower, RangeBound upper) const {
   const auto holdsNothing = [&] {
      const int order = compareBoundValues(lower, upper);
      if (order > 0)
         throw SqlError(sqlstate::dataException, "range lower bound must be less than or equal to range upper bound");
      return order == 0 && !(lower.isInclusive && upper.isInclusive);
   };
   lower.isLower = true;
   upper.isLower = false;
   if (holdsNothing()) return Range::empty();
   if (lower.isInfinite) lower.isInclusive = false;
   if (upper.isInfinite) upper.isInclusive = false;
   if (isDiscrete_) {
      const bool lowerMoves = movesOn(lower, subtype()), upperMoves = movesOn(upper, subtype());
      if (lowerMoves) moveToNext(lower, subtype());
      if (upperMoves) moveToNext(upper, subtype());
      if ((lowerMoves || upperMoves) && holdsNothing()) return Range::empty();
   }
   return {lower, upper, false};
}

// ---- bytes ----

RangeReader::RangeReader(std::string_view bytes) : rest_(bytes), kind_(kindOf(bytes)) {
   rest_.remove_prefix(sizeof(Oid));
}

uint32_t RangeReader::nextCount() {
   uint32_t count;
   if (rest_.size() < sizeof count) throwMalformed();
   std::memcpy(&count, rest_.data(), sizeof count);
   rest_.remove_prefix(sizeof count);
   if (count > rest_.size()) throwMalformed();
   return count;
}

Range RangeReader::next() {
   if (rest_.empty()) throwMalformed();
   Range range = rangeOfFlags(static_cast<uint8_t>(rest_.front()));
   rest_.remove_prefix(1);
   readBound(range.lower);
   readBound(range.upper);
   return range;
}

void RangeReader::readBound(RangeBound& bound) {
   if (bound.isInfinite) return;
   const PhysicalType type = kind_.physical();
   if (!isVariableSize(type)) {
      if (rest_.size() < physicalSize(type)) throwMalformed();
      bound.set(type, rest_.data());
      rest_.remove_prefix(physicalSize(type));
      return;
   }
   uint32_t size;
   if (rest_.size() < sizeof size) throwMalformed();
   std::memcpy(&size, rest_.data(), sizeof size);
   rest_.remove_prefix(sizeof size);
   if (rest_.size() < size) throwMalformed();
   const StringView text(rest_.data(), size);
   bound.set(type, &text);
   rest_.remove_prefix(size);
}

Range readRange(std::string_view bytes) {
   return RangeReader(bytes).next();
}

Ranges readMultirange(std::string_view bytes) {
   RangeReader reader(bytes);
   Ranges ranges(reader.nextCount());
   for (Range& range : ranges)
      range = reader.next();
   return ranges;
}

void appendRange(std::string& out, const RangeKind& kind, const Range& range) {
   append(out, kind.range());
   appendParts(out, kind, range);
}

void appendMultirange(std::string& out, const RangeKind& kind, const Ranges& ranges) {
   append(out, kind.range());
   append(out, static_cast<uint32_t>(ranges.size()));
   for (const Range& range : ranges)
      appendParts(out, kind, range);
}

Ranges normalizedRanges(const RangeKind& kind, Ranges ranges) {
   std::erase_if(ranges, [](const Range& range) { return range.isEmpty; });
   std::stable_sort(ranges.begin(), ranges.end(),
                    [&](const Range& a, const Range& b) { return kind.compare(a, b) < 0; });
   size_t kept = 0;
   for (size_t i = 1; i < ranges.size(); ++i) {
      Range& last = ranges[kept];
      // In order, a range overlaps the one before or touches it unless there is room between the two.
      const RangeBound next = ranges[i].lower.flipped();
      if (!ranges[i].lower.isInfinite && kind.compareBounds(last.upper, next) < 0) {
         ranges[++kept] = ranges[i];
         continue;
      }
      // Of equal bounds, which may look different, PostgreSQL shows the later.
      if (kind.compareBounds(last.lower, ranges[i].lower) == 0) last.lower = ranges[i].lower;
      if (kind.compareBounds(last.upper, ranges[i].upper) <= 0) last.upper = ranges[i].upper;
   }
   if (!ranges.empty()) ranges.resize(kept + 1);
   return ranges;
}

} // namespace ouzel
