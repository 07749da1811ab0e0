#include "executor/operator/aggregate/collected_rows.hpp"

#include <bit>
#include <optional>

#include "common/type/order_key.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/operator/aggregate/keyed_rows.hpp"
#include "executor/operator/sort/sort_sink.hpp"

// The rows of an aggregate that takes them in order. Rows of different groups may come mixed: update() gets a state for
// each row. So the rows are sorted by the columns of ORDER BY only, unless DISTINCT needs equal rows of a group side by
// side, or the states of many groups would be visited at random. The sort stores
//
//    column 0       the address of the group
//    columns 1...   arguments, then order columns, as in the layout of the collected rows
//    last columns   the order keys of arguments to sort by whose bytes do not compare

namespace ouzel::executor {

namespace {

/// The states of so many groups stay in the processor's cache.
constexpr size_t groupsMixed = 4096;

class CollectedFeed {
public:
   CollectedFeed(QueryContext& context, const GroupingSet& set, size_t a, size_t groups, const FindGroups& find,
                 Arena& arena)
      : context_(context), aggregate_((*set.aggregates)[a]), layout_(set.collected[a]->layout),
        keyCount_(static_cast<uint32_t>(set.keys.size())), stateOffset_(set.stateOffsets[a]),
        sortsByGroup_(aggregate_.call->distinct || groups > groupsMixed), arena_(arena),
        rows_(context, layout_, keyCount_, find), orderKeys_(&context.memory()) {}

   void feed(RowPartition&& rows, MemoryGrant& grant) {
      if (!aggregate_.descending.empty() || aggregate_.call->distinct) return feedSorted(std::move(rows), grant);
      forEachBatch(std::move(rows), grant, [&](uint32_t count) {
         expect(count);
         update(arguments(rows_.columns(), keyCount_), Selection::dense(count), rows_.groups());
      });
   }

private:
   template <typename Take>
   void forEachBatch(RowPartition&& rows, MemoryGrant& grant, Take&& take) {
      std::byte* addresses[batchRowsMax];
      forEachPage(context_, grant, layout_, std::move(rows), [&](std::unique_ptr<TuplePage> page) {
         for (std::byte* row = page->begin; row != page->cursor;) {
            context_.checkCancelled();
            uint32_t count = 0;
            for (; count < batchRowsMax && row != page->cursor; row += layout_.rowSize())
               addresses[count++] = row;
            rows_.gather({addresses, count});
            take(count);
         }
      });
   }
   std::span<const Vector> arguments(const std::vector<Vector>& columns, uint32_t first) const {
      return std::span(columns).subspan(first, aggregate_.argCount);
   }
   AggregateInput input(std::span<const Vector> args, const Selection& rows) {
      return {args,
              rows,
              context_.functions(),
              arena_,
              aggregate_.argTypes,
              aggregate_.descending,
              aggregate_.nullsFirst,
              aggregate_.fold.get()};
   }
   /// `groups`: one for each live row.
   void update(std::span<const Vector> args, const Selection& rows, std::byte* const* groups) {
      setStates(groups, rows.count());
      aggregate_.kernel->update(input(args, rows), states_);
   }
   void expect(uint32_t count) {
      if (!aggregate_.kernel->expect) return;
      setStates(rows_.groups(), count);
      aggregate_.kernel->expect(input(arguments(rows_.columns(), keyCount_), Selection::dense(count)), states_);
   }
   void setStates(std::byte* const* groups, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i)
         states_[i] = groups[i] + stateOffset_;
   }
   void feedSorted(RowPartition&& rows, MemoryGrant& grant);
   SortRowLayout sortLayout() const;
   void appendSorted(ExternalSort::Lane& lane, uint32_t count);
   void giveSorted(const Batch& batch, BatchBuilder* last);
   bool isRepeated(const std::vector<Vector>& columns, uint32_t row, const std::vector<Vector>& before,
                   uint32_t rowBefore) const;
   /// Columns of ORDER BY that are arguments, as in WITHIN GROUP.
   uint32_t orderedArguments() const {
      return aggregate_.orderCount ? 0 : static_cast<uint32_t>(aggregate_.descending.size());
   }
   /// Arguments that are sorted by order keys.
   bool isKeyed(uint32_t arg) const {
      return (aggregate_.call->distinct || arg < orderedArguments()) && hasOrderKey(aggregate_.argTypes[arg]);
   }

