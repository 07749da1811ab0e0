#include <algorithm>
#include <array>

#include "executor/kernel/select.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/write/conflict_keys.hpp"
#include "executor/operator/write/row_errors.hpp"
#include "executor/operator/write/write_target.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "io/format/external_table.hpp"
#include "storage/table/local_writes.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

// INSERT, UPDATE (delete the old row, insert the new row), DELETE, MERGE and ON CONFLICT. In MERGE and ON CONFLICT each
// row of a batch has the number of its clause, which says what is done with the row. Rows of RETURNING are stored until
// all writing is done.

namespace ouzel::executor {

namespace {

struct RowList {
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax);
   uint32_t count = 0;
   Selection selection() const { return Selection::list(rows.data(), count); }
};

struct Local final : LocalState {
   std::unique_ptr<WriteTarget::Local> target;
   std::array<std::vector<ExpressionState>, 3> checks; // by CheckedRows
   std::unique_ptr<ExpressionState> returning, events;
   std::unique_ptr<BatchBuilder> returned;
   std::vector<ExpressionState> partChecks;
   std::vector<uint8_t> deletedNow;
   std::optional<std::vector<storage::LocalWrites::Range>> insertedByWith; ///< into the target, if asked for
   std::vector<RowIndex> failing = std::vector<RowIndex>(batchRowsMax);
   // Rows of the batch, by the action done with them.
   RowList inserted, updated, deleted, refused, written, done;
};

/// Sets `out` to the rows of `a` and `b`, ascending. REQUIRES: `a` and `b` have no row in common.
void mergeInto(RowList& out, Selection a, Selection b) {
   DCHECK(a.count() + b.count() <= batchRowsMax);
   uint32_t at = 0, i = 0, k = 0;
   while (i < a.count() || k < b.count()) {
      const bool first = k == b.count() || (i < a.count() && a.row(i) < b.row(k));
      out.rows[at++] = static_cast<RowIndex>(first ? a.row(i++) : b.row(k++));
   }
   out.count = at;
}

class DmlSink final : public Sink {
public:
   DmlSink(PlanBuilder& builder, const sql::plan::Node& node, BatchStore& returned);

   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;
   void finish(QueryContext& context) override;

private:
   using Check = sql::Dml::Check;
   using Programs = std::vector<std::shared_ptr<const ExpressionProgram>>;
   /// Which rows a list of checks is for: those written, those proposed by ON CONFLICT, those stored before.
   enum class CheckedRows : uint8_t { Written, Proposed, Stored };
   Programs compile(const std::vector<Check>& checks) const;
   const std::vector<Check>& checksOf(CheckedRows which) const {
      return which == CheckedRows::Written    ? dml_.checks
             : which == CheckedRows::Proposed ? dml_.proposedChecks
                                              : dml_.storedChecks;
   }
   Selection write(QueryContext& context, Local& local, const Batch& in);
   Selection writeByClause(QueryContext& context, Local& local, const Batch& in);
   Selection deleteRows(Local& local, const Batch& in, Selection rows, bool isUpdate, RowList& kept);
   bool checkRows(Local& local, const Batch& in, Selection rows, QueryContext& context, CheckedRows which);
   bool placeRows(Local& local, const Batch& in, Selection rows, QueryContext& context);
   bool refuse(const Batch& in, uint32_t row, const SqlError& error);
   void refuseOwnRows(QueryContext& context, Local& local, const Batch& in, Selection rows);
   [[noreturn]] void failTwice() const;
   void requireSeen(QueryContext& context, Local& local, const Batch& in, Selection rows);
   void noteEvents(QueryContext& context, Local& local, const Batch& in, Selection rows);

