#include "engine/program/run_routine.hpp"

#include <optional>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/function_text.hpp"
#include "common/env/clock.hpp"
#include "common/thread/stack.hpp"
#include "common/type/row.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/trigger_call.hpp"
#include "engine/program/builtin_triggers.hpp"
#include "engine/program/run_program.hpp"
#include "engine/program/stat_statements.hpp"
#include "engine/program/tablefunc.hpp"
#include "engine/program/text_query.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/remote/postgres_fdw.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::Function;
using sql::isNode;

namespace {

/// Takes the only column of the result, whose values are rows.
class RowSink final : public ResultSink {
public:
   explicit RowSink(std::vector<std::string>& rows) : rows_(rows) {}
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch& batch) override {
      const Vector& column = batch.columns[0];
      forEachRow(batch.selection, [&](uint32_t row) {
         rows_.emplace_back(column.isNull(row) ? std::string_view() : column.value<StringView>(row).view());
      });
   }

private:
   std::vector<std::string>& rows_;
};

/// While it lives, the function's parameters and settings hold, and its owner acts if it is SECURITY DEFINER.
class InRoutine {
public:
   InRoutine(SessionCore& core, const Function& function, std::span<const SqlType> expected)
      : core_(core), outer_(std::exchange(core.routine, SessionCore::RunningRoutine{&function, false, expected})),
        outerProgram_(std::exchange(core.program, {})) {
      const std::string& tracked = core.settings.value("track_functions");
      isTracked_ = tracked == "all" || (tracked == "pl" && function.language == catalog::language_oid::plpgsql);
      if (!isTracked_) return;
      start_ = steadyNanos();
      outerCalledNanos_ = std::exchange(core.calledNanos, 0);
   }
   ~InRoutine() {
      if (isTracked_) count();
      core_.routine = outer_;
      core_.program = outerProgram_;
      if (isDefiner_) --core_.definers;
   }
   InRoutine(const InRoutine&) = delete;
   void set(const Function& function) {
      if (function.isSecurityDefiner) {
         const auto owner = core_.transaction.catalog().role(function.owner);
         if (!owner) throwInternal("the owner of a function does not exist");
         before_.emplace_back("role", core_.settings.valueOf("role"));
         actAs(core_, owner->name);
         isDefiner_ = true;
         ++core_.definers;
      }
      if (!function.bodyPath.empty()) {
         before_.emplace_back("search_path", core_.settings.valueOf("search_path"));
         core_.set("search_path", function.bodyPath, true);
      }
      for (const auto& [name, value] : function.settings) {
         before_.emplace_back(name, core_.settings.valueOf(name));
         core_.set(name, value, true);
      }
   }
   /// After an error the rollback does it.
   void restoreSettings() {
      for (auto one = before_.rbegin(); one != before_.rend(); ++one)
         if (one->first == "role")
            actAs(core_, one->second);
         else
            core_.set(one->first, one->second, true);
      if (before_.empty()) return;
      core_.searchPath(); // the statement that goes on reads and prints its values as before
      core_.format();
   }

private:
   /// For pg_stat_user_functions.
   void count() {
      const int64_t nanos = steadyNanos() - start_;
      core_.transaction.functionUses.add(core_.routine.function->oid, {1, nanos, nanos - core_.calledNanos});
      core_.calledNanos = outerCalledNanos_ + nanos;
   }

   SessionCore& core_;
   const SessionCore::RunningRoutine outer_;
   const SessionCore::RunningProgram outerProgram_;
   std::vector<std::pair<std::string, std::string>> before_;
   bool isDefiner_ = false, isTracked_ = false;
   int64_t start_ = 0, outerCalledNanos_ = 0;
};

class SqlRoutine {
public:
   SqlRoutine(SessionCore& core, const Function& function, const RunCommand& runCommand)
      : core_(core), function_(function), runCommand_(runCommand) {}

   std::vector<std::string> run(std::span<const BoundParameter> parameters) {
      const auto script = sql::ParsedScript::parse(function_.source);
      const auto& statements = script.statements();
      std::vector<std::string> rows;
      for (size_t i = 0; i < statements.size(); ++i) {
         checkStack();
         core_.checkInterrupts();
         rows.clear();
         try {
            statement(script, i, parameters, rows);
         } catch (SqlError& error) {
            addContext(error, i);
            throw;
         }
      }
      return rows;
   }

private:
   void statement(const sql::ParsedScript& script, size_t number, std::span<const BoundParameter> parameters,
                  std::vector<std::string>& rows) {
      const auto& statements = script.statements();
      const bool givesRows = number + 1 == statements.size() && function_.returnType.oid != oid::voidType;
      isStarting_ = true;
      if (!isQuery(statements[number]))
         command(script, statements[number], parameters);
      else if (givesRows && !isNode(statements[number].node, T_SelectStmt))
         returning(std::string(statements[number].text), parameters, rows);
      else
         query(script, *statements[number].node, parameters, givesRows ? &rows : nullptr);
   }

   /// PostgreSQL binds all statements of a function before it runs the first.
   void addContext(SqlError& error, size_t number) const {
      if (error.position() > 0) {
         error.setInternal(std::string(function_.source), error.position());
         error.setPosition(0);
      }
      const bool isBinding = isStarting_ && error.state().text().starts_with("42");
      error.addContext("SQL function \"" + function_.name + "\" " +
                       (isBinding ? "during startup" : "statement " + std::to_string(number + 1)));
   }

