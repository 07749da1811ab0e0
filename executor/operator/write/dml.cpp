#include <algorithm>
#include <array>

#include "catalog/object/acl.hpp"
#include "common/type/text_codec.hpp"
#include "executor/kernel/select.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/write/conflict_keys.hpp"
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

/// An insert of at least so many expected rows builds blocks directly.
constexpr double bulkRows = 20'000;

struct RowList {
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax);
   uint32_t count = 0;
   Selection selection() const { return Selection::list(rows.data(), count); }
};

struct Local final : LocalState {
   std::unique_ptr<storage::Appender> appender;
   std::array<std::vector<ExpressionState>, 3> checks; // by CheckedRows
   std::unique_ptr<ExpressionState> returning;
   std::unique_ptr<BatchBuilder> returned;
   std::vector<storage::RowId> ids;
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
   Selection deleteRows(QueryContext& context, Local& local, const Batch& in, Selection rows, RowList& kept);
   bool checkRows(Local& local, const Batch& in, Selection rows, QueryContext& context, CheckedRows which);
   void insertRows(Local& local, const Batch& in, Selection rows);
   bool mayShowRow(QueryContext& context) const;
   SqlError violation(const Batch& in, uint32_t row, const Check& check, const std::vector<sql::GetColumn>& columns,
                      QueryContext& context) const;
   void refuseOwnRows(QueryContext& context, Local& local, const Batch& in, Selection rows);
   [[noreturn]] void failTwice() const;

   const sql::plan::Node& node_;
   const sql::Dml& dml_;
   const sql::ColumnTable& columns_;
   const ColumnSlots slots_;
   storage::Table* table_;
   std::array<Programs, 3> checks_; // by CheckedRows; null for NOT NULL
   std::shared_ptr<const ExpressionProgram> returning_;
   std::vector<Representation> returningColumns_;
   BatchStore& returned_;
   std::vector<int> sources_; // by storage column: input slot; -1: a dropped column
   std::vector<Representation> stored_;
   bool writesRows_; ///< not DELETE, nor a MERGE that only deletes
   std::unique_ptr<ConflictKeys> conflictKeys_;
};

