#pragma once
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/memory/allocation_meter.hpp"
#include "common/sync/mutex.hpp"
#include "engine/core/session_core.hpp"
#include "executor/schedule/running_query.hpp"
#include "optimizer/optimizer.hpp"

namespace ouzel::engine {

class KeptRows;          // engine/query/kept_rows.hpp
struct TransitionTables; // engine/core/trigger_call.hpp

/// A query's plan with the facts that clients and commands need of it.
struct PlannedQuery {
   std::unique_ptr<sql::plan::Plan> plan;
   std::vector<ResultColumn> columns;
   sql::StatementKind kind = sql::StatementKind::Select;
   std::vector<sql::WrittenRelation> written; ///< by the statement and its WITH
   std::vector<Oid> relations;                ///< all that it reads or writes
   std::vector<sql::RowPlace> places;         ///< see sql::BoundQuery
   uint32_t hiddenColumns = 0;                ///< the last ones of `columns`
   std::string cursor;                        ///< of WHERE CURRENT OF; empty: none
   bool locksRows = false;                    ///< FOR UPDATE, FOR SHARE
   bool hasConflictClause = false;
   bool firesTriggers = false;
};

/// An operator of a plan that writes a table with triggers, and the rows that it has written, as far as triggers ask
/// for them: see executor::ExecutionContext::noteRows.
struct TriggeredRows {
   const sql::Dml* dml;
   sql::plan::NodeKind kind;
   std::shared_ptr<KeptRows> rows; ///< null: no trigger asks
};

/// One bound query on its way through optimizer and executor, resumable after any number of rows. Belongs to a session
/// thread and ends before its transaction does.
class QueryExecution {
public:
   /// Plans the query under the transaction's current snapshot; nothing runs yet.
   QueryExecution(SessionCore& core, sql::BoundQuery query, bool collectProfile = false);
   /// Runs a plan made before. REQUIRES: the plan is valid for this snapshot and has no Parameter left.
   QueryExecution(SessionCore& core, std::shared_ptr<PlannedQuery> planned);
   ~QueryExecution();

   const std::vector<ResultColumn>& columns() const { return planned_->columns; }
   const std::vector<sql::RowPlace>& places() const { return planned_->places; }
   uint32_t hiddenColumns() const { return planned_->hiddenColumns; }
   /// Of WHERE CURRENT OF; empty: none.
   const std::string& cursor() const { return planned_->cursor; }
   bool isUpdate() const { return planned_->kind == sql::StatementKind::Update; }
   bool returnsRows() const { return !planned_->columns.empty() || planned_->kind == sql::StatementKind::Select; }
   /// Run a statement that writes until all rows are written; RETURNING rows are kept until run(). May throw
   /// storage::WriteConflict.
   void finishWriting();
   /// Lets workers begin while the session does something else: `meanwhile`. `failed` is called, by any thread, when
   /// the query has an error, which run() throws.
   void runBeside(const std::function<void()>& meanwhile, std::function<void()> failed);
   /// Count the rows in `written` as they are written. It outlives the execution. REQUIRES: nothing has run.
   void countWritten(std::atomic<uint64_t>& written) { context_.written = &written; }
   /// Give at most maxRows rows (0: all of them) to the sink, which may be null to throw them away. True: that was all.
   bool run(uint64_t maxRows, ResultSink* sink);
   /// Rows given so far; for DML without RETURNING the rows changed, once run() has returned true.
   uint64_t rowCount() const { return rowCount_; }
   /// Rows written by the statement and its WITH, counted or not.
   uint64_t writtenRows() const { return running_->writtenRows(); }
   uint64_t givenRows() const { return given_; }
   /// "SELECT 5", "INSERT 0 3" ...
   std::string tag() const;

   /// True when the query changes or locks rows.
   bool writes() const { return !planned_->written.empty() || planned_->locksRows; }
   bool locksRows() const { return planned_->locksRows; }
   const std::vector<sql::WrittenRelation>& written() const { return planned_->written; }
   /// Whether rows of the relation were written; of the tables that the statement may write, few partitions are.
   bool hasWritten(const catalog::Relation& relation);
   const std::vector<Oid>& relations() const { return planned_->relations; }
   /// Id of the command that writes the query's rows.
   uint32_t command() const { return snapshot_.commandId; }
   /// The writes of the plan that fire triggers.
   const std::vector<TriggeredRows>& triggered() const { return triggered_; }
   /// The session's catalog while the query runs.
   const catalog::Snapshot& catalogSnapshot() const { return catalog_; }
   bool hasConflictClause() const { return planned_->hasConflictClause; }
   bool areKeysChecked() const { return areKeysChecked_; }
   void setKeysChecked() { areKeysChecked_ = true; }
   bool isDone() const { return done_; }
   /// finishQuery() has been called.
   bool isFinished() const { return isFinished_; }
   void setFinished() { isFinished_ = true; }
   const sql::plan::Plan& plan() const { return *planned_->plan; }
   const std::vector<executor::OperatorProfile>& profile() const { return running_->profile(); }
   size_t memoryPeak() const { return memory_.peak(); }
   /// The plan's memory, charged as long as the execution lives.
   void keep(MemoryCharge planMemory) { planMemory_ = std::move(planMemory); }

private:
   QueryExecution(SessionCore& core, bool collectProfile);
   void prepare();
   void findTriggered(const sql::plan::Node& node);
   void noteRows(const sql::Dml& dml, const Batch& rows);
   bool fetch();
   storage::Table* findTable(storage::StorageId id);

   SessionCore& core_;
   Reservation memory_;
   MemoryCharge planMemory_;
   executor::ExecutionContext context_;
   storage::Snapshot snapshot_;
   catalog::Snapshot catalog_; // of the time of planning: functions read it while the plan runs
   SessionFormat format_;
   Mutex tablesMutex_;
   std::set<uint64_t> writtenTables_ GUARDED_BY(tablesMutex_);
   std::vector<std::shared_ptr<storage::Table>> tables_ GUARDED_BY(tablesMutex_); // keeps the plan's tables alive
   std::shared_ptr<PlannedQuery> planned_;
   std::vector<TriggeredRows> triggered_;
   const TransitionTables* transitions_ = nullptr; ///< of the trigger function whose query it is
   std::unique_ptr<executor::RunningQuery> running_;
   std::unique_ptr<executor::OwnedBatch> pending_; // fetched rows that the sink has not yet got
   uint32_t pendingAt_ = 0;
   bool isAtEnd_ = false; // running_ has no more rows
   bool areKeysChecked_ = false, done_ = false, isFinished_ = false;
   uint64_t rowCount_ = 0, given_ = 0;
};

/// Give the sink `count` rows of the batch, from its live row `from` on.
void giveRows(ResultSink& sink, const Batch& batch, uint32_t from, uint32_t count);

/// How the session's spilled pages are written, by its settings.
io::SpillPolicy spillPolicy(const Settings& settings);

/// Plan a query for the snapshot, or, with `forReuse`, for any snapshot and parameters.
std::shared_ptr<PlannedQuery> planQuery(SessionCore& core, sql::BoundQuery query, const storage::Snapshot& snapshot,
                                        executor::FunctionContext& functions, bool forReuse);

/// Put constants in the place of $1, $2, ... everywhere in the query.
void substituteParameters(sql::BoundQuery& query, std::span<const BoundParameter> parameters);

} // namespace ouzel::engine
