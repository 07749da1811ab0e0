#include "engine/trigger/at_once.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/function.hpp"
#include "common/text/ascii.hpp"
#include "common/type/row.hpp"
#include "engine/core/privileges.hpp"
#include "engine/program/program_query.hpp"
#include "engine/program/run_program.hpp"
#include "engine/query/kept_rows.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/trigger/transition_rows.hpp"
#include "sql/algebra/fired_triggers.hpp"
#include "sql/bind/trigger.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/program/compile_trigger.hpp"
#include "sql/program/program.hpp"

namespace ouzel::engine {

using namespace sql::program;
using sql::as;
using sql::isNode;
using sql::ListOf;
namespace bit = catalog::trigger_bit;

namespace {

/// The variables of a trigger's function but for OLD and NEW, which are columns.
class Constants final : public sql::VariableNames {
public:
   explicit Constants(const Variables& variables) : variables_(variables) { conflict = variables.conflict; }
   sql::FoundVariable find(std::span<const std::string> names) const override {
      if (names.empty() || names[0] == "old" || names[0] == "new") return {};
      return variables_.find(names);
   }
   sql::ExprPtr positional(uint32_t number) const override { return variables_.positional(number); }

private:
   const Variables& variables_;
};

/// A condition on the way to an INSERT that differs from row to row.
struct Guard {
   const SqlText* condition;
   bool isTrue;
};
struct GuardedInsert {
   const SqlText* sql;
   std::vector<Guard> guards;
};

/// The INSERTs that the function runs for each row; fails where it does anything else.
class Inserts {
public:
   Inserts(SessionCore& core, const Program& program, Variables& variables, const RunCommand& runCommand)
      : core_(core), program_(program), variables_(variables), runCommand_(runCommand) {}

   bool find() {
      const auto* block = std::get_if<Block>(&program_.block.node);
      return block && block->declared.empty() && block->handlers.empty() && take(block->body) && hasReturned_;
   }
   const std::vector<GuardedInsert>& all() const { return all_; }

private:
   bool take(const Body& body) {
      return std::all_of(body.begin(), body.end(), [&](const Statement& one) { return hasReturned_ || take(one); });
   }
   bool take(const Statement& statement) {
      if (std::holds_alternative<Return>(statement.node))
         return hasReturned_ = isPlain(std::get<Return>(statement.node));
      if (const auto* insert = std::get_if<SqlStatement>(&statement.node)) {
         all_.push_back({&insert->sql, guards_});
         return !insert->hasInto;
      }
      if (const auto* block = std::get_if<Block>(&statement.node))
         return block->declared.empty() && block->handlers.empty() && take(block->body);
      if (const auto* choice = std::get_if<If>(&statement.node)) return take(*choice);
      return false;
   }
   /// RETURN NULL, RETURN NEW: what an AFTER trigger returns is of no use, but an expression may fail.
   bool isPlain(const Return& node) const {
      const bool isRow = node.result.kind == ResultKind::Variable &&
                         (node.result.variable == program_.newRow || node.result.variable == program_.oldRow);
      return isRow || returnsNull(node);
   }
   bool take(const If& choice) {
      const size_t outer = guards_.size();
      for (const If::Branch& branch : choice.branches) {
         const std::optional<bool> known = guards_.size() == outer ? valueOf(branch.condition) : std::nullopt;
         if (known == false) continue;
         if (known == true) return take(branch.body);
         guards_.push_back({&branch.condition, true});
         if (!take(branch.body) || hasReturned_) return false; // what follows would be for other rows
         guards_.back().isTrue = false;
      }
      const bool isDone = take(choice.otherwise) && (guards_.size() == outer || !hasReturned_);
      guards_.resize(outer);
      return isDone;
   }
   /// The value of a condition that is the same for all rows; none: it reads OLD or NEW, or fails.
   std::optional<bool> valueOf(const SqlText& condition) {
      const auto reads = [&](std::string_view name) {
         const std::string text = lowerCase(condition.text);
         return text.find(name) != std::string::npos;
      };
      if (reads("old") || reads("new")) return std::nullopt;
      try {
         ProgramQuery query{.core = core_, .variables = &variables_, .scope = condition.scope};
         const QueryRows rows = runText(query, "SELECT " + condition.text, runCommand_);
         if (rows.rows.size() != 1 || rows.columns.size() != 1 || rows.columns[0].second.oid != oid::boolean)
            return std::nullopt;
         const Value& holds = rows.rows[0][0];
         return !holds.isNull && holds.i64 != 0;
      } catch (const SqlError&) {
         return std::nullopt; // row by row it has its CONTEXT
      }
   }