   void command(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                std::span<const BoundParameter> parameters) {
      if (isTransactionControl(statement))
         throw SqlError(sqlstate::featureNotSupported, "transaction control is not allowed in an SQL function");
      runCommand_(script, statement, parameters, nullptr);
   }

   void query(const sql::ParsedScript& script, const ::Node& node, std::span<const BoundParameter> parameters,
              std::vector<std::string>* rows) {
      core_.routine.givesRow = rows != nullptr;
      const auto execution = startQuery(core_, script, node, parameters);
      core_.routine.givesRow = false;
      isStarting_ = false;
      if (rows) {
         RowSink sink(*rows);
         execution->run(function_.returnsSet ? 0 : 1, &sink);
      } else {
         execution->run(0, nullptr);
      }
      finishQuery(core_, *execution);
   }

   /// INSERT ... RETURNING as the last statement: a query gives its rows the types of the result.
   void returning(const std::string& text, std::span<const BoundParameter> parameters, std::vector<std::string>& rows) {
      const auto script = sql::ParsedScript::parse("WITH returned AS (" + text + "\n) SELECT * FROM returned");
      query(script, *script.statements()[0].node, parameters, &rows);
   }

   SessionCore& core_;
   const Function& function_;
   const RunCommand& runCommand_;
   bool isStarting_ = true; ///< the statement at hand has not yet been planned
};

std::vector<SqlType> typesOf(const RowView& row) {
   std::vector<SqlType> types;
   for (RowView::Cursor field(row); field.next();)
      types.push_back(sql::plainType(field->type));
   return types;
}

} // namespace

MayEndTransactions mayEndTransactions(const CommandContext& context) {
   const bool isAlone = context.isTopLevel && context.script.statements().size() == 1;
   return MayEndTransactions{isAlone && !context.core.transaction.inBlock()};
}

std::vector<std::string> runRoutine(SessionCore& core, Oid routine, std::string_view args, const RunCommand& runCommand,
                                    MayEndTransactions mayEnd) {
   checkStack();
   if (routine < firstUserOid) return runQueryOfText(core, RowView(args));
   const catalog::FunctionPtr function = core.transaction.catalog().function(routine);
   if (!function)
      throw SqlError(sqlstate::undefinedFunction, "function with OID " + std::to_string(routine) + " does not exist");
   std::vector<BoundParameter> parameters;
   std::optional<std::vector<SqlType>> expected;
   const RowView row(args);
   const size_t inputs = function->inputTypes().size();
   for (RowView::Cursor field(row); field.next();) {
      if (field.index() == inputs) {
         expected = typesOf(RowView(valueOfField(*field).bytes));
         break;
      }
      if (field->isNull && function->info().isStrict) return {};
      parameters.push_back({SqlType{field->type, -1, invalidOid}, valueOfField(*field)});
   }
   // Their settings, and the owner's rights, end with the call, not with a transaction.
   if (!function->settings.empty() || function->isSecurityDefiner) mayEnd = MayEndTransactions::No;
   InRoutine inside(core, *function, expected ? std::span<const SqlType>(*expected) : std::span<const SqlType>());
   inside.set(*function);
   std::vector<std::string> rows;
   switch (function->language) {
   case catalog::language_oid::plpgsql:
      rows = runProgram(core, function, parameters, expected, runCommand, mayEnd);
      break;
   case catalog::language_oid::c:
      if (function->source.starts_with("tablefunc/"))
         rows = runTablefunc(core, *function, parameters, expected);
      else if (function->source.starts_with("postgres_fdw/"))
         rows = runPostgresFdw(core, *function, parameters);
      else
         rows = runStatStatements(core, *function, parameters);
      break;
   case catalog::language_oid::internal: // calls in expressions are bound to the built-in function
      throwNotSupported("function " + function->name + " in language internal here");
   default: rows = SqlRoutine(core, *function, runCommand).run(parameters);
   }
   inside.restoreSettings();
   return rows;
}

namespace {

/// While it lives, a trigger's function runs, for the user even where the server has changed the rows for itself.
class InTrigger {
public:
   explicit InTrigger(SessionCore& core) : core_(core), asUser_(core) { ++core.triggerDepth; }
   ~InTrigger() { --core_.triggerDepth; }
   InTrigger(const InTrigger&) = delete;

private:
   SessionCore& core_;
   const SessionCore::AsUser asUser_;
};

} // namespace

std::optional<std::string> runTrigger(SessionCore& core, const TriggerCall& call, const RunCommand& runCommand) {
   checkStack();
   core.checkInterrupts();
   const catalog::FunctionPtr function = core.transaction.catalog().function(call.trigger.function);
   if (!function) {
      const catalog::FunctionInfo* builtin = catalog::builtins().function(call.trigger.function);
      if (!builtin) throwInternal("the function of a trigger does not exist");
      return runBuiltinTrigger(core, builtin->name, call);
   }
   const InTrigger inTrigger(core);
   InRoutine inside(core, *function, {});
   inside.set(*function);
   auto row = runTriggerProgram(core, function, call, runCommand);
   inside.restoreSettings();
   return row;
}

void runEventTrigger(SessionCore& core, Oid oid, std::string_view event, std::string_view tag,
                     const RunCommand& runCommand) {
   checkStack();
   core.checkInterrupts();
   const catalog::FunctionPtr function = core.transaction.catalog().function(oid);
   if (!function) throwInternal("the function of an event trigger does not exist");
   InRoutine inside(core, *function, {});
   inside.set(*function);
   runEventProgram(core, function, event, tag, runCommand);
   inside.restoreSettings();
}

} // namespace ouzel::engine
