#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/function/aggregate/aggregate.hpp"
#include "executor/operator/aggregate/group_table.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/plan_builder.hpp"

// GROUP BY: one operator for all cases. Rows meet a worker's small table first; when the input has ended the workers'
// groups are united by partitions of the hash (FACTS A, B). Aggregates over DISTINCT values group their values a second
// time; those that need their input in order (string_agg, percentiles) keep it and sort it at the end.

namespace ouzel::executor {

class KeyMemo;

/// One aggregate of the plan, compiled. Shared by all grouping sets; read-only.
struct CompiledAggregate {
   const sql::AggregateCall* call = nullptr;
   const AggregateKernel* kernel = nullptr;
   std::vector<SqlType> argTypes;
   std::vector<Representation> argReprs; ///< sort columns of WITHIN GROUP, arguments, direct arguments
   Representation result;
   uint32_t argCount = 0;                       ///< of argReprs, those that the kernel takes
   uint32_t orderCount = 0;                     ///< columns behind the arguments that only order them
   std::vector<uint8_t> descending, nullsFirst; ///< of the order: WITHIN GROUP's own arguments or the columns behind
   bool isCollected = false;                    ///< kept and sorted
   bool isDistinct = false;                     ///< by a second grouping
   bool isShared = false;                       ///< the state is that of another one before it, which does the work
   size_t stateOf = 0;                          ///< whose state it is; its own place unless it is shared
   /// Arguments, then order columns; with a FILTER evaluated for its rows only.
   std::shared_ptr<const ExpressionProgram> args;
   std::shared_ptr<const ExpressionProgram> filter;
};

/// One grouping set: its keys, the layout of its groups, and the groups once united.
struct GroupingSet final : GroupInitializer {
   std::vector<uint32_t> keys; ///< of the plan's keys
   RowLayout layout;
   std::vector<uint32_t> stateOffsets; ///< by aggregate
   const std::vector<CompiledAggregate>* aggregates = nullptr;
   MergedGroups groups;
   std::unique_ptr<SpilledPartitions> partitions;
   /// By aggregate; for DISTINCT ones the layout and groups of (keys, arguments).
   struct DistinctValues final : GroupInitializer {
      RowLayout layout;
      MergedGroups groups;
      std::unique_ptr<SpilledPartitions> partitions;
      void initialize(std::byte* const*, uint32_t) const override {}
   };
   std::vector<std::unique_ptr<DistinctValues>> distinct;
   /// By aggregate; for those that need their input in order, rows of (keys, arguments, order columns).
   struct CollectedRows {
      RowLayout layout;
      TuplePages pages;
      std::unique_ptr<SpilledPartitions> partitions;
   };
   std::vector<std::unique_ptr<CollectedRows>> collected;

   void initialize(std::byte* const* rows, uint32_t count) const override;
   /// Some aggregate looks its groups up at the end.
   bool needsIndex() const;
   /// The groups, or what waits for them, are not all in memory: all of it is taken partition by partition.
   bool isSpilled() const;
};

class AggregateSink final : public Sink {
public:
   AggregateSink(PlanBuilder& builder, const sql::plan::Node& node);

   void prepare(QueryContext& context) override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;
   uint32_t finishTasks(QueryContext& context, uint32_t round) override;
   void finishTask(QueryContext& context, uint32_t round, uint32_t task) override;
   void describe(OperatorProfile& profile) const override;

   std::deque<GroupingSet>& sets() { return sets_; }
   MemoryGrant& grant() { return grant_; }
   /// Thread-safe.
   void combineStates(const GroupingSet& set, std::byte* const* into, const std::byte* const* from, uint32_t count,
                      Arena& arena) const;
   const std::vector<CompiledAggregate>& aggregates() const { return aggregates_; }
   const sql::plan::Node& node() const { return node_; }

private:
   struct Local;
   /// What is done after the input: groups are scattered by partitions and united, then the values of DISTINCT
   /// aggregates and the rows of ordered ones go to the states of their groups.
   enum class Stage : uint8_t { Scatter, Unite, Distinct, Collected, End };
   struct Task {
      MergedGroups* groups;
      GroupingSet* set;
      uint32_t number; ///< page or partition
      uint32_t aggregate;
   };
   /// One of the things to unite, and for a main one its set.
   struct Merge {
      MergedGroups* groups;
      GroupingSet* set; ///< null: distinct values, which have no states
   };

   CompiledAggregate compile(PlanBuilder& builder, const sql::AggregateCall& call, const ColumnSlots& slots);
   void addAggregate(CompiledAggregate aggregate);
   void layOut(GroupingSet& set);
   void consumeSet(QueryContext& context, Local& local, size_t number, const Batch& in);
   struct PerSet;
   void findGroups(QueryContext& context, Local& local, PerSet& mine, const Selection& rows, std::byte** groups);
   void learnGroups(QueryContext& context, Local& local, PerSet& mine, const Batch& in);
   static void updateByGroup(const AggregateInput& input, const KeyMemo& memo, const AggregateKernel& kernel,
                             uint32_t offset);
   void updateStates(QueryContext& context, Local& local, size_t set, const Batch& in, bool isMemoised);
   void relieve(PerSet& mine);
   void addMissingGroup(GroupingSet& set);
   static void hashDistinct(QueryContext& context, Local& local, uint32_t keyCount, uint32_t count);
   void collect(QueryContext& context, Local& local, PerSet& mine, const GroupingSet& set, size_t aggregate,
                uint32_t count);
   void feedDistinctValues(QueryContext& context, const Task& task);
   void noteSpilled(const TuplePages& pages);
   void planStage();
   void uniteGroups(const Task& task);
   Arena& keepArena(std::unique_ptr<Arena> arena);
   std::unique_ptr<Arena> newArena() { return std::make_unique<Arena>(&grant_.memory()); }

   const sql::plan::Node& node_;
   const sql::ColumnTable& columns_;
   MemoryGrant grant_;
   std::vector<Representation> keyReprs_;
   std::shared_ptr<const ExpressionProgram> keys_; ///< null: no keys
   std::vector<CompiledAggregate> aggregates_;
   std::deque<GroupingSet> sets_;
   size_t pageSize_ = 0; ///< of partitions
   std::vector<Merge> merges_;
   std::vector<Task> tasks_; ///< of the current stage
   Stage stage_ = Stage::Scatter, nextStage_ = Stage::Scatter;
   Mutex arenasMutex_;
   std::vector<std::unique_ptr<Arena>>
       arenas_ GUARDED_BY(arenasMutex_); ///< variable-size parts of states; live as long as the query
   uint64_t spilledRows_ = 0, spilledBytes_ = 0, storedBytes_ = 0;
};

} // namespace ouzel::executor