   SessionCore& core_;
   const Program& program_;
   Variables& variables_;
   const RunCommand& runCommand_;
   std::vector<GuardedInsert> all_;
   std::vector<Guard> guards_; ///< of the branches that are being taken
   bool hasReturned_ = false;
};

ScanRows scanOf(const TriggeredRows& written, int32_t condition, bool hasOld, bool hasNew) {
   const sql::FiredTriggers& fired = *written.dml->triggers;
   std::vector<size_t> records;
   if (hasOld) records.push_back(static_cast<size_t>(fired.oldRow));
   if (hasNew) records.push_back(static_cast<size_t>(fired.newRow));
   return [rows = written.rows, condition, records](const std::vector<int16_t>& attributes,
                                                    const std::function<void(std::vector<Value>&)>& give) {
      std::vector<Value> all, values;
      for (uint64_t at = 0; at < rows->count();) {
         uint64_t first = 0;
         const Batch& batch = rows->batchOf(at, first);
         for (uint32_t row = 0; row < batch.rowCount; ++row, ++at) {
            if (condition >= 0) {
               const Vector& holds = batch.columns[static_cast<size_t>(condition)];
               if (holds.isNull(row) || Value::fromVector(holds, row).i64 == 0) continue;
            }
            all.clear();
            values.clear();
            for (const size_t record : records) {
               const RowView view(batch.columns[record].value<StringView>(row).view());
               for (RowView::Cursor field(view); field.next();)
                  all.push_back(valueOfField(*field));
            }
            for (const int16_t attribute : attributes)
               values.push_back(all.at(static_cast<size_t>(attribute - 1)));
            give(values);
         }
      }
   };
}

/// INSERT ... VALUES of one row, which every row of the trigger makes alike.
bool isPlainInsert(const sql::ParsedScript& script) {
   if (script.statements().size() != 1 || !isNode(script.statements()[0].node, T_InsertStmt)) return false;
   const auto& insert = *as<::InsertStmt>(script.statements()[0].node);
   if (insert.withClause || insert.onConflictClause || insert.returningList || !insert.selectStmt) return false;
   const auto& select = *as<::SelectStmt>(insert.selectStmt);
   return select.valuesLists && ListOf<>(select.valuesLists).size() == 1 && !select.withClause && !select.sortClause &&
          !select.limitCount && !select.limitOffset;
}

/// While it lives, the texts of the function are bound and run, and the rows can be scanned.
class InFunction {
public:
   InFunction(SessionCore& core, const TriggerCall& call)
      : core_(core), asUser_(core), routine_(std::exchange(core.routine, {})),
        program_(std::exchange(core.program, {})), trigger_(std::exchange(core.trigger, &call)) {}
   ~InFunction() {
      core_.routine = routine_;
      core_.program = program_;
      core_.trigger = trigger_;
   }
   InFunction(const InFunction&) = delete;

private:
   SessionCore& core_;
   const SessionCore::AsUser asUser_;
   const SessionCore::RunningRoutine routine_;
   const SessionCore::RunningProgram program_;
   const TriggerCall* const trigger_;
};

/// One INSERT with the conditions under which it runs.
class AtOnce {
public:
   AtOnce(SessionCore& core, const catalog::RelationPtr& table, Variables& variables, const sql::TriggerRows& rows,
          const GuardedInsert& guarded)
      : core_(core), table_(table), variables_(variables), rows_(rows), text_(*guarded.sql),
        script_(sql::ParsedScript::parse(guarded.sql->text)) {
      for (const Guard& guard : guarded.guards)
         conditions_.push_back(sql::ParsedScript::parseExpression(guard.condition->text));
      for (size_t i = 0; i < conditions_.size(); ++i)
         filters_.push_back({conditions_[i].expression(), guarded.guards[i].isTrue});
   }

