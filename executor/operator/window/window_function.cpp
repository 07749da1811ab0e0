#include "executor/operator/window/window_function.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"

// row_number, rank, ..., lag, lead, first_value, ...: PostgreSQL's windowfuncs.c.

namespace ouzel::executor {

void WindowResult::allocate(uint64_t rows, Reservation& memory) {
   values = LargeMemory(rows * physicalSize(type), memory);
   nulls = LargeMemory(rows, memory);
}

namespace {

/// Copy the stored value, or NULL. Strings in memory are not copied: the sort keeps them as long as the query runs.
/// Strings of paged partitions are copied, since pages are evicted.
void copyValue(const WindowPartition& partition, uint32_t column, uint32_t from, WindowResult& result, uint64_t to,
               Arena& strings) {
   if (partition.isNull(column, from)) return result.setNull(to);
   if (partition.paged() && isVariableSize(result.type))
      return result.set(to, strings.copyString(partition.valueAs<StringView>(column, from).view()));
   std::memcpy(result.at(to), partition.value(column, from), physicalSize(result.type));
}

template <typename Body>
class PerRow final : public WindowEvaluator {
public:
   explicit PerRow(Body body) : body_(body) {}
   void evaluate(const WindowPartition& partition, const WindowFrames&, const WindowBlock& block, WindowResult& result,
                 Arena&) override {
      for (uint32_t row = block.from; row < block.end; ++row)
         result.set(block.resultOf(row), body_(partition, row));
   }

private:
   Body body_;
};
template <typename Body>
std::unique_ptr<WindowEvaluator> perRow(Body body) {
   return std::make_unique<PerRow<Body>>(body);
}

class Ntile final : public WindowEvaluator {
public:
   explicit Ntile(const WindowCallPlan& call) : call_(call) {}
   void evaluate(const WindowPartition& partition, const WindowFrames&, const WindowBlock& block, WindowResult& result,
                 Arena&) override {
      const uint32_t count = partition.count();
      if (block.isFirst) {
         buckets_ = 0;
         first_ = 0;
      }
      // Rows before the first number give NULL; that number holds for all later rows.
      for (; buckets_ == 0 && first_ < block.end; ++first_) {
         if (!partition.isNull(call_.args[0], first_)) {
            buckets_ = partition.valueAs<int32_t>(call_.args[0], first_);
            if (buckets_ <= 0)
               throw SqlError(sqlstate::invalidArgumentForNtile, "argument of ntile must be greater than zero");
            break;
         }
         if (first_ >= block.from) result.setNull(block.resultOf(first_));
      }
      uint32_t row = std::max(block.from, first_);
      // The first `larger` buckets have one more row than the later buckets.
      const auto buckets = static_cast<uint32_t>(std::max(1, buckets_));
      const uint32_t size = count / buckets, larger = count % buckets;
      for (; row < block.end; ++row) {
         const uint32_t index = row - first_, border = larger * (size + 1);
         const uint32_t bucket = index < border ? index / (size + 1) : larger + (index - border) / size;
         result.set(block.resultOf(row), static_cast<int32_t>(bucket + 1));
      }
   }

private:
   const WindowCallPlan& call_;
   int32_t buckets_ = 0; // 0: not known yet
   uint32_t first_ = 0;  // first row whose argument is not NULL
};

/// lag (direction -1) and lead (1).
class Neighbour final : public WindowEvaluator {
public:
   Neighbour(const WindowCallPlan& call, int64_t direction) : call_(call), direction_(direction) {}
   void evaluate(const WindowPartition& partition, const WindowFrames&, const WindowBlock& block, WindowResult& result,
                 Arena& strings) override {
      const int64_t count = partition.count();
      for (uint32_t row = block.from; row < block.end; ++row) {
         const uint64_t to = block.resultOf(row);
         int64_t offset = 1;
         if (call_.args.size() > 1) {
            if (partition.isNull(call_.args[1], row)) {
               result.setNull(to);
               continue;
            }
            offset = partition.valueAs<int32_t>(call_.args[1], row);
         }
         const int64_t target = row + direction_ * offset;
         if (target >= 0 && target < count)
            copyValue(partition, call_.args[0], static_cast<uint32_t>(target), result, to, strings);
         else if (call_.args.size() > 2)
            copyValue(partition, call_.args[2], row, result, to, strings);
         else
            result.setNull(to);
      }
   }

private:
   const WindowCallPlan& call_;
   const int64_t direction_;
};

enum class Place : uint8_t { First, Last, Nth };

/// first_value, last_value, nth_value.
class FrameValue final : public WindowEvaluator {
public:
   FrameValue(const WindowCallPlan& call, Place place) : call_(call), place_(place) {}
   void evaluate(const WindowPartition& partition, const WindowFrames& frames, const WindowBlock& block,
                 WindowResult& result, Arena& strings) override {
      for (uint32_t row = block.from; row < block.end; ++row) {
         const uint64_t to = block.resultOf(row);
         const FrameRows rows = frames.rowsOf(partition, row);
         int64_t index = place_ == Place::Last ? int64_t{rows.size()} - 1 : 0;
         if (place_ == Place::Nth) {
            if (partition.isNull(call_.args[1], row)) {
               result.setNull(to);
               continue;
            }
            const auto number = partition.valueAs<int32_t>(call_.args[1], row);
            if (number <= 0)
               throw SqlError(sqlstate::invalidArgumentForNthValue, "argument of nth_value must be greater than zero");
            index = number - 1;
         }
         bool isFound = false;
         for (uint32_t i = 0; i < rows.count && index >= 0 && !isFound; ++i) {
            const int64_t size = rows.ranges[i].end - rows.ranges[i].from;
            isFound = index < size;
            if (isFound)
               copyValue(partition, call_.args[0], rows.ranges[i].from + static_cast<uint32_t>(index), result, to,
                         strings);
            index -= size;
         }
         if (!isFound) result.setNull(to);
      }
   }

private:
   const WindowCallPlan& call_;
   const Place place_;
};

} // namespace

std::unique_ptr<WindowEvaluator> makeWindowEvaluator(const WindowCallPlan& call, FunctionContext& context,
                                                     Reservation& memory) {
   using Partition = const WindowPartition&;
   const std::string_view source = call.source;
   if (source.empty()) return makeWindowAggregate(call, context, memory);
   const auto number = [](uint64_t before, uint32_t position) { return static_cast<int64_t>(before + position + 1); };
   if (source == "window_row_number")
      return perRow([number](Partition partition, uint32_t row) { return number(partition.rowsBefore(), row); });
   if (source == "window_rank")
      return perRow([number](Partition partition, uint32_t row) {
         return number(partition.rowsBefore(), partition.peerStart(row));
      });
   if (source == "window_dense_rank")
      return perRow([number](Partition partition, uint32_t row) {
         return number(partition.groupsBefore(), partition.groupOf(row));
      });
   if (source == "window_percent_rank")
      return perRow([](Partition partition, uint32_t row) {
         return partition.count() <= 1 ? 0.0 : double(partition.peerStart(row)) / double(partition.count() - 1);
      });
   if (source == "window_cume_dist")
      return perRow(
          [](Partition partition, uint32_t row) { return double(partition.peerEnd(row)) / double(partition.count()); });
   if (source == "window_ntile") return std::make_unique<Ntile>(call);
   if (source.starts_with("window_lag")) return std::make_unique<Neighbour>(call, -1);
   if (source.starts_with("window_lead")) return std::make_unique<Neighbour>(call, 1);
   if (source == "window_first_value") return std::make_unique<FrameValue>(call, Place::First);
   if (source == "window_last_value") return std::make_unique<FrameValue>(call, Place::Last);
   if (source == "window_nth_value") return std::make_unique<FrameValue>(call, Place::Nth);
   throwNotSupported("window function " + std::string(source));
}

bool usesFrame(const WindowCallPlan& call) {
   return call.source.empty() || call.source.ends_with("_value");
}

} // namespace ouzel::executor
