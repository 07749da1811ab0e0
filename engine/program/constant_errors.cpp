#include "engine/program/constant_errors.hpp"

#include "executor/expression/evaluator.hpp"
#include "optimizer/rewrite/constants.hpp"

namespace ouzel::engine {

void raiseConstantErrors(SessionCore& core, sql::Rel& root, const std::vector<sql::OutputColumn>& output,
                         sql::ColumnTable& columns) {
   executor::FunctionContext functions = core.functionContext();
   Reservation memory(core.database.governor->ledger());
   executor::ExpressionEvaluator evaluator(functions, memory);
   optimizer::OptimizerContext context;
   context.evaluator = &evaluator;
   context.settings.enabled = false; // no constant takes the place of an expression
   optimizer::Query query{columns, context};
   optimizer::raiseConstantErrors(root, output, query);
}

} // namespace ouzel::engine