   QueryContext& context_;
   const CompiledAggregate& aggregate_;
   const RowLayout& layout_;
   const uint32_t keyCount_, stateOffset_;
   const bool sortsByGroup_;
   Arena& arena_;
   KeyedRows rows_;
   Arena orderKeys_;
   std::byte* states_[batchRowsMax];
   int64_t addresses_[batchRowsMax];
};

SortRowLayout CollectedFeed::sortLayout() const {
   std::vector<Representation> columns{{PhysicalType::I64, 0}};
   columns.insert(columns.end(), aggregate_.argReprs.begin(), aggregate_.argReprs.end());
   std::vector<SortColumn> keys;
   std::vector<uint32_t> keyColumns;
   const auto sortBy = [&](uint32_t column, bool descending, bool nullsFirst) {
      const PhysicalType type = columns[column].physical;
      keys.push_back({type, descending, nullsFirst});
      keyColumns.push_back(isVariableSize(type) ? column : UINT32_MAX);
   };
   std::vector<uint32_t> sortedAs(aggregate_.argCount); // the column of an argument, or of its order keys
   for (uint32_t arg = 0; arg < aggregate_.argCount; ++arg) {
      sortedAs[arg] = isKeyed(arg) ? static_cast<uint32_t>(columns.size()) : 1 + arg;
      if (isKeyed(arg)) columns.push_back({PhysicalType::String, 0});
   }
   if (sortsByGroup_) sortBy(0, false, false);
   for (uint32_t key = 0; key < aggregate_.descending.size(); ++key)
      sortBy(key < orderedArguments() ? sortedAs[key] : 1 + aggregate_.argCount + key, aggregate_.descending[key] != 0,
             aggregate_.nullsFirst[key] != 0);
   for (uint32_t arg = 0; aggregate_.call->distinct && arg < aggregate_.argCount; ++arg)
      sortBy(sortedAs[arg], false, false);
   return {std::move(columns), SortKeyLayout(keys), std::move(keyColumns)};
}

/// Appends the rows that were gathered.
void CollectedFeed::appendSorted(ExternalSort::Lane& lane, uint32_t count) {
   for (uint32_t i = 0; i < count; ++i)
      addresses_[i] = std::bit_cast<int64_t>(rows_.groups()[i]);
   Batch stored;
   stored.columns.push_back(Vector::flat(PhysicalType::I64, addresses_, nullptr));
   stored.columns.insert(stored.columns.end(), rows_.columns().begin() + keyCount_, rows_.columns().end());
   orderKeys_.reset();
   std::vector<Vector> sortedAs;
   for (uint32_t arg = 0; arg < aggregate_.argCount; ++arg) {
      sortedAs.push_back(stored.columns[1 + arg]);
      if (!isKeyed(arg)) continue;
      sortedAs[arg] = orderKeys(aggregate_.argTypes[arg], sortedAs[arg], count, orderKeys_);
      stored.columns.push_back(sortedAs[arg]);
   }
   std::vector<Vector> keys;
   if (sortsByGroup_) keys.push_back(stored.columns[0]);
   for (uint32_t key = 0; key < aggregate_.descending.size(); ++key)
      keys.push_back(key < orderedArguments() ? sortedAs[key] : stored.columns[1 + aggregate_.argCount + key]);
   if (aggregate_.call->distinct) keys.insert(keys.end(), sortedAs.begin(), sortedAs.end());
   stored.setDense(count);
   lane.append(context_, stored, keys);
}

void CollectedFeed::feedSorted(RowPartition&& rows, MemoryGrant& grant) {
   ExternalSort sort(sortLayout(), context_.budget());
   sort.prepare(context_, SortRun::keepAll);
   {
      ExternalSort::Lane lane(sort, context_, SortRun::keepAll);
      forEachBatch(std::move(rows), grant, [&](uint32_t count) {
         expect(count);
         appendSorted(lane, count);
      });
      sort.combine(lane);
   }
   while (const uint32_t tasks = sort.finishTasks(context_))
      for (uint32_t task = 0; task < tasks; ++task) {
         context_.checkCancelled();
         sort.finishTask(context_, task);
      }
   sort.finish();
   const std::vector<Representation>& columns = sort.buffer().layout().columns;
   std::optional<BatchBuilder> last; // DISTINCT: the last row of the batch before; its memory is the sort's
   if (aggregate_.call->distinct) last.emplace(columns, sort.memory(), 1);
   BatchBuilder* const before = last ? &*last : nullptr;
   GatherSpace space(columns, static_cast<uint32_t>(columns.size()), sort.memory());
   Batch batch;
   if (sort.hasSpilled()) {
      const auto ranges = sort.merge(context_);
      ranges->start();
      const auto merge = ranges->open(0);
      for (auto some = merge->next(batchRowsMax); !some.empty(); some = merge->next(batchRowsMax)) {
         space.gather(some, ranges->hasNulls(), batch);
         giveSorted(batch, before);
      }
   } else {
      std::span<const RowAddress> order = sort.buffer().order();
      while (!order.empty()) {
         const size_t count = std::min<size_t>(batchRowsMax, order.size());
         space.gather(sort.buffer(), order.first(count), batch);
         giveSorted(batch, before);
         order = order.subspan(count);
      }
   }
}

/// Updates the states with rows in order, and leaves repeated rows of DISTINCT out.
void CollectedFeed::giveSorted(const Batch& batch, BatchBuilder* last) {
   context_.checkCancelled();
   const auto* addresses = batch.columns[0].values<int64_t>();
   std::byte* groups[batchRowsMax];
   RowIndex kept[batchRowsMax];
   uint32_t count = 0;
   for (uint32_t row = 0; row < batch.rowCount; ++row) {
      if (aggregate_.call->distinct) {
         const Batch* before = row == 0 ? last->current() : &batch;
         if (before && isRepeated(batch.columns, row, before->columns, row == 0 ? 0 : row - 1)) continue;
      }
      groups[count] = std::bit_cast<std::byte*>(addresses[row]);
      kept[count++] = static_cast<RowIndex>(row);
   }
   const Selection rows = count == batch.rowCount ? Selection::dense(count) : Selection::list(kept, count);
   update(arguments(batch.columns, 1), rows, groups);
   if (!aggregate_.call->distinct) return;
   last->take();
   last->append(batch, identitySlots(batch.columns.size()), batch.rowCount - 1);
}

bool CollectedFeed::isRepeated(const std::vector<Vector>& columns, uint32_t row, const std::vector<Vector>& before,
                               uint32_t rowBefore) const {
   if (columns[0].values<int64_t>()[row] != before[0].values<int64_t>()[rowBefore]) return false;
   for (uint32_t arg = 0; arg < aggregate_.argCount; ++arg) {
      const Vector &left = columns[1 + arg], &right = before[1 + arg];
      const bool hasNull = left.isNull(row) || right.isNull(rowBefore);
      const StringOrder keyed = keyedOrder(aggregate_.argTypes[arg]);
      const int order = !hasNull && keyed ? keyed(left.value<StringView>(row), right.value<StringView>(rowBefore))
                                          : sortOrder(left, row, right, rowBefore, false, false);
      if (order != 0) return false;
   }
   return true;
}

} // namespace

void feedCollected(QueryContext& context, const GroupingSet& set, size_t aggregate, RowPartition&& rows, size_t groups,
                   const FindGroups& find, Arena& arena, MemoryGrant& grant) {
   if (rows.rows == 0) return;
   const auto feed = std::make_unique<CollectedFeed>(context, set, aggregate, groups, find, arena);
   feed->feed(std::move(rows), grant);
}

} // namespace ouzel::executor