DmlSink::DmlSink(PlanBuilder& builder, const sql::plan::Node& node, BatchStore& returned)
   : node_(node), dml_(*node.as<sql::plan::Write>().dml), columns_(builder.context().columns()),
     slots_(std::span(node.children[0]->output)), table_(builder.context().execution.table(dml_.table.storageId)),
     returned_(returned) {
   for (const auto which : {CheckedRows::Written, CheckedRows::Proposed, CheckedRows::Stored})
      checks_[static_cast<size_t>(which)] = compile(checksOf(which));
   std::vector<const sql::Expr*> exprs;
   for (const sql::ComputedColumn& column : dml_.returning) {
      exprs.push_back(column.expr.get());
      returningColumns_.push_back(columns_[column.column].repr);
   }
   if (!exprs.empty()) returning_ = ExpressionProgram::compile(std::span(exprs), slots_, columns_);
   const auto stored = table_->columns();
   DCHECK(dml_.target.size() <= stored->size());
   for (size_t i = 0; i < stored->size(); ++i) {
      const auto target = std::find_if(dml_.target.begin(), dml_.target.end(), [&](const sql::GetColumn& column) {
         return column.attribute == static_cast<int16_t>(i + 1);
      });
      sources_.push_back(target == dml_.target.end() ? -1 : static_cast<int>(*slots_.find(target->column)));
      stored_.push_back((*stored)[i].representation);
   }
   writesRows_ = node.kind == sql::plan::NodeKind::Insert || node.kind == sql::plan::NodeKind::Update ||
                 std::any_of(dml_.actions.begin(), dml_.actions.end(), [](sql::DmlAction action) {
                    return action == sql::DmlAction::Insert || action == sql::DmlAction::Update;
                 });
   std::vector<ConflictKeys::Key> keys;
   for (const sql::Dml::ConflictKey& conflict : dml_.conflictKeys) {
      ConflictKeys::Key& key = keys.emplace_back();
      key.nullsNotDistinct = conflict.nullsNotDistinct;
      for (const int16_t attribute : conflict.attributes) {
         const auto column = static_cast<size_t>(attribute - 1);
         key.slots.push_back(static_cast<uint32_t>(sources_[column]));
         key.types.push_back((*stored)[column].type);
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
   if (writesRows_)
      local->appender = table_->appender(*context.execution.transaction, node_.children[0]->estimatedRows >= bulkRows
                                                                             ? storage::AppendMode::Bulk
                                                                             : storage::AppendMode::Small);
   return local;
}

SinkStatus DmlSink::consume(QueryContext& context, LocalState& state, const Batch& in) {
   auto& local = static_cast<Local&>(state);
   const Selection rows = dml_.clause == sql::noColumn ? write(context, local, in) : writeByClause(context, local, in);
   context.addWritten(rows.count(), dml_.isMain);
   if (!returning_ || rows.count() == 0) return SinkStatus::NeedInput;
   Batch result;
   result.columns.resize(returningColumns_.size());
   Batch live = in;
   live.selection = rows;
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

/// INSERT, UPDATE, DELETE: the same action for all rows. Returns the rows that were written.
Selection DmlSink::write(QueryContext& context, Local& local, const Batch& in) {
   Selection rows = in.selection;
   // Joined tables may give a row of the target twice: the first counts. Only rows that are written must satisfy the
   // constraints.
   if (node_.kind != sql::plan::NodeKind::Insert) rows = deleteRows(context, local, in, rows, local.deleted);
   if (!writesRows_) return rows;
   if (!checkRows(local, in, rows, context, CheckedRows::Written)) return Selection::dense(0);
   insertRows(local, in, rows);
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
      if (met > 0 && deleteRows(context, local, in, list->selection(), *list).count() < met) failTwice();
   }
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
   if (local.written.count > 0) insertRows(local, in, local.written.selection());
   if (local.deleted.count == 0) return local.written.selection();
   mergeInto(local.done, local.written.selection(), local.deleted.selection());
   return local.done.selection();
}

/// ON CONFLICT DO UPDATE may not change a row that a statement in WITH has written.
void DmlSink::refuseOwnRows(QueryContext& context, Local& local, const Batch& in, Selection rows) {
   storage::Transaction& transaction = *context.execution.transaction;
   const uint32_t first = context.execution.snapshot->commandId;
   if (rows.count() == 0 || transaction.commandId() == first) return; // no statement in WITH has written
   if (!local.insertedByWith) local.insertedByWith = transaction.writesOf(*table_).insertedSince(first);
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
   if (local.appender) local.appender->finish();
   if (local.returned)
      if (auto rest = local.returned->take()) returned_.add(std::move(rest));
}

/// What comes next in the statement may see the rows of this one, as op::Get::seesWith asks for.
void DmlSink::finish(QueryContext& context) {
   if (!dml_.isMain) context.execution.transaction->nextCommand();
}

/// Marks the rows as deleted. Returns the rows that were not deleted before, listed in `kept`.
Selection DmlSink::deleteRows(QueryContext& context, Local& local, const Batch& in, Selection rows, RowList& kept) {
   const Vector& ids = in.columns[*slots_.find(dml_.rowId)];
   local.ids.clear();
   forEachRow(rows, [&](uint32_t row) { local.ids.push_back(static_cast<storage::RowId>(ids.value<int64_t>(row))); });
   local.deletedNow.assign(local.ids.size(), 0);
   table_->deleteRows(*context.execution.transaction, *context.execution.snapshot, local.ids, local.deletedNow);
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
      const SqlError error = violation(in, row, check, columns, context);
      if (!dml_.input) throw error;
      dml_.input->refuse(static_cast<uint64_t>(in.columns[*slots_.find(dml_.inputLine)].value<int64_t>(row)), error);
      return false;
   }
   return true;
}

/// Whether who runs the statement may read the table's rows, so that an error may show one.
bool DmlSink::mayShowRow(QueryContext& context) const {
   const FunctionContext& functions = context.functions();
   if (!functions.catalog) return true;
   const auto table = functions.catalog->relation(dml_.table.relation);
   const auto role = functions.catalog->findRole(functions.user);
   if (!table || !role) return !table;
   std::vector<int16_t> attributes;
   for (const catalog::Column& column : table->columns)
      if (!column.isDropped) attributes.push_back(column.attribute);
   return catalog::mayRead(*functions.catalog, role->oid, *table, attributes);
}

SqlError DmlSink::violation(const Batch& in, uint32_t row, const Check& check,
                            const std::vector<sql::GetColumn>& columns, QueryContext& context) const {
   if (!check.policyError.empty()) return SqlError(sqlstate::insufficientPrivilege, check.policyError);
   std::string detail = "Failing row contains (";
   bool first = true;
   for (const sql::GetColumn& target : columns) {
      if (!std::exchange(first, false)) detail += ", ";
      const uint32_t slot = *slots_.find(target.column);
      const Vector& column = in.columns[slot];
      if (column.isNull(row)) {
         detail += "null";
         continue;
      }
      std::string text;
      const auto* value =
          static_cast<const char*>(column.data) + size_t{column.positionOf(row)} * physicalSize(column.type);
      appendText(text, columns_[target.column].type, columns_[target.column].repr, value, *context.functions().format);
      detail += text.size() > 64 ? text.substr(0, 64) + "..." : text;
   }
   detail += ").";
   if (!mayShowRow(context)) detail.clear();
   if (check.notNullAttribute != 0)
      return SqlError(sqlstate::notNullViolation, "null value in column \"" + check.column + "\" of relation \"" +
                                                      dml_.table.name + "\" violates not-null constraint")
          .detail(detail)
          .table(dml_.table.schema, dml_.table.name)
          .column(check.column);
   if (!check.view.empty())
      return SqlError(sqlstate::withCheckOptionViolation,
                      "new row violates check option for view \"" + check.view + "\"")
          .detail(detail);
   return SqlError(sqlstate::checkViolation, "new row for relation \"" + dml_.table.name +
                                                 "\" violates check constraint \"" + check.constraint + "\"")
       .detail(detail)
       .table(dml_.table.schema, dml_.table.name)
       .constraint(check.constraint);
}

void DmlSink::insertRows(Local& local, const Batch& in, Selection rows) {
   DCHECK(local.appender != nullptr);
   DCHECK(sources_.size() == stored_.size());
   static constexpr ValidityWord absent = 0;
   alignas(16) static constexpr std::byte zeros[16] = {};
   Batch stored;
   for (size_t i = 0; i < sources_.size(); ++i)
      stored.columns.push_back(sources_[i] >= 0 ? in.columns[static_cast<size_t>(sources_[i])]
                                                : Vector::constant(stored_[i].physical, zeros, &absent));
   stored.rowCount = in.rowCount;
   stored.selection = rows;
   local.appender->append(stored);
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
