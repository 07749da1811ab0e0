#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/value/value.hpp"
#include "common/value/wanted_rows.hpp"
#include "executor/function/context.hpp"
#include "executor/pipeline/memory_policy.hpp"
#include "executor/pipeline/owned_batch.hpp"
#include "io/spill/spill.hpp"
#include "io/spill/spill_tally.hpp"
#include "sql/plan/plan.hpp"

// ExecutionContext: the surroundings that the session gives a plan. QueryContext: the running query as its operators
// see it.

namespace ouzel::storage {
class Table;
class Transaction;
struct Snapshot;
} // namespace ouzel::storage

namespace ouzel::executor {

class QueryProgressList; // schedule/query_progress.hpp

class MemoryShares;
class QueryBudget;
class Scheduler; // schedule/scheduler.hpp: the worker pool, one per process

/// Hostile settings that tests turn on; production leaves the defaults.
struct ExecutionSettings {
   uint32_t batchRows = batchRowsMax; ///< ouzel.vector_size: sources produce at most this many rows a batch
   bool zeroHashes = false;           ///< ouzel.hash_zero: all keys hash alike
   uint32_t threads = 0;              ///< workers a query may use at once; 0: all
   bool runtimeFilters = true;
   MemoryPolicy memory;
   bool blockTwice = false; ///< ouzel.block_twice: the result sink returns Blocked twice for each batch
};

/// The surroundings of a running plan: scheduler, transaction, tables, memory and spill space. Everything in here
/// outlives the RunningQuery.
struct ExecutionContext {
   Scheduler* scheduler = nullptr;
   FunctionContext functions;
   ExecutionSettings settings;
   Reservation* memory = nullptr;               ///< the query's; operators make child reservations
   storage::Transaction* transaction = nullptr; ///< null: no stored tables are touched
   const storage::Snapshot* snapshot = nullptr;
   std::function<storage::Table*(uint64_t storageId)> table;
   /// Rows of a virtual table: calls `row` once per row with one Value per requested attribute (from 1). Rows that
   /// are not `wanted` may be left out.
   std::function<void(Oid relation, const std::vector<int16_t>& attributes, const std::vector<WantedRows>& wanted,
                      const std::function<void(std::vector<Value>&)>& row)>
       virtualTable;
   /// Set by cancel requests, time-outs and lost clients, from other threads. Workers test the state for each batch and
   /// raise the error of that code.
   std::atomic<const char*> cancelState{nullptr}; ///< null, or a SQLSTATE such as "57014"
   std::string cancelMessage = "canceling statement due to user request";
   /// Called once, by the thread that failed, when the query has an error to throw. May be null.
   std::function<void()> failed;
   /// Counts the rows that the statement has written so far, batch by batch. May be null.
   std::atomic<uint64_t>* written = nullptr;
   /// Called by workers with each table that the statement has written. May be null.
   std::function<void(uint64_t storageId)> noteWritten;
   /// Called with rows that were written and that triggers wait for: the columns of Dml::events, and behind them the
   /// OID of the part that the row lies in (0: the table has no parts). By one thread at a time. May be null.
   std::function<void(const sql::Dml& dml, const Batch& rows)> noteRows;
   QueryProgressList* progress = nullptr; ///< shows how far the query is; null: nobody asks
   int32_t processId = 0;                 ///< of the session, for `progress`
   bool collectProfile = false;           ///< EXPLAIN ANALYZE: per-operator times
   io::SpillManager* spill = nullptr;     ///< null: a query that does not fit into memory fails with 53200
   io::SpillPolicy spillPolicy{};
   MemoryShares* shares = nullptr; ///< null: the query is the only one
   size_t memoryLimit = SIZE_MAX;  ///< of the session
};

/// Counters of one plan node, for EXPLAIN ANALYZE. A query's profiles are in preorder of the plan's nodes.
struct OperatorProfile {
   uint64_t rows = 0, batches = 0;
   uint64_t nanos = 0; ///< summed over workers, without children
   size_t memoryPeak = 0;
   std::vector<std::pair<std::string, std::string>> notes; ///< "Row Groups Skipped": "12", ...
   /// What its spilled pages cost, while any worker is in a call of its source, operators or sink. Null: not counted.
   std::unique_ptr<io::SpillTally> spill;
   /// What the transfer policy expected when it divided the operator's memory (executor/policy); 0: nothing.
   double roundsExpected = 0, bytesExpected = 0;

   /// Adds the notes about `spill`, if there is anything to tell. Called once, after the query's last pipeline.
   void noteSpill();
};

/// The running query as its operators see it. Shared by its workers; thread-safe unless said otherwise.
class QueryContext {
public:
   QueryContext(ExecutionContext& surroundings, const sql::plan::Plan& planToRun)
      : execution(surroundings), plan(planToRun) {}
   virtual ~QueryContext() = default;
   QueryContext(const QueryContext&) = delete;
   QueryContext& operator=(const QueryContext&) = delete;

   ExecutionContext& execution;
   const sql::plan::Plan& plan;

   Reservation& memory() { return *execution.memory; }
   FunctionContext& functions() { return execution.functions; }
   const ExecutionSettings& settings() const { return execution.settings; }
   const sql::ColumnTable& columns() const { return plan.columns; }
   /// Whether spill() may be called.
   bool canSpill() const { return execution.spill != nullptr; }
   /// Raises the cancel error if cancelState is set; for long loops inside an operator.
   void checkCancelled() const;

   /// The budget from which operators that materialise rows take their grants.
   virtual QueryBudget& budget() = 0;
   /// The spill space of the query's pages; made at the first call. REQUIRES: canSpill().
   virtual io::SpillSpace& spill() = 0;
   /// An operator that returned Blocked can go on.
   virtual void wake() = 0;
   /// The running pipeline has asked the network for all that it needs: the next pipelines may begin to read. Called by
   /// one worker at a time.
   virtual void foresee() = 0;
   /// The number of workers that may run a pipeline at once.
   virtual uint32_t workers() const = 0;
   /// Counts written rows; those of the main statement count for the command tag.
   virtual void addWritten(uint64_t rows, bool isMain) = 0;
   /// Whether the result queue takes another batch.
   virtual bool hasRoom() = 0;
   /// Puts a batch into the result queue, even if the queue then exceeds its bound.
   virtual void offer(std::unique_ptr<OwnedBatch> batch) = 0;
};

} // namespace ouzel::executor
