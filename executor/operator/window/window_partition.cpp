#include "executor/operator/window/window_partition.hpp"

#include <algorithm>
#include <cmath>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/type/date_time_math.hpp"
#include "common/type/session_format.hpp"

namespace ouzel::executor {

using sql::FrameBoundKind;
using sql::FrameExclusion;
using sql::FrameMode;

void WindowPartition::reset(uint64_t begin, uint32_t count, const uint8_t* marks, const WindowCarry* before) {
   DCHECK(count > 0); // a partition has rows
   DCHECK((marks[begin] & PartitionStart) != 0);
   before_ = before;
   begin_ = begin;
   count_ = count;
   uint32_t* groups = groups_.ensure(count, memory_);
   uint32_t* starts = groupStarts_.ensure(size_t{count} + 1, memory_);
   groupCount_ = 0;
   for (uint32_t row = 0; row < count; ++row) {
      if (row == 0 || (marks[begin + row] & PeerStart) != 0) starts[groupCount_++] = row;
      groups[row] = groupCount_ - 1;
   }
   starts[groupCount_] = count;
}

void WindowPartition::reset(uint32_t begin, uint32_t count) {
   DCHECK(peers_->isStart(begin));
   begin_ = begin;
   count_ = count;
   firstGroup_ = peers_->groupOf(begin);
   groupCount_ = peers_->groupOf(begin + count - 1) - firstGroup_ + 1;
   found_ = {0, 0};
}

void WindowPartition::findPeers(uint32_t row) const {
   const auto [from, end] = peers_->groupAround(pagedRow(row));
   found_ = {from - pagedRow(0), end - pagedRow(0)};
}

// ---- in_range ----

namespace {

[[noreturn, gnu::cold]] void throwBadOffset() {
   throw SqlError(sqlstate::invalidPrecedingOrFollowingSize, "invalid preceding or following size in window function");
}

template <typename T>
T load(const std::byte* bytes) {
   T value;
   std::memcpy(&value, bytes, sizeof value);
   return value;
}

template <typename T>
bool isWithin(const T& value, const T& sum, bool less) {
   return less ? value <= sum : value >= sum;
}

/// NaN is the largest value. Where the bound would be infinity minus infinity, every value is in range.
bool isInRangeFloat(double value, double base, double offset, bool minus, bool less) {
   if (std::isnan(offset) || offset < 0) throwBadOffset();
   if (std::isnan(value)) return std::isnan(base) || !less;
   if (std::isnan(base)) return less;
   if (std::isinf(offset) && std::isinf(base) && (minus ? base > 0 : base < 0)) return true;
   return isWithin(value, minus ? base - offset : base + offset, less);
}

bool isInRangeDecimal(StringView value, StringView base, StringView offset, bool minus, bool less) {
   if (decimal::isNaN(offset) || decimal::sign(offset) < 0) throwBadOffset();
   if (decimal::isNaN(value)) return decimal::isNaN(base) || !less;
   if (decimal::isNaN(base)) return less;
   if (!decimal::isFinite(offset) && !decimal::isFinite(base) && (decimal::sign(base) > 0) == minus) return true;
   Arena arena;
   const StringView sum = minus ? decimal::subtract(base, offset, arena) : decimal::add(base, offset, arena);
   return isWithin(decimal::compare(value, sum), 0, less);
}

bool isInRangeTimestamp(int64_t value, int64_t base, const Interval& offset, bool minus, bool less,
                        const TimeZone* zone, bool hasZone) {
   if (intervalSpan(offset) < 0) throwBadOffset();
   const int64_t sum = hasZone ? minus ? subtractIntervalTz(base, offset, zone) : addIntervalTz(base, offset, zone)
                       : minus ? subtractInterval(base, offset)
                               : addInterval(base, offset);
   return isWithin(value, sum, less);
}

int128 loadInteger(PhysicalType type, const std::byte* bytes) {
   switch (type) {
   case PhysicalType::I16: return load<int16_t>(bytes);
   case PhysicalType::I32: return load<int32_t>(bytes);
   default: return load<int64_t>(bytes);
   }
}

} // namespace

bool isInRange(const FrameClause& clause, const Value& offset, const std::byte* value, const std::byte* base,
               bool minus, bool less, const FunctionContext& context) {
   switch (clause.keyType.oid) {
   case oid::int2:
   case oid::int4:
   case oid::int8: {
      if (offset.i64 < 0) throwBadOffset();
      const PhysicalType type = storedRepresentation(clause.keyType).physical;
      const int128 from = loadInteger(type, base);
      return isWithin(loadInteger(type, value), minus ? from - offset.i64 : from + offset.i64, less);
   }
   case oid::float4: return isInRangeFloat(load<float>(value), load<float>(base), offset.f64, minus, less);
   case oid::float8: return isInRangeFloat(load<double>(value), load<double>(base), offset.f64, minus, less);
   case oid::numeric:
      return isInRangeDecimal(load<StringView>(value), load<StringView>(base), StringView(offset.bytes), minus, less);
   case oid::date:
      return isInRangeTimestamp(dateToTimestamp(load<int32_t>(value)), dateToTimestamp(load<int32_t>(base)),
                                offset.interval, minus, less, nullptr, false);
   case oid::timestamp:
   case oid::timestamptz:
      return isInRangeTimestamp(load<int64_t>(value), load<int64_t>(base), offset.interval, minus, less,
                                context.format ? context.format->zone : nullptr,
                                clause.keyType.oid == oid::timestamptz);
   case oid::time: {
      // Only the interval's microseconds count, and times do not wrap at midnight.
      if (offset.interval.micros < 0) throwBadOffset();
      const int128 from = load<int64_t>(base), by = offset.interval.micros;
      return isWithin(static_cast<int128>(load<int64_t>(value)), minus ? from - by : from + by, less);
   }
   case oid::interval: {
      if (intervalSpan(offset.interval) < 0) throwBadOffset();
      const auto from = load<Interval>(base);
      const Interval sum = minus ? subtractIntervals(from, offset.interval) : addIntervals(from, offset.interval);
      return isWithin(intervalSpan(load<Interval>(value)), intervalSpan(sum), less);
   }
   default: throwNotSupported("RANGE with offset PRECEDING/FOLLOWING for column type " + formatType(clause.keyType));
   }
}

// ---- frames ----

namespace {

/// Position `row - offset` or `row + offset`, between 0 and `end`.
uint32_t moved(uint32_t row, int64_t offset, bool back, uint32_t end) {
   if (back) return offset >= row ? 0 : row - static_cast<uint32_t>(offset);
   return offset >= static_cast<int64_t>(end) - row ? end : row + static_cast<uint32_t>(offset);
}

} // namespace

void WindowFrames::compute(const WindowPartition& partition, const WindowBlock& block) {
   const uint32_t count = partition.count();
   from_ = block.from;
   uint32_t* begins = begins_.ensure(block.end - block.from, partition.memory());
   uint32_t* ends = ends_.ensure(block.end - block.from, partition.memory());
   const auto fill = [&](uint32_t* out, auto&& position) {
      for (uint32_t row = block.from; row < block.end; ++row)
         out[row - block.from] = position(row);
   };
   const uint32_t groups = partition.groupCount();
   const bool isRows = clause_.mode == FrameMode::Rows;
   const bool startsBack = clause_.start == FrameBoundKind::OffsetPreceding;
   const bool endsBack = clause_.end == FrameBoundKind::OffsetPreceding;

   switch (clause_.start) {
   case FrameBoundKind::UnboundedPreceding: fill(begins, [](uint32_t) { return 0u; }); break;
   case FrameBoundKind::UnboundedFollowing: fill(begins, [&](uint32_t) { return count; }); break;
   case FrameBoundKind::CurrentRow:
      fill(begins, [&](uint32_t row) { return isRows ? row : partition.peerStart(row); });
      break;
   case FrameBoundKind::OffsetPreceding:
   case FrameBoundKind::OffsetFollowing:
      if (isRows)
         fill(begins, [&](uint32_t row) { return moved(row, clause_.startOffset.i64, startsBack, count); });
      else if (clause_.mode == FrameMode::Groups)
         fill(begins, [&](uint32_t row) {
            return partition.groupStart(moved(partition.groupOf(row), clause_.startOffset.i64, startsBack, groups));
         });
      else
         computeRangeBegins(partition, block);
      break;
   }

   switch (clause_.end) {
   case FrameBoundKind::UnboundedPreceding: fill(ends, [](uint32_t) { return 0u; }); break;
   case FrameBoundKind::UnboundedFollowing: fill(ends, [&](uint32_t) { return count; }); break;
   case FrameBoundKind::CurrentRow:
      fill(ends, [&](uint32_t row) { return isRows ? row + 1 : partition.peerEnd(row); });
      break;
   case FrameBoundKind::OffsetPreceding:
   case FrameBoundKind::OffsetFollowing:
      // The end is exclusive: one past the last row (group) of the frame.
      if (isRows)
         fill(ends, [&](uint32_t row) { return moved(row + 1, clause_.endOffset.i64, endsBack, count); });
      else if (clause_.mode == FrameMode::Groups)
         fill(ends, [&](uint32_t row) {
            return partition.groupStart(moved(partition.groupOf(row) + 1, clause_.endOffset.i64, endsBack, groups));
         });
      else
         computeRangeEnds(partition, block);
      break;
   }
}

// From row to row the bounds of RANGE frames only move forward, as in PostgreSQL's update_frameheadpos.
void WindowFrames::computeRangeBegins(const WindowPartition& partition, const WindowBlock& block) {
   const uint32_t count = partition.count(), column = clause_.keyColumn;
   const bool minus = (clause_.start == FrameBoundKind::OffsetPreceding) != clause_.descending;
   uint32_t head = block.isFirst ? 0 : head_;
   for (uint32_t row = block.from; row < block.end; ++row) {
      const bool isNull = partition.isNull(column, row);
      for (; head < count; ++head) {
         const bool headIsNull = partition.isNull(column, head);
         if (headIsNull || isNull) {
            if (clause_.nullsFirst ? !headIsNull || isNull : headIsNull || !isNull) break;
         } else if (isInRange(clause_, clause_.startOffset, partition.value(column, head), partition.value(column, row),
                              minus, clause_.descending, context_)) {
            break;
         }
      }
      begins_[row - block.from] = head;
   }
   head_ = head;
}

void WindowFrames::computeRangeEnds(const WindowPartition& partition, const WindowBlock& block) {
   const uint32_t count = partition.count(), column = clause_.keyColumn;
   const bool minus = (clause_.end == FrameBoundKind::OffsetPreceding) != clause_.descending;
   uint32_t tail = block.isFirst ? 0 : tail_;
   for (uint32_t row = block.from; row < block.end; ++row) {
      const bool isNull = partition.isNull(column, row);
      for (; tail < count; ++tail) {
         const bool tailIsNull = partition.isNull(column, tail);
         if (tailIsNull || isNull) {
            if (clause_.nullsFirst ? !tailIsNull && isNull : tailIsNull && !isNull) break;
         } else if (!isInRange(clause_, clause_.endOffset, partition.value(column, tail), partition.value(column, row),
                               minus, !clause_.descending, context_)) {
            break;
         }
      }
      ends_[row - block.from] = tail;
   }
   tail_ = tail;
}

FrameRows WindowFrames::rowsOf(const WindowPartition& partition, uint32_t row) const {
   const uint32_t begin = this->begin(row), end = this->end(row);
   FrameRows out;
   switch (clause_.exclusion) {
   case FrameExclusion::None: out.add(begin, end); break;
   case FrameExclusion::CurrentRow:
      out.add(begin, std::min(end, row));
      out.add(std::max(begin, row + 1), end);
      break;
   case FrameExclusion::Group:
   case FrameExclusion::Ties:
      out.add(begin, std::min(end, partition.peerStart(row)));
      if (clause_.exclusion == FrameExclusion::Ties && begin <= row && row < end) out.add(row, row + 1);
      out.add(std::max(begin, partition.peerEnd(row)), end);
      break;
   }
   return out;
}

} // namespace ouzel::executor
