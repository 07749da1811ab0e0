#include "executor/operator/aggregate/aggregate.hpp"

#include <algorithm>
#include <cstring>

#include "executor/materialize/key_hash.hpp"
#include "executor/operator/aggregate/aggregate_feed.hpp"
#include "executor/operator/aggregate/frequent_value.hpp"
#include "executor/operator/aggregate/key_memo.hpp"

namespace ouzel::executor {

namespace {

/// With fewer rows per group, sorting a batch's rows by group does not pay.
constexpr size_t rowsPerGroupMin = 32;

} // namespace

struct AggregateSink::PerSet {
   std::unique_ptr<GroupTable> table;
   std::byte* only = nullptr; ///< the one group of a set without keys
   std::vector<std::unique_ptr<GroupTable>> distinct;
   std::vector<std::unique_ptr<FrequentValue>> frequent; ///< of DISTINCT aggregates of one argument without keys
   std::vector<std::unique_ptr<TupleBuffer>> collected;
   std::unique_ptr<KeyMemo> memo; ///< made for the first keys that it may take
   std::vector<Vector> keys;
   uint32_t keysCompared = 0; ///< as the set's
   std::unique_ptr<Arena> arena;
   size_t arenaBytes = 0; ///< at the last expectOutside()
   /// The rows of a table or buffer, after settle().
   struct Settled {
      TuplePages pages;
      bool isUnique = false;
   };
   Settled groups;
   std::vector<Settled> distinctValues, collectedRows; ///< by aggregate
};

struct AggregateSink::Local final : LocalState {
   explicit Local(Reservation& memory) : memos(memory) {}

