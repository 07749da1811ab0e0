#include "executor/operator/aggregate/aggregate_feed.hpp"

#include <algorithm>
#include <numeric>

#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/materialize/key_hash.hpp"
#include "executor/materialize/row_batch.hpp"
#include "executor/pipeline/memory_grant.hpp"

namespace ouzel::executor {

FindGroups findIn(const MergedGroups& groups) {
   return [&groups](const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) {
      groups.find(keys, hashes, count, rows);
   };
}

FindGroups findIn(const GroupSet& groups, const GroupingSet& set) {
   return [&](const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) {
      RowIndex live[batchRowsMax];
      std::iota(live, live + count, RowIndex{0});
      groups.find(set.layout, static_cast<uint32_t>(set.keys.size()), keys, hashes, live, count, rows);
   };
}

RowList::RowList(const RowLayout& layout, const TuplePages& pages, Reservation& memory) : charge_(memory) {
   const uint64_t count = pages.rowCount(layout.rowSize());
   charge_.grow(count * sizeof(std::byte*));
   rows_.reserve(count);
   for (const auto& page : pages.pages())
      for (std::byte* row = page->begin; row != page->cursor; row += layout.rowSize())
         rows_.push_back(row);
}

namespace {

std::vector<PhysicalType> typesOf(const RowLayout& layout) {
   std::vector<PhysicalType> types;
   for (uint32_t column = 0; column < layout.columnCount(); ++column)
      types.push_back(layout.type(column));
   return types;
}

/// Gathers up to batchRowsMax stored rows at a time, and finds their groups.
class KeyedRows {
public:
   KeyedRows(QueryContext& context, const RowLayout& layout, uint32_t keyCount, const FindGroups& find)
      : context_(context), layout_(layout), keyCount_(keyCount), find_(find), columns_(layout.columnCount()) {}

