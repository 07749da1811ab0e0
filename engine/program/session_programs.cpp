#include "engine/program/session_programs.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/function_text.hpp"
#include "engine/program/constant_errors.hpp"
#include "engine/program/register_program.hpp"
#include "engine/program/run_program.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/program/compile_program.hpp"
#include "sql/program/compile_trigger.hpp"

namespace ouzel::engine {

namespace {

bool readsRows(const sql::Rel& rel) {
   bool found = !sql::isUnit(rel) && rel.inputs.empty();
   sql::forEachOwnExpr(rel, [&](const sql::Expr& root) {
      sql::forEachExpr(root, [&](const sql::Expr& expr) {
         if (const sql::Rel* query = sql::subqueryOf(expr)) found = found || readsRows(*query);
         return !found;
      });
   });
   sql::forEachChild(rel, [&](const sql::RelPtr& child) { found = found || readsRows(*child); });
   return found;
}

/// Whether the optimizer makes a constant of the expression.
bool becomesConstant(const sql::Expr& root) {
   bool isFixed = !sql::isVolatile(root);
   sql::forEachExpr(root, [&](const sql::Expr& expr) {
      isFixed = isFixed && expr.kind != sql::ExprKind::Column && expr.kind != sql::ExprKind::Parameter &&
                !sql::subqueryOf(expr);
      return isFixed;
   });
   return isFixed;
}

/// The call of a program that is code for registers. Empty: it is none; `why` says also that.
std::optional<sql::BoundRel> asRegisterCode(sql::BindState& state, const sql::program::Program& program,
                                            std::span<const sql::ExprPtr> parameters, std::string& why) {
   std::string whyNot;
   const auto code = registerCodeOf(state, program, whyNot);
   if (!code) {
      if (whyNot != why) why += ", and " + whyNot;
      return std::nullopt;
   }
   std::vector<sql::ExprPtr> args;
   args.push_back(sql::makeConstant(sql::plainType(oid::bytea), Value::string(code->pack())));
   for (const sql::ExprPtr& parameter : parameters)
      args.push_back(sql::clone(*parameter));
   const SqlType& type = program.returnType.type;
   sql::BoundRel query;
   const sql::ColumnId column = state.addColumn(uint32_t{0}, program.name, type);
   std::vector<sql::ComputedColumn> computed;
   computed.push_back(
       {column, sql::makeCall(catalog::builtins().functions("ouzel_program")[0], type, std::move(args))});
   query.rel = sql::makeMap(sql::oneRow(), std::move(computed));
   query.output.push_back({program.name, column, type});
   return query;
}

} // namespace

std::optional<sql::BoundRel> SessionPrograms::compile(sql::BindState& state, const sql::RoutineCall& call,
                                                      std::span<const sql::ExprPtr> parameters) const {
   std::string why;
   auto query = compiled(state, call, parameters, why);
   if (core_.programNotes)
      core_.programNotes->emplace_back(
          catalog::signatureOf(core_.transaction.catalog(), core_.searchPath(), *call.function),
          query ? "compiled" : "run, since " + why);
   return query;
}

std::optional<sql::BoundRel> SessionPrograms::compiled(sql::BindState& state, const sql::RoutineCall& call,
                                                       std::span<const sql::ExprPtr> parameters,
                                                       std::string& why) const {
   if (call.function->isSecurityDefiner) { // current_user is another one inside
      why = "it is SECURITY DEFINER";
      return std::nullopt;
   }
   if (core_.settings.valueOf("plpgsql.variable_conflict") != "error") {
      why = "of plpgsql.variable_conflict";
      return std::nullopt;
   }
   const ProgramCache::Loaded loaded = loadProgram(core_, call.function, call.declared);
   std::optional<sql::BoundRel> query;
   // Constants for arguments make constants of parts of an expression, which may then fail where nobody needs them.
   const auto constants =
       std::count_if(call.args.begin(), call.args.end(), [](const sql::ExprPtr& arg) { return becomesConstant(*arg); });
   std::string whyNot;
   if (constants > 0) query = asRegisterCode(state, *loaded.program, parameters, whyNot);
   if (!query && constants > 0 && constants == std::ssize(call.args)) {
      why = "all its arguments are constants";
      return std::nullopt;
   }
   if (!query) query = sql::program::compileProgram(state, *loaded.program, parameters, why);
   if (!query && constants == 0) query = asRegisterCode(state, *loaded.program, parameters, why);
   // The queries of a volatile function see what the statement around it has written so far.
   if (query && state.mayWrite && call.function->volatility == catalog::Volatility::Volatile &&
       readsRows(*query->rel)) {
      why = "it is VOLATILE, and reads tables in a statement that writes";
      query.reset();
   }
   return query;
}

bool SessionPrograms::failsWhenPlanned(sql::BindState& state, sql::BoundRel& query) const {
   try {
      raiseConstantErrors(core_, *query.rel, query.output, state.columns);
      return false;
   } catch (const SqlError&) {
      core_.checkInterrupts();
      return true;
   }
}

bool SessionPrograms::compileTrigger(sql::BindState& state, sql::Scope& scope, const catalog::Relation& table,
                                     const catalog::Trigger& trigger, const sql::RowOnItsWay& row, sql::ColumnId fires,
                                     sql::RelPtr& rel) const {
   const catalog::FunctionPtr function = core_.transaction.catalog().function(trigger.function);
   if (!function) return false;
   std::string why;
   bool isCompiled = false;
   if (function->isSecurityDefiner || !function->settings.empty())
      why = "it is SECURITY DEFINER, or has settings";
   else if (core_.settings.valueOf("plpgsql.variable_conflict") != "error")
      why = "of plpgsql.variable_conflict";
   else
      isCompiled = sql::program::compileTrigger(state, scope, *loadProgram(core_, function, {}).program, table, trigger,
                                                row, fires, rel, why);
   if (core_.programNotes)
      core_.programNotes->emplace_back(catalog::signatureOf(core_.transaction.catalog(), core_.searchPath(), *function),
                                       isCompiled ? "compiled" : "run, since " + why);
   return isCompiled;
}

} // namespace ouzel::engine
