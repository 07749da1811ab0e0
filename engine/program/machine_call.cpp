#include "catalog/object/function.hpp"
#include "engine/core/session_services.hpp"
#include "engine/program/call.hpp"
#include "engine/program/machine.hpp"
#include "engine/program/query_scope.hpp"
#include "engine/program/run_program.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

// CALL and DO within a program, COMMIT and ROLLBACK.

namespace ouzel::engine {

using namespace sql::program;
using catalog::FunctionParameter;
using sql::as;
using sql::isNode;

Machine::Flow Machine::run(const EndTransaction& node) {
   const auto refuse = [](const std::string& why) { throw SqlError(sqlstate::invalidTransactionTermination, why); };
   if (mayEnd_ == MayEndTransactions::No) refuse("invalid transaction termination");
   if (core_.transaction.savepointCount() > 0)
      refuse(std::string("cannot ") + (node.isCommit ? "commit" : "roll back") + " while a subtransaction is active");
   if (core_.writingLoops > 0)
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "cannot perform transaction commands inside a cursor loop that is not read-only");
   core_.services.endTransaction(node.isCommit, node.isChained);
   return Flow::Next;
}

Machine::Flow Machine::run(const Call& node) {
   const ProgramQuery query = queryOf(node.sql);
   try {
      const auto text = texts_.get(node.sql.id, node.sql.text);
      if (node.isDo) {
         QueryRows nowhere;
         const auto sink = collectorOf(nowhere);
         CommandContext context{core_, text->script(), text->statement(), {}, *sink};
         runDo(context, *as<::DoStmt>(text->statement().node), runCommand_, mayEnd_);
      } else {
         runCalled(query, *text);
      }
   } catch (SqlError& error) {
      addContext(error, query, node.sql.text);
      throw;
   }
   return Flow::Next;
}

std::optional<ParameterSource> Machine::writableVariable(const ProgramQuery& query, const ::Node* argument) {
   std::vector<ParameterSource> sources;
   variables_.enter(query.scope);
   variables_.setSources(&sources);
   sql::ExprPtr value;
   if (isNode(argument, T_ParamRef)) {
      value = variables_.positional(static_cast<uint32_t>(as<::ParamRef>(argument)->number));
   } else if (isNode(argument, T_ColumnRef)) {
      std::vector<std::string> names;
      for (const ::Node* field : sql::ListOf<>(as<::ColumnRef>(argument)->fields))
         if (isNode(field, T_String)) names.emplace_back(sql::stringOf(field));
      sql::FoundVariable found = variables_.find(names);
      if (found.parts == names.size()) value = std::move(found.value);
   }
   variables_.setSources(nullptr);
   if (!value) return std::nullopt;
   if (value->kind == sql::ExprKind::Parameter) return sources.at(value->as<sql::scalar::Parameter>().number);
   ParameterSource whole = sources.at(0); // a record: its first source says of which variable
   whole.field = ParameterSource::noField;
   whole.type = value->type;
   return whole;
}

std::vector<ParameterSource> Machine::callTargets(const ProgramQuery& query, const ::FuncCall& call,
                                                  const catalog::Function& procedure) {
   std::vector<ParameterSource> targets;
   const sql::ListOf<> arguments(call.args);
   for (size_t i = 0; i < procedure.parameters.size(); ++i) {
      const FunctionParameter& parameter = procedure.parameters[i];
      if (!parameter.isOutput()) continue;
      const ::Node* argument = nullptr;
      for (uint32_t k = 0; k < arguments.size(); ++k) {
         const ::Node* one = arguments[k];
         if (isNode(one, T_NamedArgExpr) ? parameter.name == as<::NamedArgExpr>(one)->name : k == i) {
            argument = isNode(one, T_NamedArgExpr) ? reinterpret_cast<::Node*>(as<::NamedArgExpr>(one)->arg) : one;
            break;
         }
      }
      const auto variable = argument ? writableVariable(query, argument) : std::nullopt;
      const bool isCast = variable && parameter.isInput() && !sql::isPolymorphic(parameter.type.oid) &&
                          variable->type.named() != parameter.type.named();
      if (!variable || isCast)
         throw SqlError(sqlstate::syntaxError,
                        "procedure parameter " +
                            (parameter.name.empty() ? std::to_string(i + 1) : "\"" + parameter.name + "\"") +
                            " is an output parameter but corresponding argument is not writable");
      if (program_.variables[variable->variable].isConstant)
         throw SqlError(sqlstate::errorInAssignment,
                        "variable \"" + program_.variables[variable->variable].name + "\" is declared CONSTANT");
      targets.push_back(*variable);
   }
   return targets;
}

void Machine::runCalled(const ProgramQuery& query, const CompiledText& text) {
   const auto& statement = *as<::CallStmt>(text.statement().node);
   PreparedCall call;
   {
      const SeesVariables sees(query);
      call = prepareCall(core_, text.script(), statement, {});
   }
   const catalog::FunctionPtr procedure = core_.transaction.catalog().function(call.called.procedure);
   const std::vector<ParameterSource> targets = callTargets(query, *statement.funccall, *procedure);
   std::vector<Value> values = runCall(core_, call, runCommand_, mayEnd_);
   for (size_t i = 0; i < targets.size(); ++i) {
      const ParameterSource& target = targets[i];
      TypedValue value{call.called.columns[i].second, std::move(values[i])};
      if (target.field == ParameterSource::noField)
         assignFields({variables_.isRecord(target.variable), {target.variable}}, std::move(value));
      else
         variables_.setField(target.variable, target.field, casted(std::move(value), target.type));
   }
}

} // namespace ouzel::engine