   void gather(RowBatch& space, std::span<std::byte* const> rows) {
      const auto count = static_cast<uint32_t>(rows.size());
      for (uint32_t column = 0; column < layout_.columnCount(); ++column)
         columns_[column] = space.gather(column, layout_, column, rows.data(), count);
      live_.bind(columns_.data(), keyCount_, Selection::dense(count));
      hashKeys(live_.data(), keyCount_, count, context_.settings().zeroHashes, hashes_);
      find_(live_.data(), hashes_, count, groups_);
   }
   const std::vector<Vector>& columns() const { return columns_; }
   std::byte** groups() { return groups_; }

private:
   QueryContext& context_;
   const RowLayout& layout_;
   const uint32_t keyCount_;
   const FindGroups& find_;
   std::vector<Vector> columns_;
   LiveColumns live_;
   uint64_t hashes_[batchRowsMax];
   std::byte* groups_[batchRowsMax];
};

} // namespace

void feedDistinct(QueryContext& context, const GroupingSet& set, size_t a, std::span<std::byte* const> all,
                  const FindGroups& find, Arena& arena) {
   const CompiledAggregate& aggregate = (*set.aggregates)[a];
   const RowLayout& layout = set.distinct[a]->layout;
   const auto keyCount = static_cast<uint32_t>(set.keys.size());
   RowBatch space(typesOf(layout));
   KeyedRows rows(context, layout, keyCount, find);
   for (; !all.empty(); all = all.subspan(std::min<size_t>(batchRowsMax, all.size()))) {
      context.checkCancelled();
      const auto count = static_cast<uint32_t>(std::min<size_t>(batchRowsMax, all.size()));
      rows.gather(space, all.first(count));
      for (uint32_t i = 0; i < count; ++i)
         rows.groups()[i] += set.stateOffsets[a];
      const AggregateInput input{std::span(rows.columns()).subspan(keyCount, aggregate.argCount),
                                 Selection::dense(count), context.functions(), arena, aggregate.argTypes};
      aggregate.kernel->update(input, rows.groups());
   }
}

namespace {

/// A few milliseconds of sorting.
constexpr uint32_t comparisonsBetweenChecks = 1u << 16;

/// A collected row, gathered into a batch, and its group.
struct CollectedRow {
   std::byte* group;
   uint32_t batch;
   RowIndex row;
};

} // namespace

size_t bytesToFeedRow(const RowLayout& layout) {
   return layout.rowSize() + 2 * sizeof(CollectedRow); // the gathered columns; the list, and the sort's copy of it
}

void feedCollected(QueryContext& context, const GroupingSet& set, size_t a, std::span<std::byte* const> input,
                   const FindGroups& find, Arena& arena, Reservation& memory) {
   const CompiledAggregate& aggregate = (*set.aggregates)[a];
   const RowLayout& layout = set.collected[a]->layout;
   const auto keyCount = static_cast<uint32_t>(set.keys.size());
   const uint32_t argsBegin = keyCount, orderBegin = keyCount + (aggregate.orderCount ? aggregate.argCount : 0);
   Reservation here(memory);
   here.grow(input.size() * bytesToFeedRow(layout));
   std::vector<CollectedRow> all;
   all.reserve(input.size());
   std::vector<RowBatch> spaces;
   std::vector<std::vector<Vector>> batches;
   KeyedRows rows(context, layout, keyCount, find);
   for (size_t first = 0; first < input.size(); first += batchRowsMax) {
      context.checkCancelled();
      const std::span<std::byte* const> some =
          input.subspan(first, std::min<size_t>(batchRowsMax, input.size() - first));
      rows.gather(spaces.emplace_back(typesOf(layout)), some);
      for (uint32_t row = 0; row < some.size(); ++row)
         all.push_back({rows.groups()[row], static_cast<uint32_t>(batches.size()), static_cast<RowIndex>(row)});
      batches.push_back(rows.columns());
   }
   const auto columnOf = [&](const CollectedRow& row, uint32_t column) -> const Vector& {
      return batches[row.batch][column];
   };
   std::vector<StringOrder> keyedOrders;
   for (const sql::ExprPtr& arg : aggregate.call->args)
      keyedOrders.push_back(keyedOrder(arg->type));
   const auto argsOrder = [&](const CollectedRow& x, const CollectedRow& y) {
      for (uint32_t arg = 0; arg < aggregate.argCount; ++arg) {
         const Vector &left = columnOf(x, argsBegin + arg), &right = columnOf(y, argsBegin + arg);
         const bool hasNull = left.isNull(x.row) || right.isNull(y.row);
         const int order = !hasNull && keyedOrders[arg]
                               ? keyedOrders[arg](left.value<StringView>(x.row), right.value<StringView>(y.row))
                               : sortOrder(left, x.row, right, y.row, false, false);
         if (order != 0) return order;
      }
      return 0;
   };
   uint32_t comparisons = 0;
   std::stable_sort(all.begin(), all.end(), [&](const CollectedRow& x, const CollectedRow& y) {
      if (++comparisons % comparisonsBetweenChecks == 0) context.checkCancelled();
      if (x.group != y.group) return x.group < y.group;
      for (uint32_t key = 0; key < aggregate.descending.size(); ++key)
         if (const int order = sortOrder(columnOf(x, orderBegin + key), x.row, columnOf(y, orderBegin + key), y.row,
                                         aggregate.descending[key] != 0, aggregate.nullsFirst[key] != 0))
            return order < 0;
      return aggregate.call->distinct && argsOrder(x, y) < 0;
   });
   if (aggregate.call->distinct)
      all.erase(std::unique(all.begin(), all.end(),
                            [&](const CollectedRow& x, const CollectedRow& y) {
                               return x.group == y.group && argsOrder(x, y) == 0;
                            }),
                all.end());

   const std::vector<Representation> argColumns(aggregate.argReprs.begin(),
                                                aggregate.argReprs.begin() + aggregate.argCount);
   std::vector<uint32_t> slots(aggregate.argCount);
   std::iota(slots.begin(), slots.end(), argsBegin);
   std::byte* states[batchRowsMax];
   Batch one;
   for (size_t first = 0; first < all.size(); first += batchRowsMax) {
      context.checkCancelled();
      const uint32_t count = static_cast<uint32_t>(std::min<size_t>(batchRowsMax, all.size() - first));
      BatchBuilder builder(argColumns, memory);
      for (uint32_t i = 0; i < count; ++i) {
         const CollectedRow& row = all[first + i];
         one.columns = batches[row.batch];
         one.rowCount = row.row + 1u;
         one.selection = Selection::list(&row.row, 1);
         builder.append(one, slots, 0);
         states[i] = row.group + set.stateOffsets[a];
      }
      const auto ordered = builder.take();
      const AggregateInput values{ordered->batch.columns, Selection::dense(count), context.functions(), arena,
                                  aggregate.argTypes,     aggregate.descending,    aggregate.nullsFirst};
      aggregate.kernel->update(values, states);
   }
}

// ---- rows by partition ----

namespace {

constexpr uint32_t splitBits = 4;
/// Rows that agree in so many bits of the hash are not split further.
constexpr uint32_t bitsUsedMax = 44;

std::vector<RowPartition> sortPages(const RowLayout& layout, TuplePages&& pages, const SpilledPartitions& by) {
   std::vector<RowPartition> partitions(size_t{1} << by.bits());
   for (auto& page : pages.takePages()) {
      RowPartition& partition = partitions[page->partition];
      partition.rows += page->rowCount(layout.rowSize());
      partition.pages.push_back(std::move(page));
   }
   for (const SpilledTuplePage& spilled : pages.spilled()) {
      RowPartition& partition = partitions[spilled.partition];
      partition.rows += spilled.rowCount;
      partition.spilledBytes += spilled.bytes;
      partition.spilled.push_back(spilled);
   }
   for (RowPartition& partition : partitions)
      partition.bitsUsed = by.skippedBits() + by.bits();
   return partitions;
}

} // namespace

std::vector<RowPartition> partitionsOf(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                       TuplePages&& pages, SpilledPartitions& by) {
   const auto isMixed = [](const auto& page) { return page->partition == TuplePage::anyPartition; };
   if (std::any_of(pages.pages().begin(), pages.pages().end(), isMixed)) {
      TupleBuffer buffer(layout, grant, by, {.startsPartitioned = true});
      TuplePages partitioned;
      for (auto& page : pages.takePages()) {
         if (!isMixed(page)) {
            partitioned.add(std::move(page));
            continue;
         }
         context.checkCancelled();
         buffer.storeCopies(*page);
         page.reset();
         if (buffer.wantsRelief()) buffer.relieve();
      }
      pages.merge(std::move(partitioned));
      pages.merge(buffer.finish());
   }
   return sortPages(layout, std::move(pages), by);
}

std::vector<RowPartition> splitPartition(QueryContext& context, MemoryGrant& grant, const RowLayout& layout,
                                         RowPartition&& partition) {
   SpilledPartitions by(&context.spill(), splitBits, partition.bitsUsed);
   TupleBuffer buffer(layout, grant, by, {.startsPartitioned = true});
   forEachPage(context, grant, layout, std::move(partition), [&](std::unique_ptr<TuplePage> page) {
      buffer.storeCopies(*page);
      page.reset();
      if (buffer.wantsRelief()) buffer.relieve();
   });
   return sortPages(layout, buffer.finish(), by);
}

void forEachPage(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                 const std::function<void(std::unique_ptr<TuplePage>)>& take) {
   for (auto& page : partition.pages) {
      context.checkCancelled();
      take(std::move(page));
   }
   if (partition.spilled.empty()) return;
   TupleReader reader(layout, grant.memory(), context.spill());
   for (const SpilledTuplePage& spilled : partition.spilled)
      reader.add(spilled);
   while (auto page = reader.next()) {
      context.checkCancelled();
      take(std::move(page));
   }
}

void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, TuplePages&& pages,
                   SpilledPartitions& by, const std::function<void(const GroupSet&)>& use) {
   std::vector<RowPartition> partitions = partitionsOf(context, grant, layout, std::move(pages), by);
   // Partitions in memory first: using them frees their memory for the spilled partitions.
   for (const bool isSpilled : {false, true})
      for (RowPartition& partition : partitions)
         if (partition.rows > 0 && partition.spilled.empty() != isSpilled)
            forEachUnited(context, grant, layout, std::move(partition), use);
}

void forEachUnited(QueryContext& context, MemoryGrant& grant, const RowLayout& layout, RowPartition&& partition,
                   const std::function<void(const GroupSet&)>& use) {
   const bool fits = grant.mayGrow(partition.spilledBytes + partition.rows * GroupSet::bytesPerRow);
   if (!fits && !partition.spilled.empty() && partition.bitsUsed < bitsUsedMax) {
      for (RowPartition& part : splitPartition(context, grant, layout, std::move(partition)))
         if (part.rows > 0) forEachUnited(context, grant, layout, std::move(part), use);
      return;
   }
   GroupSet united(partition.rows, grant.memory());
   std::vector<std::unique_ptr<TuplePage>> kept;
   forEachPage(context, grant, layout, std::move(partition), [&](std::unique_ptr<TuplePage> page) {
      if (united.addPage(layout, layout.columnCount(), *page, nullptr) > 0) kept.push_back(std::move(page));
   });
   use(united);
}

} // namespace ouzel::executor