   const sql::plan::Node& node_;
   const sql::Dml& dml_;
   const sql::ColumnTable& columns_;
   const ColumnSlots slots_;
   WriteTarget target_;
   const RowErrors errors_;
   std::array<Programs, 3> checks_;                              // by CheckedRows; null for NOT NULL
   Programs partChecks_;                                         // of dml_.partChecks
   std::shared_ptr<const ExpressionProgram> returning_, events_; // null: nobody asks
   std::vector<Representation> returningColumns_;
   BatchStore& returned_;
   bool writesRows_; ///< not DELETE, nor a MERGE that only deletes
   std::unique_ptr<ConflictKeys> conflictKeys_;
};

DmlSink::DmlSink(PlanBuilder& builder, const sql::plan::Node& node, BatchStore& returned)
   : node_(node), dml_(*node.as<sql::plan::Write>().dml), columns_(builder.context().columns()),
     slots_(std::span(node.children[0]->output)),
     target_(builder.context().execution, dml_, slots_, static_cast<uint32_t>(node.children[0]->output.size()),
             columns_, node.children[0]->estimatedRows),
     errors_(dml_, slots_, columns_), returned_(returned) {
   for (const auto which : {CheckedRows::Written, CheckedRows::Proposed, CheckedRows::Stored})
      checks_[static_cast<size_t>(which)] = compile(checksOf(which));
   std::vector<const sql::Expr*> exprs;
   for (const sql::ComputedColumn& column : dml_.returning) {
      exprs.push_back(column.expr.get());
      returningColumns_.push_back(columns_[column.column].repr);
   }
   if (!exprs.empty()) returning_ = ExpressionProgram::compile(std::span(exprs), slots_, columns_);
   exprs.clear();
   for (const sql::ComputedColumn& column : dml_.events)
      exprs.push_back(column.expr.get());
   if (!exprs.empty()) events_ = ExpressionProgram::compile(std::span(exprs), slots_, columns_);
   for (const sql::Dml::PartCheck& check : dml_.partChecks)
      partChecks_.push_back(check.check.expr ? ExpressionProgram::compile(*check.check.expr, slots_, columns_)
                                             : nullptr);
   writesRows_ = node.kind == sql::plan::NodeKind::Insert || node.kind == sql::plan::NodeKind::Update ||
                 std::any_of(dml_.actions.begin(), dml_.actions.end(), [](sql::DmlAction action) {
                    return action == sql::DmlAction::Insert || action == sql::DmlAction::Update;
                 });
   std::vector<ConflictKeys::Key> keys;
   for (const sql::Dml::ConflictKey& conflict : dml_.conflictKeys) {
      ConflictKeys::Key& key = keys.emplace_back();
      key.nullsNotDistinct = conflict.nullsNotDistinct;
      for (const sql::ColumnId column : conflict.columns) {
         key.slots.push_back(*slots_.find(column));
         key.types.push_back(columns_[column].type);
      }
      if (conflict.guard != sql::noColumn) key.guard = slots_.find(conflict.guard);
      for (const int16_t attribute : conflict.attributes) {
         const auto written = std::find_if(dml_.target.begin(), dml_.target.end(),
                                           [&](const sql::GetColumn& column) { return column.attribute == attribute; });
         key.slots.push_back(*slots_.find(written->column));
         key.types.push_back(columns_[written->column].type);
      }
   }
   if (!keys.empty()) conflictKeys_ = std::make_unique<ConflictKeys>(std::move(keys), builder.context().memory());
}

DmlSink::Programs DmlSink::compile(const std::vector<Check>& checks) const {
   Programs programs;
   for (const Check& check : checks)
      programs.push_back(check.expr ? ExpressionProgram::compile(*check.expr, slots_, columns_) : nullptr);
   return programs;
}

LocalStatePtr DmlSink::makeLocal(QueryContext& context) {
   auto local = std::make_unique<Local>();
   for (size_t which = 0; which < checks_.size(); ++which)
      for (const auto& check : checks_[which])
         if (check) local->checks[which].emplace_back(check, context.functions(), context.memory());
   if (returning_) {
      local->returning = std::make_unique<ExpressionState>(returning_, context.functions(), context.memory());
      local->returned = std::make_unique<BatchBuilder>(returningColumns_, returned_.memory(context));
   }
   if (events_) local->events = std::make_unique<ExpressionState>(events_, context.functions(), context.memory());
   for (const auto& check : partChecks_)
      if (check) local->partChecks.emplace_back(check, context.functions(), context.memory());
   local->target = target_.makeLocal();
   return local;
}

SinkStatus DmlSink::consume(QueryContext& context, LocalState& state, const Batch& in) {
   auto& local = static_cast<Local&>(state);
   const Selection rows = dml_.clause == sql::noColumn ? write(context, local, in) : writeByClause(context, local, in);
   context.addWritten(rows.count(), dml_.isMain);
   if (events_ && rows.count() > 0) noteEvents(context, local, in, rows);
   if (!returning_ || rows.count() == 0) return SinkStatus::NeedInput;
   Batch result;
   result.columns.resize(returningColumns_.size());
   Batch live = in;
   live.selection = rows;
   std::vector<int64_t> places; // RETURNING tableoid is where the new row lies
   if (dml_.tableOid != sql::noColumn && writesRows_ && target_.hasParts()) {
      places.resize(in.rowCount);
      forEachRow(rows, [&](uint32_t row) { places[row] = target_.placeOf(*local.target, row)->oid; });
      live.columns[*slots_.find(dml_.tableOid)] = Vector::flat(PhysicalType::I64, places.data(), nullptr);
   }
   returning_->evaluateAll(*local.returning, live, rows, result.columns.data());
   result.rowCount = in.rowCount;
   result.selection = rows;
   std::vector<uint32_t> identity(returningColumns_.size());
   for (uint32_t i = 0; i < identity.size(); ++i)
      identity[i] = i;
   for (uint32_t taken = 0; taken < rows.count();) {
      taken += local.returned->append(result, identity, taken);
      if (local.returned->isFull()) returned_.add(local.returned->take());
   }
   return SinkStatus::NeedInput;
}

/// Hands what triggers need of rows that were written to the session.
void DmlSink::noteEvents(QueryContext& context, Local& local, const Batch& in, Selection rows) {
   Batch noted;
   noted.columns.resize(dml_.events.size());
   events_->evaluateAll(*local.events, in, rows, noted.columns.data());
   std::vector<int64_t> places(in.rowCount);
   if (target_.hasParts())
      forEachRow(rows, [&](uint32_t row) { places[row] = target_.placeOf(*local.target, row)->oid; });
   noted.columns.push_back(Vector::flat(PhysicalType::I64, places.data(), nullptr));
   noted.rowCount = in.rowCount;
   noted.selection = rows;
   DCHECK(context.execution.noteRows != nullptr);
   context.execution.noteRows(dml_, noted);
}

/// INSERT, UPDATE, DELETE: the same action for all rows. Returns the rows that were written.
Selection DmlSink::write(QueryContext& context, Local& local, const Batch& in) {
   Selection rows = in.selection;
   if (dml_.isInstead) return rows;
   // Joined tables may give a row of the target twice: the first counts. Only rows that are written must satisfy the
   // constraints.
   const bool isUpdate = node_.kind == sql::plan::NodeKind::Update;
   if (node_.kind != sql::plan::NodeKind::Insert) rows = deleteRows(local, in, rows, isUpdate, local.deleted);
   if (!writesRows_) return rows;
   if (!checkRows(local, in, rows, context, CheckedRows::Written)) return Selection::dense(0);
   if (!placeRows(local, in, rows, context)) return Selection::dense(0);
   target_.append(*local.target, in, rows);
   return rows;
}

/// MERGE and ON CONFLICT: for each row the action of its clause.
Selection DmlSink::writeByClause(QueryContext& context, Local& local, const Batch& in) {
   const bool isInsert = node_.kind == sql::plan::NodeKind::Insert; // with ON CONFLICT
   DCHECK(!dml_.input); // COPY has no clauses; an input would take the errors of checkRows()
   if (isInsert) checkRows(local, in, in.selection, context, CheckedRows::Proposed);
   const Vector& clauses = in.columns[*slots_.find(dml_.clause)];
   local.inserted.count = local.updated.count = local.deleted.count = local.refused.count = 0;
   forEachRow(in.selection, [&](uint32_t row) {
      const auto put = [row](RowList& list) { list.rows[list.count++] = static_cast<RowIndex>(row); };
      DCHECK(!clauses.isNull(row));
      DCHECK(static_cast<size_t>(clauses.value<int32_t>(row)) < dml_.actions.size());
      switch (dml_.actions[static_cast<size_t>(clauses.value<int32_t>(row))]) {
      case sql::DmlAction::Nothing: break;
      case sql::DmlAction::Insert: return put(local.inserted);
      case sql::DmlAction::Update: return put(local.updated);
      case sql::DmlAction::Delete: return put(local.deleted);
      case sql::DmlAction::Refuse: return put(local.refused);
      }
   });
   if (isInsert) refuseOwnRows(context, local, in, local.updated.selection());
   if (!dml_.storedChecks.empty()) {
      if (isInsert)
         local.written = local.refused;
      else
         mergeInto(local.written, local.updated.selection(), local.deleted.selection());
      checkRows(local, in, local.written.selection(), context, CheckedRows::Stored);
   }
   DCHECK(local.refused.count == 0); // else checkRows() has thrown
   for (RowList* list : {&local.updated, &local.deleted}) {
      const uint32_t met = list->count;
      const bool isUpdate = list == &local.updated;
      if (met > 0 && deleteRows(local, in, list->selection(), isUpdate, *list).count() < met) failTwice();
   }
   target_.noteUpdates(*local.target, local.updated.count);
   if (conflictKeys_ && local.inserted.count > 0) {
      const uint32_t proposed = local.inserted.count;
      local.inserted.count = conflictKeys_->claim(in, local.inserted.selection(), local.inserted.rows.data());
      if (local.inserted.count < proposed && dml_.conflict == sql::ConflictAction::Update) failTwice();
   }
   mergeInto(local.written, local.inserted.selection(), local.updated.selection());
   if (isInsert) {
      checkRows(local, in, local.updated.selection(), context, CheckedRows::Written);
   } else {
      checkRows(local, in, local.written.selection(), context, CheckedRows::Written);
   }
   if (local.written.count > 0) {
      placeRows(local, in, local.written.selection(), context);
      target_.append(*local.target, in, local.written.selection());
   }
   if (local.deleted.count == 0) return local.written.selection();
   mergeInto(local.done, local.written.selection(), local.deleted.selection());
   return local.done.selection();
}

/// ON CONFLICT DO UPDATE may not change a row that a statement in WITH has written.
void DmlSink::refuseOwnRows(QueryContext& context, Local& local, const Batch& in, Selection rows) {
   storage::Transaction& transaction = *context.execution.transaction;
   const uint32_t first = context.execution.snapshot->commandId;
   if (rows.count() == 0 || transaction.commandId() == first) return; // no statement in WITH has written
   if (!local.insertedByWith) {
      local.insertedByWith.emplace();
      for (size_t i = 0; i < target_.tableCount(); ++i) // segments are unique in the database
         for (storage::LocalWrites::Range& range : transaction.writesOf(target_.table(i)).insertedSince(first))
            local.insertedByWith->push_back(std::move(range));
   }
   const Vector& ids = in.columns[*slots_.find(dml_.rowId)];
   forEachRow(rows, [&](uint32_t row) {
      const auto id = static_cast<storage::RowId>(ids.value<int64_t>(row));
      for (const storage::LocalWrites::Range& range : *local.insertedByWith)
         if (range.segment->id == storage::segmentOf(id) && storage::rowOf(id) >= range.first &&
             storage::rowOf(id) < range.end)
            failTwice();
   });
}

void DmlSink::failTwice() const {
   if (dml_.conflict == sql::ConflictAction::Update)
      throw SqlError(sqlstate::cardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time")
          .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained "
                "values.");
   throw SqlError(sqlstate::cardinalityViolation, "MERGE command cannot affect row a second time")
       .hint("Ensure that not more than one source row matches any one target row.");
}

void DmlSink::combine(QueryContext&, LocalState& state) {
   auto& local = static_cast<Local&>(state);
   target_.finish(*local.target);
   if (local.returned)
      if (auto rest = local.returned->take()) returned_.add(std::move(rest));
}

/// What comes next in the statement may see the rows of this one, as op::Get::seesWith asks for.
void DmlSink::finish(QueryContext& context) {
   target_.finishShared();
   if (!dml_.isMain) context.execution.transaction->nextCommand();
}

/// Marks the rows as deleted. Returns the rows that were not deleted before, listed in `kept`.
Selection DmlSink::deleteRows(Local& local, const Batch& in, Selection rows, bool isUpdate, RowList& kept) {
   target_.remove(*local.target, in, rows, isUpdate, local.deletedNow);
   kept.count = selectFlagged(local.deletedNow.data(), nullptr, rows, kept.rows.data());
   return narrowed(rows, kept.rows.data(), kept.count);
}

/// Throws when a row breaks a constraint or a policy. False: the rows' input has taken the error, and nothing is to be
/// written.
bool DmlSink::checkRows(Local& local, const Batch& in, Selection rows, QueryContext& context, CheckedRows which) {
   if (rows.count() == 0) return true;
   const std::vector<Check>& checks = checksOf(which);
   const std::vector<sql::GetColumn>& columns = which == CheckedRows::Proposed ? dml_.proposed : dml_.target;
   std::vector<ExpressionState>& states = local.checks[static_cast<size_t>(which)];
   size_t program = 0;
   for (size_t i = 0; i < checks.size(); ++i) {
      const Check& check = checks[i];
      uint32_t failing;
      if (check.expr) {
         const Vector holds = checks_[static_cast<size_t>(which)][i]->evaluate(states[program++], in, rows);
         failing = selectFalse(holds, rows, local.failing.data());
      } else {
         const auto target = std::find_if(columns.begin(), columns.end(), [&](const sql::GetColumn& column) {
            return column.attribute == check.notNullAttribute;
         });
         const Vector& column = in.columns[*slots_.find(target->column)];
         if (!column.mayHaveNulls()) continue;
         failing = selectNull(column, rows, local.failing.data());
      }
      if (failing == 0) continue;
      const uint32_t row = local.failing[0];
      // PostgreSQL finds the partition first, and the error names it.
      const catalog::Relation* part = nullptr;
      if (which == CheckedRows::Written && target_.hasParts()) {
         if (const auto error = target_.place(*local.target, in, Selection::list(local.failing.data(), 1),
                                              context.functions(), context.memory()))
            return refuse(in, row, *error);
         part = target_.placeOf(*local.target, row);
      }
      return refuse(in, row, errors_.violation(in, row, check, columns, context.functions(), part));
   }
   return true;
}

/// Throws the error of a row. False: the rows' input has taken it.
bool DmlSink::refuse(const Batch& in, uint32_t row, const SqlError& error) {
   if (!dml_.input) throw error;
   dml_.input->refuse(static_cast<uint64_t>(in.columns[*slots_.find(dml_.inputLine)].value<int64_t>(row)), error);
   return false;
}

/// Throws 0A000, or 23514 for a row that an UPDATE moves, if a BEFORE ROW trigger has changed a row so that it belongs
/// to another part, or to none.
void DmlSink::requireSeen(QueryContext& context, Local& local, const Batch& in, Selection rows) {
   const Vector& seen = in.columns[*slots_.find(dml_.seenPart)];
   forEachRow(rows, [&](uint32_t at) {
      if (seen.isNull(at)) return; // no part took it before the triggers, either
      const auto row = static_cast<RowIndex>(at);
      const auto before = static_cast<Oid>(seen.value<int64_t>(row));
      const auto error =
          target_.place(*local.target, in, Selection::list(&row, 1), context.functions(), context.memory());
      if (!error && target_.placeOf(*local.target, row)->oid == before) return;
      const catalog::Snapshot* catalog = context.functions().catalog;
      const catalog::RelationPtr part = catalog ? catalog->relation(before) : nullptr;
      const catalog::SchemaPtr schema = part ? catalog->schema(part->schema) : nullptr;
      if (dml_.seenBy.empty())
         throw SqlError(sqlstate::checkViolation, "new row for relation \"" + (part ? part->name : std::string()) +
                                                      "\" violates partition constraint")
             .detail(errors_.rowText(in, row, dml_.target, context.functions()));
      throw SqlError(sqlstate::featureNotSupported,
                     "moving row to another partition during a BEFORE FOR EACH ROW trigger is not supported")
          .detail("Before executing trigger \"" + dml_.seenBy + "\", the row was to be in partition \"" +
                  (schema ? schema->name : std::string()) + "." + (part ? part->name : std::string()) + "\".");
   });
}

/// Chooses the tables of new rows, and checks what only these tables demand. False as checkRows().
bool DmlSink::placeRows(Local& local, const Batch& in, Selection rows, QueryContext& context) {
   if (dml_.seenPart != sql::noColumn) requireSeen(context, local, in, rows);
   for (uint32_t i = 0; dml_.input && (dml_.table.parts || dml_.bounds) && i < rows.count(); ++i) {
      // One by one, so that the error is that of the first row of the input.
      const auto row = static_cast<RowIndex>(rows.row(i));
      if (auto error =
              target_.place(*local.target, in, Selection::list(&row, 1), context.functions(), context.memory()))
         return refuse(in, row,
                       dml_.bounds
                           ? std::move(*error).detail(errors_.rowText(in, row, dml_.target, context.functions()))
                           : *error);
   }
   if (auto error = target_.place(*local.target, in, rows, context.functions(), context.memory())) {
      if (!dml_.bounds) throw std::move(*error);
      for (uint32_t i = 0; i < rows.count(); ++i) {
         const auto row = static_cast<RowIndex>(rows.row(i));
         if (auto own =
                 target_.place(*local.target, in, Selection::list(&row, 1), context.functions(), context.memory()))
            throw std::move(*own).detail(errors_.rowText(in, row, dml_.target, context.functions()));
      }
   }
   size_t program = 0;
   for (size_t i = 0; i < dml_.partChecks.size(); ++i) {
      const auto& [part, check] = dml_.partChecks[i];
      ExpressionState* state = check.expr ? &local.partChecks[program++] : nullptr;
      const Selection own = target_.rowsOf(*local.target, part, rows);
      if (own.count() == 0) continue;
      uint32_t failing = 0;
      if (state) {
         failing = selectFalse(partChecks_[i]->evaluate(*state, in, own), own, local.failing.data());
      } else {
         const auto column = std::find_if(dml_.target.begin(), dml_.target.end(), [&](const sql::GetColumn& target) {
            return dml_.table.parts->parts[part].attributeOf(target.attribute) == check.notNullAttribute;
         });
         const uint32_t slot = *slots_.find(column->column);
         if (in.columns[slot].mayHaveNulls()) failing = selectNull(in.columns[slot], own, local.failing.data());
      }
      if (failing == 0) continue;
      const uint32_t row = local.failing[0];
      return refuse(
          in, row,
          errors_.violation(in, row, check, dml_.target, context.functions(), target_.placeOf(*local.target, row)));
   }
   return true;
}

} // namespace

std::vector<Stage> buildDml(PlanBuilder& builder, const sql::plan::Node& node) {
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   auto* returned = builder.own<BatchStore>();
   returned->allowSpilling(builder.context());
   builder.addPipeline(std::move(stages), builder.own<DmlSink>(builder, node, *returned), builder.profileOf(node));
   std::vector<uint32_t> slots;
   for (uint32_t i = 0; i < node.output.size(); ++i)
      slots.push_back(i);
   Stage stage;
   stage.source = builder.own<BatchStoreSource>(*returned, std::move(slots), true, true);
   std::vector<Stage> out;
   out.push_back(std::move(stage));
   return out;
}

} // namespace ouzel::executor
