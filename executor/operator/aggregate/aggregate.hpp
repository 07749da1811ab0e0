#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/function/aggregate/aggregate.hpp"
#include "executor/operator/aggregate/determined_keys.hpp"
#include "executor/operator/aggregate/group_table.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/plan_builder.hpp"

// GROUP BY: one operator for all cases. Each worker groups its rows in a small table (GroupTable). After the input the
// workers' groups are united by partitions of the hash (MergedGroups). Two kinds of aggregate wait until then: an
// aggregate over DISTINCT values groups (keys, arguments) in a table of its own; an aggregate that needs its input in
// order (string_agg, percentiles) is "collected": its rows are stored and sorted.
//
//    consume()   groups and states of each worker; distinct values; collected rows
//    finish      Stage::Scatter -> Unite -> Distinct -> Collected (aggregate_finish.cpp), if the set is in memory
//    result      AggregateSource: gives the groups; for a set with spilled rows, SpilledGroups does the work of the
//                finishing stages partition by partition

namespace ouzel::executor {

class KeyMemo;

/// An aggregate of the plan, compiled. Shared by all grouping sets; read-only.
struct CompiledAggregate {
   const sql::AggregateCall* call = nullptr;
   const AggregateKernel* kernel = nullptr;
   std::vector<SqlType> argTypes;
   std::vector<Representation> argReprs; ///< sort columns of WITHIN GROUP, arguments, direct arguments
   Representation result;
   uint32_t argCount = 0;                       ///< number of argReprs that the kernel takes
   uint32_t orderCount = 0;                     ///< number of columns after the arguments that only order the rows
   std::vector<uint8_t> descending, nullsFirst; ///< by sort column: WITHIN GROUP's arguments, or the order columns
   bool isCollected = false;                    ///< the input is stored and sorted
   bool isDistinct = false;                     ///< DISTINCT by a second grouping
   bool dropsNulls = false;                     ///< of isDistinct: NULLs of the one argument do not matter
   bool isShared = false;                       ///< uses the state of an earlier aggregate, which does the work
   size_t stateOf = 0; ///< number of the aggregate whose state is used; its own unless isShared
   /// Arguments, then order columns. With a FILTER they are evaluated only for rows that pass.
   std::shared_ptr<const ExpressionProgram> args;
   std::shared_ptr<const ExpressionProgram> filter;
   std::shared_ptr<FoldProgram> fold; ///< of an aggregate of a user; null: of a built-in one
};

/// A grouping set: its keys, the layout of its groups, and, after the input, its groups.
struct GroupingSet final : GroupInitializer {
   std::vector<uint32_t> keys; ///< indexes into the plan's keys; those that determine the others come first
   uint32_t keysCompared = 0;  ///< so many keys tell one group from another
   RowLayout layout;
   std::vector<uint32_t> stateOffsets; ///< by aggregate
   const std::vector<CompiledAggregate>* aggregates = nullptr;
   MergedGroups groups;
   std::unique_ptr<SpilledPartitions> partitions;
   /// Layout and groups of (keys, arguments) of a DISTINCT aggregate.
   struct DistinctValues final : GroupInitializer {
      RowLayout layout;
      MergedGroups groups;
      std::unique_ptr<SpilledPartitions> partitions;
      void initialize(std::byte* const*, uint32_t) const override {}
   };
   std::vector<std::unique_ptr<DistinctValues>> distinct; ///< by aggregate; null unless isDistinct
   /// Rows of (keys, arguments, order columns) of a collected aggregate.
   struct CollectedRows {
      RowLayout layout;
      TuplePages pages;
      std::unique_ptr<SpilledPartitions> partitions;
   };
   std::vector<std::unique_ptr<CollectedRows>> collected; ///< by aggregate; null unless isCollected

   void initialize(std::byte* const* rows, uint32_t count) const override;
   /// Whether some aggregate looks up its groups after the input.
   bool needsIndex() const;
   /// Whether some groups, distinct values or collected rows are on disk. All of them are then taken partition by
   /// partition (SpilledGroups).
   bool isSpilled() const;
};

/// The sink of GROUP BY; see above. Owns the grouping sets, the arenas of the states and the grant, which
/// AggregateSource uses, too.
class AggregateSink final : public Sink {
public:
   AggregateSink(PlanBuilder& builder, const sql::plan::Node& node);

   void prepare(QueryContext& context) override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   bool settlesInParallel() const override;
   void settle(QueryContext& context, LocalState& local) override;
   void combine(QueryContext& context, LocalState& local) override;
   uint32_t finishTasks(QueryContext& context, uint32_t round) override;
   void finishTask(QueryContext& context, uint32_t round, uint32_t task) override;
   void describe(OperatorProfile& profile) const override;

   std::deque<GroupingSet>& sets() { return sets_; }
   MemoryGrant& grant() { return grant_; }
   /// Combine the states of from[i] into those of into[i]. Thread-safe for different groups.
   void combineStates(const GroupingSet& set, std::byte* const* into, const std::byte* const* from, uint32_t count,
                      Arena& arena) const;
   const std::vector<CompiledAggregate>& aggregates() const { return aggregates_; }
   const sql::plan::Node& node() const { return node_; }

private:
   struct Local;
   /// Stages after the input: list the workers' groups by partition, unite the partitions, update the states of groups
   /// with the distinct values, and with the collected rows.
   enum class Stage : uint8_t { Scatter, Unite, Distinct, Collected, End };
   struct Task {
      MergedGroups* groups;
      GroupingSet* set;
      uint32_t number; ///< of a page (Scatter) or partition (Unite, Distinct)
      uint32_t aggregate;
   };
   /// Groups to unite: those of a set, or the distinct values of an aggregate.
   struct Merge {
      MergedGroups* groups;
      GroupingSet* set; ///< null: distinct values, which have no states
   };

   CompiledAggregate compile(PlanBuilder& builder, const sql::AggregateCall& call, const ColumnSlots& slots);
   void addAggregate(CompiledAggregate aggregate);
   void makeSets();
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
   static void hashDistinct(QueryContext& context, Local& local, uint32_t keyCount, uint32_t count,
                            bool hasGroupHashes);
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
   DeterminedKeys determined_;
   std::vector<std::function<bool()>> areUnique_; ///< of determined_.joins
   std::deque<GroupingSet> sets_;                 ///< made by prepare()
   uint64_t groupsWanted_ = 0;                    ///< any so many groups will do; 0: all are wanted
   std::atomic<bool> hasEnough_{false};
   GroupTable::Options tableOptions_;
   uint32_t pageBits_ = 0; ///< log2 of the number of partitions of the groups' pages
   std::vector<Merge> merges_;
   std::vector<Task> tasks_; ///< of the current stage
   Stage stage_ = Stage::Scatter, nextStage_ = Stage::Scatter;
   Mutex onlyGroupMutex_; ///< of the states of a set without keys, while distinct values are fed
   Mutex arenasMutex_;
   std::vector<std::unique_ptr<Arena>>
       arenas_ GUARDED_BY(arenasMutex_); ///< variable-size parts of states; live as long as the query
   uint64_t spilledRows_ = 0, spilledBytes_ = 0, storedBytes_ = 0;
};

} // namespace ouzel::executor