   Reservation memos;
   GroupTable::Scratch scratch; ///< sets are consumed one after the other
   std::vector<PerSet> sets;
   std::unique_ptr<ExpressionState> keys;
   std::vector<std::unique_ptr<ExpressionState>> args, filters;
   // Of the batch being consumed.
   std::vector<Vector> keyValues;
   std::vector<std::vector<Vector>> argValues;
   std::vector<Selection> filtered;
   std::vector<std::vector<RowIndex>> filterLists;
   LiveColumns live, distinctLive;
   std::vector<uint64_t> groupHashes = std::vector<uint64_t>(batchRowsMax); ///< of the live rows' keys
   std::vector<uint64_t> hashes = groupHashes, filteredGroupHashes = groupHashes;
   std::vector<std::byte*> rows = std::vector<std::byte*>(batchRowsMax), states = std::vector<std::byte*>(batchRowsMax),
                           distinctRows = std::vector<std::byte*>(batchRowsMax);
   std::vector<uint32_t> heapSizes = std::vector<uint32_t>(batchRowsMax);
   std::vector<char*> heaps = std::vector<char*>(batchRowsMax);
   std::vector<RowIndex> present = std::vector<RowIndex>(batchRowsMax);
   std::vector<RowIndex> unknown = std::vector<RowIndex>(KeyMemo::combinationsMax);
};

Arena& AggregateSink::keepArena(std::unique_ptr<Arena> arena) {
   const MutexLock lock(arenasMutex_);
   return *arenas_.emplace_back(std::move(arena));
}

void AggregateSink::prepare(QueryContext& context) {
   hasEnough_.store(false);
   makeSets();
   size_t buffers = 0;
   for (const GroupingSet& set : sets_) {
      buffers += !set.keys.empty();
      for (size_t a = 0; a < aggregates_.size(); ++a)
         buffers += aggregates_[a].isCollected || aggregates_[a].isDistinct;
   }
   // Without keys, distinct values and collected rows, the operator needs hardly any memory.
   if (buffers == 0)
      grant_.waiveFloor();
   else
      grant_.claimFloor();
   const size_t floor = grant_.floor() / std::max<size_t>(buffers, 1);
   const uint32_t bits = SpilledPartitions::bitsFor(floor, context.workers());
   pageBits_ = bits;
   tableOptions_.pageSize = SpilledPartitions::pageSizeFor(floor, context.workers(), bits);
   // The tables of all workers may take a quarter.
   tableOptions_.tableBytesMax =
       std::min(GroupTable::tableBytesUsual, floor / 4 / std::max<size_t>(context.workers(), 1));
   io::SpillSpace* space = context.canSpill() ? &context.spill() : nullptr;
   for (GroupingSet& set : sets_) {
      // Without keys there is one group, which stays in memory.
      io::SpillSpace* ofGroups = set.keys.empty() ? nullptr : space;
      set.partitions = std::make_unique<SpilledPartitions>(ofGroups, bits);
      for (size_t a = 0; a < aggregates_.size(); ++a) {
         if (set.distinct[a]) set.distinct[a]->partitions = std::make_unique<SpilledPartitions>(space, bits);
         if (set.collected[a]) set.collected[a]->partitions = std::make_unique<SpilledPartitions>(space, bits);
      }
   }
}

LocalStatePtr AggregateSink::makeLocal(QueryContext& context) {
   auto local = std::make_unique<Local>(grant_.memory());
   if (keys_) local->keys = std::make_unique<ExpressionState>(keys_, context.functions(), context.memory());
   local->keyValues.resize(keyReprs_.size());
   for (const CompiledAggregate& aggregate : aggregates_) {
      local->args.push_back(
          aggregate.args ? std::make_unique<ExpressionState>(aggregate.args, context.functions(), context.memory())
                         : nullptr);
      local->filters.push_back(
          aggregate.filter ? std::make_unique<ExpressionState>(aggregate.filter, context.functions(), context.memory())
                           : nullptr);
      local->argValues.emplace_back(aggregate.argReprs.size());
      local->filterLists.emplace_back(aggregate.filter ? batchRowsMax : 0);
   }
   local->filtered.resize(aggregates_.size());
   for (GroupingSet& set : sets_) {
      PerSet& mine = local->sets.emplace_back();
      mine.arena = newArena();
      mine.keysCompared = set.keysCompared;
      mine.table = std::make_unique<GroupTable>(set.layout, set.keysCompared, set, grant_, *set.partitions,
                                                local->scratch, tableOptions_);
      for (size_t a = 0; a < aggregates_.size(); ++a) {
         mine.distinct.push_back(set.distinct[a] ? std::make_unique<GroupTable>(
                                                       set.distinct[a]->layout, set.distinct[a]->layout.columnCount(),
                                                       *set.distinct[a], grant_, *set.distinct[a]->partitions,
                                                       local->scratch, tableOptions_)
                                                 : nullptr);
         const bool hasOneValue = set.distinct[a] && set.keys.empty() && aggregates_[a].argReprs.size() == 1;
         mine.frequent.push_back(hasOneValue ? std::make_unique<FrequentValue>() : nullptr);
         mine.collected.push_back(
             set.collected[a]
                 ? std::make_unique<TupleBuffer>(set.collected[a]->layout, grant_, *set.collected[a]->partitions,
                                                 TupleBuffer::Options{.partitionPageSize = tableOptions_.pageSize})
                 : nullptr);
      }
   }
   return local;
}

SinkStatus AggregateSink::consume(QueryContext& context, LocalState& state, const Batch& in) {
   auto& local = static_cast<Local&>(state);
   if (keys_) keys_->evaluateAll(*local.keys, in, in.selection, local.keyValues.data());
   for (size_t a = 0; a < aggregates_.size(); ++a) {
      const CompiledAggregate& aggregate = aggregates_[a];
      if (aggregate.isShared) continue;
      local.filtered[a] =
          aggregate.filter ? aggregate.filter->filter(*local.filters[a], in, in.selection, local.filterLists[a].data())
                           : in.selection;
      if (aggregate.args && local.filtered[a].count() > 0)
         aggregate.args->evaluateAll(*local.args[a], in, local.filtered[a], local.argValues[a].data());
   }
   for (size_t set = 0; set < sets_.size(); ++set) {
      if (set > 0) context.checkCancelled(); // there may be thousands
      consumeSet(context, local, set, in);
   }
   if (groupsWanted_ == 0) return SinkStatus::NeedInput;
   if (local.sets[0].table->groupCount() >= groupsWanted_) hasEnough_.store(true, std::memory_order_relaxed);
   return hasEnough_.load(std::memory_order_relaxed) ? SinkStatus::Done : SinkStatus::NeedInput;
}

void AggregateSink::consumeSet(QueryContext& context, Local& local, size_t number, const Batch& in) {
   GroupingSet& set = sets_[number];
   PerSet& mine = local.sets[number];
   bool isMemoised = false;
   if (const size_t arenaBytes = mine.arena->chunkBytes(); arenaBytes > mine.arenaBytes) {
      mine.arenaBytes = arenaBytes;
      mine.table->expectOutside(arenaBytes);
      if (!grant_.mayGrow(set.partitions->laterBytes())) relieve(mine);
   }
   if (mine.table->wantsRelief()) relieve(mine);
   if (set.keys.empty()) {
      if (!mine.only) {
         const uint64_t hash = 0;
         mine.table->findOrCreate(nullptr, &hash, 1, &mine.only);
      }
   } else {
      mine.keys.clear();
      for (const uint32_t key : set.keys)
         mine.keys.push_back(local.keyValues[key]);
      if (!mine.memo && KeyMemo::areCoded(mine.keys) && local.memos.tryGrow(sizeof(KeyMemo)))
         mine.memo = std::make_unique<KeyMemo>();
      if (mine.memo && mine.memo->bind(mine.keys, in.selection)) {
         learnGroups(context, local, mine, in);
         isMemoised = true;
      } else {
         findGroups(context, local, mine, in.selection, local.rows.data());
      }
   }
   updateStates(context, local, number, in, isMemoised);
}

/// Spill groups of a set. REQUIRES: no row of a group is in use.
void AggregateSink::relieve(PerSet& mine) {
   if (mine.only) return;
   if (mine.memo) mine.memo->forget();
   mine.table->relieve();
   mine.arena = newArena();
   mine.arenaBytes = 0;
}

void AggregateSink::findGroups(QueryContext& context, Local& local, PerSet& mine, const Selection& rows,
                               std::byte** groups) {
   local.live.bind(mine.keys, rows);
   uint64_t* const hashes = local.groupHashes.data();
   hashKeys(local.live.data(), mine.keysCompared, rows.count(), context.settings().zeroHashes, hashes);
   mine.table->findOrCreate(local.live.data(), hashes, rows.count(), groups);
}

/// Find the groups of key combinations that the memo does not know.
void AggregateSink::learnGroups(QueryContext& context, Local& local, PerSet& mine, const Batch& in) {
   const std::span<const uint16_t> unknown = mine.memo->unknown();
   if (unknown.empty()) return;
   for (size_t i = 0; i < unknown.size(); ++i)
      local.unknown[i] = in.selection.row(unknown[i]);
   findGroups(context, local, mine, Selection::list(local.unknown.data(), static_cast<uint32_t>(unknown.size())),
              local.rows.data());
   mine.memo->learn(local.rows.data());
}

/// Update the states group by group. With few groups this is faster than row by row: a kernel keeps the state in
/// registers.
void AggregateSink::updateByGroup(const AggregateInput& input, const KeyMemo& memo, const AggregateKernel& kernel,
                                  uint32_t offset) {
   AggregateInput part = input;
   for (const uint8_t combination : memo.present()) {
      if (memo.present().size() > 1) part.rows = memo.rowsOf(combination);
      kernel.updateOne(part, memo.group(combination) + offset);
   }
}

namespace {
/// Those of `rows` in which the column is not NULL; `list` has room for a batch.
Selection withoutNulls(const Vector& column, const Selection& rows, RowIndex* list) {
   if (!column.mayHaveNulls()) return rows;
   uint32_t kept = 0;
   forEachRow(rows, [&](uint32_t row) {
      list[kept] = static_cast<RowIndex>(row);
      kept += !column.isNull(row);
   });
   return Selection::list(list, kept);
}
} // namespace

/// Hash distinct values. The top distinctGroupBits bits are the hash of the group, so that all values of a group lie in
/// one partition. The other bits are of group and value. `hasGroupHashes`: findGroups() has hashed the keys of the same
/// rows.
void AggregateSink::hashDistinct(QueryContext& context, Local& local, uint32_t keyCount, uint32_t count,
                                 bool hasGroupHashes) {
   const bool zeroHashes = context.settings().zeroHashes;
   const LiveColumn* columns = local.distinctLive.data();
   const uint32_t columnCount = local.distinctLive.size();
   uint64_t* hashes = local.hashes.data();
   if (keyCount == 0 || zeroHashes) return hashKeys(columns, columnCount, count, zeroHashes, hashes);
   uint64_t* groupHashes = (hasGroupHashes ? local.groupHashes : local.filteredGroupHashes).data();
   if (!hasGroupHashes) hashKeys(columns, keyCount, count, zeroHashes, groupHashes);
   std::copy_n(groupHashes, count, hashes);
   for (uint32_t c = keyCount; c < columnCount; ++c)
      hashColumn(columns[c], count, true, hashes);
   constexpr uint64_t valueBits = ~uint64_t{0} >> distinctGroupBits;
   for (uint32_t i = 0; i < count; ++i)
      hashes[i] = (groupHashes[i] & ~valueBits) | (hashes[i] & valueBits);
}

void AggregateSink::updateStates(QueryContext& context, Local& local, size_t number, const Batch& in, bool isMemoised) {
   GroupingSet& set = sets_[number];
   PerSet& mine = local.sets[number];
   const bool isGrouped = isMemoised && mine.memo->present().size() * rowsPerGroupMin <= in.liveRows();
   if (isGrouped) mine.memo->sortRows(in.selection);
   std::byte** const rows = local.rows.data();
   bool hasRows = !isMemoised && !mine.only;
   for (size_t a = 0; a < aggregates_.size(); ++a) {
      const CompiledAggregate& aggregate = aggregates_[a];
      if (aggregate.isShared) continue;
      Selection selected = local.filtered[a];
      if (mine.frequent[a] && selected.count() > 0) selected = mine.frequent[a]->drop(local.argValues[a][0], selected);
      if (aggregate.dropsNulls) selected = withoutNulls(local.argValues[a][0], selected, local.present.data());
      if (selected.count() == 0) continue;
      const std::span<const Vector> args(local.argValues[a].data(), aggregate.argCount);
      if (aggregate.isCollected || aggregate.isDistinct) {
         Batch values;
         for (const uint32_t key : set.keys)
            values.columns.push_back(local.keyValues[key]);
         values.columns.insert(values.columns.end(), local.argValues[a].begin(), local.argValues[a].end());
         values.rowCount = in.rowCount;
         values.selection = selected;
         if (aggregate.isDistinct) {
            local.distinctLive.bind(values.columns, selected);
            hashDistinct(context, local, static_cast<uint32_t>(set.keys.size()), selected.count(),
                         !isMemoised && selected.count() == in.liveRows());
            if (mine.distinct[a]->wantsRelief()) mine.distinct[a]->relieve();
            mine.distinct[a]->findOrCreate(local.distinctLive.data(), local.hashes.data(), selected.count(),
                                           local.distinctRows.data());
            continue;
         }
         local.distinctLive.bind(values.columns, selected);
         collect(context, local, mine, set, a, selected.count());
         continue;
      }
      AggregateInput input{args, selected, context.functions(), *mine.arena, aggregate.argTypes};
      const uint32_t offset = set.stateOffsets[a];
      if (set.keys.empty() && aggregate.kernel->updateOne) {
         aggregate.kernel->updateOne(input, mine.only + offset);
         continue;
      }
      if (isGrouped && !aggregate.filter && aggregate.kernel->updateOne) {
         updateByGroup(input, *mine.memo, *aggregate.kernel, offset);
         continue;
      }
      if (!hasRows && mine.only) std::fill_n(rows, in.liveRows(), mine.only);
      if (!hasRows && !mine.only) mine.memo->groupsOf(in.liveRows(), rows);
      hasRows = true;
      // states[i] belongs to the i-th filtered row; rows[] is by live row of the batch.
      if (selected.count() == in.liveRows()) {
         for (uint32_t i = 0; i < selected.count(); ++i)
            local.states[i] = rows[i] + offset;
      } else {
         uint32_t live = 0;
         for (uint32_t i = 0; i < selected.count(); ++i, ++live) {
            while (in.selection.row(live) != selected.row(i))
               ++live;
            local.states[i] = rows[live] + offset;
         }
      }
      aggregate.kernel->update(input, local.states.data());
   }
}

/// Store rows, bound to local.distinctLive, until the input has ended.
void AggregateSink::collect(QueryContext& context, Local& local, PerSet& mine, const GroupingSet& set, size_t a,
                            uint32_t count) {
   const RowLayout& layout = set.collected[a]->layout;
   TupleBuffer& buffer = *mine.collected[a];
   if (buffer.wantsRelief()) buffer.relieve();
   const LiveColumn* columns = local.distinctLive.data();
   hashKeys(columns, static_cast<uint32_t>(set.keys.size()), count, context.settings().zeroHashes, local.hashes.data());
   const bool hasStrings = layout.hasVariableSize();
   if (hasStrings) {
      std::fill_n(local.heapSizes.begin(), count, 0u);
      for (uint32_t column = 0; column < layout.columnCount(); ++column)
         if (isVariableSize(layout.type(column))) addVariableSizes(columns[column], count, local.heapSizes.data());
   }
   buffer.store(local.hashes.data(), hasStrings ? local.heapSizes.data() : nullptr, count, local.distinctRows.data(),
                hasStrings ? local.heaps.data() : nullptr);
   for (uint32_t column = 0; column < layout.columnCount(); ++column)
      scatterColumn(layout, column, columns[column], count, local.distinctRows.data(),
                    hasStrings ? local.heaps.data() : nullptr);
}

void AggregateSink::noteSpilled(const TuplePages& pages) {
   for (const SpilledTuplePage& spilled : pages.spilled()) {
      spilledRows_ += spilled.rowCount;
      spilledBytes_ += spilled.bytes;
      storedBytes_ += spilled.storedBytes();
   }
}

bool AggregateSink::settlesInParallel() const {
   const auto hasSpilled = [](const auto& rows) { return rows && !rows->partitions->isEmpty(); };
   return std::any_of(sets_.begin(), sets_.end(), [&](const GroupingSet& set) {
      return !set.partitions->isEmpty() || std::any_of(set.distinct.begin(), set.distinct.end(), hasSpilled) ||
             std::any_of(set.collected.begin(), set.collected.end(), hasSpilled);
   });
}

void AggregateSink::settle(QueryContext&, LocalState& state) {
   const auto take = [](GroupTable* table) {
      PerSet::Settled settled;
      if (!table) return settled;
      settled.isUnique = table->isUnique();
      settled.pages = table->takePages();
      return settled;
   };
   for (PerSet& mine : static_cast<Local&>(state).sets) {
      mine.groups = take(mine.table.get());
      for (size_t a = 0; a < aggregates_.size(); ++a) {
         mine.distinctValues.push_back(take(mine.distinct[a].get()));
         mine.collectedRows.push_back({mine.collected[a] ? mine.collected[a]->finish() : TuplePages(), false});
      }
   }
}

void AggregateSink::combine(QueryContext&, LocalState& state) {
   auto& local = static_cast<Local&>(state);
   for (size_t number = 0; number < sets_.size(); ++number) {
      GroupingSet& set = sets_[number];
      PerSet& mine = local.sets[number];
      keepArena(std::move(mine.arena));
      noteSpilled(mine.groups.pages);
      set.groups.add(std::move(mine.groups.pages), mine.groups.isUnique);
      for (size_t a = 0; a < aggregates_.size(); ++a) {
         if (mine.distinct[a]) {
            PerSet::Settled& values = mine.distinctValues[a];
            noteSpilled(values.pages);
            set.distinct[a]->groups.add(std::move(values.pages), values.isUnique);
         }
         if (!mine.collected[a]) continue;
         noteSpilled(mine.collectedRows[a].pages);
         set.collected[a]->pages.merge(std::move(mine.collectedRows[a].pages));
      }
   }
}

void AggregateSink::describe(OperatorProfile& profile) const {
   profile.memoryPeak = std::max(profile.memoryPeak, grant_.memory().peak());
   const auto& keys = node_.as<sql::plan::Aggregate>().keys;
   if (!determined_.keys.empty() && !sets_.empty() && sets_.front().keysCompared < keys.size())
      profile.notes.emplace_back("Keys Compared",
                                 std::to_string(sets_.front().keysCompared) + " of " + std::to_string(keys.size()));
   if (spilledRows_ == 0) return;
   uint64_t made = 0, spilled = 0;
   const auto add = [&](const SpilledPartitions& partitions) {
      if (partitions.isEmpty()) return;
      made += uint64_t{1} << partitions.bits();
      spilled += partitions.count();
   };
   for (const GroupingSet& set : sets_) {
      add(*set.partitions);
      for (size_t a = 0; a < aggregates_.size(); ++a) {
         if (set.distinct[a]) add(*set.distinct[a]->partitions);
         if (set.collected[a]) add(*set.collected[a]->partitions);
      }
   }
   profile.notes.emplace_back("Partitions", std::to_string(made));
   profile.notes.emplace_back("Partitions Spilled", std::to_string(spilled));
   profile.notes.emplace_back("Spilled Rows", std::to_string(spilledRows_));
   profile.notes.emplace_back("Spilled Bytes", std::to_string(spilledBytes_));
   profile.notes.emplace_back("Stored Bytes", std::to_string(storedBytes_));
}

} // namespace ouzel::executor
