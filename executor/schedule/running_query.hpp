#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/memory/ledger.hpp"
#include "common/value/batch.hpp"
#include "common/value/value.hpp"
#include "executor/function/context.hpp"
#include "executor/pipeline/memory_policy.hpp"
#include "io/spill/spill.hpp"
#include "sql/plan/plan.hpp"

namespace ouzel::storage {
class Table;
class Transaction;
struct Snapshot;
} // namespace ouzel::storage

namespace ouzel::executor {

class MemoryShares;
class QueryBudget;
class Scheduler; // scheduler.hpp: the worker pool, one per process

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

/// A batch that owns its rows: flat vectors, strings in its own arena. Charged to the query's reservation.
struct OwnedBatch {
   Batch batch;
   Arena arena;
};

/// One plan being run. Made and used by one session thread; its pipelines run on the scheduler's workers.
class RunningQuery {
public:
   /// `plan` must outlive this. Nothing runs yet.
   RunningQuery(const sql::plan::Plan& plan, ExecutionContext& context);
   /// Cancels, and waits until no worker touches this any more.
   ~RunningQuery();

   /// The next rows of the result in order, columns as in plan.output; null at the end. Starts the plan on the first
   /// call. Waits while workers are busy; they stop (Blocked) while a few batches wait here to be fetched. Throws the
   /// first error of any worker after all of them stopped. A DML plan without RETURNING gives no rows; see
   /// affectedRows().
   std::unique_ptr<OwnedBatch> next();
   /// Rows inserted, updated or deleted, once next() has returned null.
   uint64_t affectedRows() const;
   uint64_t writtenRows() const; ///< the same with rows that data-modifying WITH queries wrote
   /// Valid after the end; preorder over plan.root.
   const std::vector<OperatorProfile>& profile() const;

private:
   struct State;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::executor
