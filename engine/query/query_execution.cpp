#include "engine/query/query_execution.hpp"

#include <algorithm>

#include "catalog/pg_catalog/virtual_table.hpp"
#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/thread/stack.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/core/trigger_call.hpp"
#include "engine/query/kept_rows.hpp"
#include "engine/query/statistics.hpp"
#include "engine/query/system_state.hpp"
#include "engine/statement/statement_use.hpp"
#include "executor/expression/evaluator.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/fired_triggers.hpp"
#include "storage/table/table.hpp"

namespace ouzel::engine {

namespace {

void substituteIn(sql::Rel& rel, std::span<const BoundParameter> parameters);

void substituteIn(sql::ExprPtr& root, std::span<const BoundParameter> parameters) {
   sql::rewriteExpr(root, [&](sql::ExprPtr& expr) {
      if (sql::Rel* subquery = subqueryOf(*expr)) substituteIn(*subquery, parameters);
      const auto* parameter = expr->getIf<sql::scalar::Parameter>();
      if (!parameter || parameter->number >= parameters.size()) return;
      const SqlType type = expr->type;
      const uint32_t position = expr->position;
      Value value = parameters[parameter->number].value;
      sql::dropParameterBlanks(type, value);
      expr = sql::makeConstant(type, std::move(value));
      expr->position = position;
   });
}

void substituteIn(sql::Rel& rel, std::span<const BoundParameter> parameters) {
   sql::forEachOwnExpr(rel, [&](sql::ExprPtr& expr) { substituteIn(expr, parameters); });
   sql::forEachChild(rel, [&](sql::RelPtr& child) { substituteIn(*child, parameters); });
}

optimizer::OptimizerSettings optimizerSettings(const Settings& settings) {
   optimizer::OptimizerSettings out;
   out.enabled = settings.boolean("ouzel.optimizer");
   out.runtimeFilters = settings.boolean("ouzel.runtime_filters");
   return out;
}

/// Bytes for the values of one constant expression while it is folded. An expression that needs more is left to the
/// execution, which charges them.
constexpr size_t foldingMemoryMax = 8 << 20;

/// Bytes that a query of the session may use.
size_t memoryLimit(const SessionCore& core) {
   return std::min(core.database.memoryLimit, static_cast<size_t>(core.settings.integer("memory_limit")) << 20);
}

Eviction evictionOf(const std::string& name) {
   if (name == "table_first") return Eviction::TableFirst;
   if (name == "temporary_first") return Eviction::TemporaryFirst;
   return name == "mixed" ? Eviction::Mixed : Eviction::Priced;
}

executor::ExecutionSettings executionSettings(const Settings& settings) {
   executor::ExecutionSettings out;
   out.batchRows = static_cast<uint32_t>(settings.integer("ouzel.vector_size"));
   out.zeroHashes = settings.boolean("ouzel.hash_zero");
   out.memory.spillsAlways = settings.boolean("ouzel.spill_all");
   out.memory.spillsEverything = settings.value("ouzel.spill_choice") == "all";
   if (settings.value("ouzel.partition") == "never") out.memory.partitioning = executor::Partitioning::Never;
   if (settings.value("ouzel.partition") == "always") out.memory.partitioning = executor::Partitioning::Always;
   out.memory.eviction = evictionOf(settings.value("ouzel.evict"));
   out.memory.fanIn = static_cast<uint32_t>(settings.integer("ouzel.policy_fan_in"));
   out.memory.leftShare = std::strtod(settings.value("ouzel.policy_left_share").c_str(), nullptr);
   out.blockTwice = settings.boolean("ouzel.block_twice");
   out.runtimeFilters = settings.boolean("ouzel.runtime_filters");
   out.threads = static_cast<uint32_t>(settings.integer("ouzel.query_threads"));
   return out;
}

} // namespace

io::SpillPolicy spillPolicy(const Settings& settings) {
   io::SpillPolicy out;
   out.writeRateMax = static_cast<uint64_t>(settings.integer("ouzel.spill_write_rate"));
   out.readRateMax = static_cast<uint64_t>(settings.integer("ouzel.spill_read_rate"));
   out.aheadBytes = settings.integer("ouzel.policy_read_ahead");
   const std::vector<std::string>& levels = io::spillLevelNames();
   if (settings.value("log_temp_files") != "-1") out.logBytesMin = settings.integer("log_temp_files") << 10;
   const auto level = std::find(levels.begin(), levels.end(), settings.value("ouzel.spill_compression"));
   if (level != levels.end()) out.level = static_cast<int>(level - levels.begin());
   return out;
}

void substituteParameters(sql::BoundQuery& query, std::span<const BoundParameter> parameters) {
   DCHECK(parameters.size() >= query.parameters.size());
   if (!parameters.empty()) substituteIn(*query.root, parameters);
}

namespace {

/// What the client's statement takes, unless the query is one of a function that it calls, or of the server.
StatementUse* ownUse(const SessionCore& core) {
   return core.routine.function || core.isServer() ? nullptr : StatementUseScope::current();
}

} // namespace

std::shared_ptr<PlannedQuery> planQuery(SessionCore& core, sql::BoundQuery query, const storage::Snapshot& snapshot,
                                        executor::FunctionContext& functions, bool forReuse) {
   auto planned = std::make_shared<PlannedQuery>();
   planned->kind = query.kind;
   planned->written = query.written;
   planned->relations = query.relations;
   planned->places = query.places;
   planned->hiddenColumns = query.hiddenColumns;
   planned->cursor = query.cursor;
   planned->locksRows = !query.rowLocked.empty();
   planned->hasConflictClause = query.hasConflictClause;
   planned->firesTriggers = query.firesTriggers;
   TableStatisticsProvider statistics(*core.database.storage, core.transaction.catalog(), snapshot,
                                      core.computedIndexes());
   MemoryLedger foldingLedger(foldingMemoryMax);
   Reservation folding(foldingLedger);
   const auto evaluator = std::make_unique<executor::ExpressionEvaluator>(functions, folding);
   optimizer::OptimizerContext context;
   context.statistics = &statistics;
   context.evaluator = evaluator.get();
   context.settings = optimizerSettings(core.settings);
   context.memoryLimit = memoryLimit(core);
   context.threads = core.database.options.threads;
   context.forReuse = forReuse;
   const bool runsRoutines = query.runsRoutines;
   StatementUse* const use = ownUse(core);
   const int64_t start = use ? steadyNanos() : 0;
   planned->plan = optimizer::optimize(std::move(query), context);
   if (use) {
      use->planNanos += steadyNanos() - start;
      ++use->plans;
   }
   planned->plan->runsRoutines = runsRoutines;
   const sql::plan::Plan& plan = *planned->plan;
   for (const sql::OutputColumn& column : plan.output)
      planned->columns.push_back(
          {column.name, column.type, plan.columns[column.column].repr, column.tableOid, column.attribute});
   return planned;
}

QueryExecution::QueryExecution(SessionCore& core, bool collectProfile)
   : core_(core), memory_(core.database.governor->ledger()), snapshot_(core.transaction.snapshot()),
     catalog_(core.transaction.catalog()) {
   snapshot_.commandId = core.transaction.storage().commandId();
   context_.scheduler = core.database.scheduler.get();
   context_.functions = core.functionContext();
   format_ = core.format();
   context_.functions.format = &format_;
   context_.functions.catalog = &catalog_;
   context_.settings = executionSettings(core.settings);
   context_.memory = &memory_;
   context_.memoryLimit = memoryLimit(core);
   context_.spill = core.database.spill.get();
   context_.spillPolicy = spillPolicy(core.settings);
   context_.shares = core.database.shares.get();
   context_.progress = &core.database.progress;
   context_.processId = core.options.processId;
   context_.transaction = &core.transaction.storage();
   context_.snapshot = &snapshot_;
   context_.collectProfile = collectProfile;
   context_.table = [this](uint64_t id) { return findTable(static_cast<storage::StorageId>(id)); };
   context_.noteWritten = [this](uint64_t id) {
      const MutexLock lock(tablesMutex_);
      writtenTables_.insert(id);
   };
   transitions_ = core.trigger && !core.isServer() ? core.trigger->transitions : nullptr;
   context_.virtualTable = [this](Oid relation, const std::vector<int16_t>& attributes,
                                  const std::vector<WantedRows>& wanted,
                                  const std::function<void(std::vector<Value>&)>& row) {
      for (size_t i = 0; transitions_ && i < transitions_->relations.size(); ++i)
         if (transitions_->relations[i]->oid == relation) return transitions_->scans[i](attributes, row);
      const auto found = catalog_.relation(relation);
      if (!found) throwInternal("a virtual table that is not in the catalog");
      const SessionSystemState systemState(core_, catalog_, snapshot_);
      catalog::scanVirtualTable({.snapshot = catalog_, .state = &systemState, .wanted = wanted}, *found, attributes,
                                row);
   };
}

QueryExecution::QueryExecution(SessionCore& core, sql::BoundQuery query, bool collectProfile)
   : QueryExecution(core, collectProfile) {
   planned_ = planQuery(core, std::move(query), snapshot_, context_.functions, false);
   prepare();
}

QueryExecution::QueryExecution(SessionCore& core, std::shared_ptr<PlannedQuery> planned) : QueryExecution(core, false) {
   DCHECK(planned != nullptr);
   planned_ = std::move(planned);
   prepare();
}

void QueryExecution::prepare() {
   if (planned_->firesTriggers) findTriggered(*planned_->plan->root);
   const bool inOrder = std::any_of(triggered_.begin(), triggered_.end(), [](const auto& one) { return one.rows; });
   if (inOrder || needsRowOrder(core_, planned_->written, *planned_->plan)) context_.settings.threads = 1;
   if (inOrder) context_.noteRows = [this](const sql::Dml& dml, const Batch& rows) { noteRows(dml, rows); };
   running_ = std::make_unique<executor::RunningQuery>(*planned_->plan, context_);
}

/// In the order in which they run: WITH before the statement.
void QueryExecution::findTriggered(const sql::plan::Node& node) {
   checkStack();
   for (const sql::plan::CtePlan& cte : node.ctes())
      findTriggered(*cte.plan);
   for (const auto& child : node.children)
      findTriggered(*child);
   const auto* write = node.getIf<sql::plan::Write>();
   if (!write || !write->dml->triggers) return;
   const sql::Dml& dml = *write->dml;
   std::shared_ptr<KeptRows> rows;
   if (!dml.events.empty()) {
      std::vector<Representation> columns;
      for (const sql::ComputedColumn& column : dml.events)
         columns.push_back(planned_->plan->columns[column.column].repr);
      columns.push_back({PhysicalType::I64, 0});
      rows = std::make_shared<KeptRows>(core_, std::move(columns));
   }
   triggered_.push_back({&dml, node.kind, std::move(rows)});
}

void QueryExecution::noteRows(const sql::Dml& dml, const Batch& rows) {
   const auto target =
       std::find_if(triggered_.begin(), triggered_.end(), [&](const TriggeredRows& one) { return one.dml == &dml; });
   DCHECK(target != triggered_.end());
   const sql::FiredTriggers& fired = *dml.triggers;
   const bool isAny = fired.keepsAllRows || std::any_of(fired.rows.begin(), fired.rows.end(),
                                                        [](const auto& call) { return call.condition < 0; });
   if (isAny) return target->rows->add(rows);
   std::vector<RowIndex> wanted;
   forEachRow(rows.selection, [&](uint32_t row) {
      const bool isWanted = std::any_of(fired.rows.begin(), fired.rows.end(), [&](const auto& call) {
         const Vector& holds = rows.columns[static_cast<size_t>(call.condition)];
         return !holds.isNull(row) && Value::fromVector(holds, row).i64 != 0;
      });
      if (isWanted) wanted.push_back(static_cast<RowIndex>(row));
   });
   if (wanted.empty()) return;
   Batch some = rows;
   some.selection = Selection::list(wanted.data(), static_cast<uint32_t>(wanted.size()));
   target->rows->add(some);
}

QueryExecution::~QueryExecution() = default;

storage::Table* QueryExecution::findTable(storage::StorageId id) {
   auto table = core_.database.storage->find(id);
   if (!table) // another transaction has emptied or dropped it since this one's snapshot
      throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
   const MutexLock lock(tablesMutex_);
   tables_.push_back(table);
   return table.get();
}

bool QueryExecution::hasWritten(const catalog::Relation& relation) {
   const MutexLock lock(tablesMutex_);
   return writtenTables_.contains(static_cast<uint64_t>(relation.storage));
}

/// Fetch the next batch into pending_ when it is empty. False: there are no more rows.
bool QueryExecution::fetch() {
   if (pending_) return true;
   if (isAtEnd_) return false;
   pending_ = running_->next();
   pendingAt_ = 0;
   isAtEnd_ = !pending_;
   return !isAtEnd_;
}

void QueryExecution::finishWriting() {
   if (!writes() || done_) return;
   const SessionCore::Cancellable cancellable(core_, context_);
   fetch(); // the first row comes after the last write
}

void QueryExecution::runBeside(const std::function<void()>& meanwhile, std::function<void()> failed) {
   DCHECK(!planned_->plan->runsRoutines);
   context_.failed = std::move(failed);
   const SessionCore::Cancellable cancellable(core_, context_);
   running_->start();
   meanwhile();
}

bool QueryExecution::run(uint64_t maxRows, ResultSink* sink) {
   if (sink && returnsRows()) sink->begin(planned_->columns);
   if (done_) return true;
   const SessionCore::Cancellable cancellable(core_, context_);
   uint64_t room = maxRows ? maxRows : UINT64_MAX;
   while (true) {
      if (!fetch()) break;
      const uint32_t left = pending_->batch.liveRows() - pendingAt_;
      const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(left, room));
      if (sink && returnsRows()) giveRows(*sink, pending_->batch, pendingAt_, count);
      given_ += count;
      room -= count;
      pendingAt_ += count;
      if (pendingAt_ == pending_->batch.liveRows()) pending_.reset();
      if (room == 0) return false;
   }
   done_ = true;
   rowCount_ = planned_->kind == sql::StatementKind::Select ? given_ : running_->affectedRows();
   return true;
}

void giveRows(ResultSink& sink, const Batch& batch, uint32_t from, uint32_t count) {
   if (count == 0) return;
   DCHECK(from + count <= batch.liveRows());
   if (from == 0 && count == batch.liveRows()) return sink.rows(batch);
   RowIndex rows[batchRowsMax];
   for (uint32_t i = 0; i < count; ++i)
      rows[i] = batch.selection.row(from + i);
   Batch part = batch;
   part.selection = Selection::list(rows, count);
   sink.rows(part);
}

std::string QueryExecution::tag() const {
   const std::string count = std::to_string(rowCount());
   switch (planned_->kind) {
   case sql::StatementKind::Insert: return "INSERT 0 " + count;
   case sql::StatementKind::Update: return "UPDATE " + count;
   case sql::StatementKind::Delete: return "DELETE " + count;
   case sql::StatementKind::Merge: return "MERGE " + count;
   case sql::StatementKind::Select: break;
   }
   return "SELECT " + std::to_string(given_);
}

} // namespace ouzel::engine