   /// False: it has to run for each row. `targets`: of the INSERTs before it, which are others.
   bool isFit(std::set<Oid>& targets) {
      if (!isPlainInsert(script_)) return false;
      const sql::BoundQuery query = bind();
      return query.relations.size() == 1 && query.relations[0] != table_->oid && !query.runsRoutines &&
             !query.firesTriggers && !query.hasRules() && targets.insert(query.relations[0]).second;
   }
   void run() {
      const auto execution = runUntilWritten(core_, [&] {
         sql::BoundQuery query = bind();
         for (const Oid relation : query.relations)
            core_.transaction.lock(relation, LockMode::RowExclusive);
         core_.transaction.startStatement();
         requireAccess(core_, query.access);
         return std::make_unique<QueryExecution>(core_, std::move(query));
      });
      execution->run(0, nullptr);
      finishQuery(core_, *execution);
   }

private:
   sql::BoundQuery bind() {
      const catalog::SearchPath path = core_.searchPath();
      sql::BindContext context = core_.bindContext(path, &script_.source());
      context.allowParameters = false;
      variables_.enter(text_.scope);
      const Constants constants(variables_);
      context.variables = &constants;
      return sql::bindForTriggerRows(*script_.statements()[0].node, rows_, filters_, context);
   }

   SessionCore& core_;
   const catalog::RelationPtr& table_;
   Variables& variables_;
   const sql::TriggerRows& rows_;
   const SqlText& text_;
   const sql::ParsedScript script_;
   std::vector<sql::ParsedScript> conditions_;
   std::vector<sql::TriggerRowFilter> filters_;
};

} // namespace

bool fireAtOnce(SessionCore& core, const catalog::RelationPtr& table, const catalog::Trigger& trigger, uint32_t event,
                int32_t condition, const TriggeredRows& written, const RunCommand& runCommand) {
   const catalog::FunctionPtr function = core.transaction.catalog().function(trigger.function);
   if (!function || function->isSecurityDefiner || !function->settings.empty()) return false;
   const sql::FiredTriggers& fired = *written.dml->triggers;
   sql::TriggerRows rows{table, nullptr, event != bit::insert, event != bit::del};
   if ((rows.hasOld && fired.oldRow < 0) || (rows.hasNew && fired.newRow < 0)) return false;
   rows.rows = rowsRelation(*table, table->name, rowsOid(trigger), rows.hasOld + rows.hasNew);
   TransitionTables tables{{rows.rows}, {scanOf(written, condition, rows.hasOld, rows.hasNew)}};
   const TriggerCall call{trigger, *table, event, {}, {}, &tables};
   const std::shared_ptr<const Program> program = loadProgram(core, function, {}).program;
   const InFunction inFunction(core, call);
   Variables variables(core, *program);
   setTriggerVariables(core, *program, call, variables);
   Inserts inserts(core, *program, variables, runCommand);
   if (!inserts.find()) return false;
   if (inserts.all().empty()) return true;
   TransactionContext& transaction = core.transaction;
   const std::string savepoint = "trigger " + std::to_string(transaction.savepointCount());
   transaction.savepoint(savepoint);
   bool isDone = true;
   try {
      std::vector<std::unique_ptr<AtOnce>> all;
      for (const GuardedInsert& insert : inserts.all())
         all.push_back(std::make_unique<AtOnce>(core, table, variables, rows, insert));
      std::set<Oid> targets;
      isDone = std::all_of(all.begin(), all.end(), [&](const auto& one) { return one->isFit(targets); });
      for (size_t i = 0; isDone && i < all.size(); ++i)
         all[i]->run();
   } catch (const SqlError& error) { // row by row it has its CONTEXT
      if (error.state() == sqlstate::queryCanceled || error.state() == sqlstate::adminShutdown) throw;
      isDone = false;
   }
   if (!isDone) transaction.rollbackToSavepoint(savepoint);
   transaction.releaseSavepoint(savepoint);
   return isDone;
}

} // namespace ouzel::engine
