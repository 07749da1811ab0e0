#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/value/value.hpp"
#include "executor/function/context.hpp"
#include "executor/pipeline/memory_policy.hpp"
#include "executor/pipeline/owned_batch.hpp"
#include "io/spill/spill.hpp"
#include "sql/plan/plan.hpp"

// What surrounds a plan that runs: ExecutionContext is what the session gives it, QueryContext what operators see of
// it.

namespace ouzel::storage {
class Table;
class Transaction;
struct Snapshot;
} // namespace ouzel::storage

namespace ouzel::executor {

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
   bool blockTwice = false; ///< every source and sink says Blocked twice before it works
};

/// What a plan needs around it. Everything outlives the RunningQuery.
struct ExecutionContext {
   Scheduler* scheduler = nullptr;
   FunctionContext functions;
   ExecutionSettings settings;
   Reservation* memory = nullptr;               ///< the query's; operators make children of it
   storage::Transaction* transaction = nullptr; ///< null: no stored tables are touched
   const storage::Snapshot* snapshot = nullptr;
   std::function<storage::Table*(uint64_t storageId)> table;
   /// Rows of a virtual table: calls `row` once per row with one Value per requested attribute (from 1).
   std::function<void(Oid relation, const std::vector<int16_t>& attributes,
                      const std::function<void(std::vector<Value>&)>& row)>
       virtualTable;
   /// Set by cancel requests, time-outs and lost clients; looked at per batch. The code says which error is raised.
   std::atomic<const char*> cancelState{nullptr}; ///< null, or a SQLSTATE such as "57014"
   std::string cancelMessage = "canceling statement due to user request";
   /// Called once, by the thread that failed, when the query has an error to throw. May be null.
   std::function<void()> failed;
   bool collectProfile = false;       ///< EXPLAIN ANALYZE: per-operator times
   io::SpillManager* spill = nullptr; ///< null: what does not fit into memory fails with 53200
   io::SpillPolicy spillPolicy{};
   MemoryShares* shares = nullptr; ///< null: no other query is there
   size_t memoryLimit = SIZE_MAX;  ///< of the session
};

/// What one operator did; indexed like a preorder walk of the plan.
struct OperatorProfile {
   uint64_t rows = 0, batches = 0;
   uint64_t nanos = 0; ///< summed over workers, without children
   size_t memoryPeak = 0;
   std::vector<std::pair<std::string, std::string>> notes; ///< "Row Groups Skipped": "12", ...
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
   /// Raises the cancel error if somebody asked; for long loops inside an operator.
   void checkCancelled() const;

   /// The budget from which operators that materialise rows take their grants.
   virtual QueryBudget& budget() = 0;
   /// The space of the query's pages that do not fit into memory; made on first use. REQUIRES: canSpill().
   virtual io::SpillSpace& spill() = 0;
   /// An operator that said Blocked can go on.
   virtual void wake() = 0;
   /// The running pipeline needs no more of the network: the pipelines after it may begin to read. Called by the one
   /// worker that finds it out.
   virtual void foresee() = 0;
   /// The number of workers that may run a pipeline at once.
   virtual uint32_t workers() const = 0;
   /// Counts written rows; those of the main statement count for the command tag.
   virtual void addWritten(uint64_t rows, bool isMain) = 0;
   /// Whether the result queue takes another batch.
   virtual bool hasRoom() = 0;
   /// Puts a batch into the result queue, which may exceed its bound by that.
   virtual void offer(std::unique_ptr<OwnedBatch> batch) = 0;
};

} // namespace ouzel::executor
