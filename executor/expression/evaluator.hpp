#pragma once
#include "executor/function/context.hpp"
#include "sql/algebra/evaluator.hpp"

namespace ouzel::executor {

/// Evaluates expressions for the optimizer, with the kernels that the executor uses. Does not own the context.
class ExpressionEvaluator final : public sql::Evaluator {
public:
   explicit ExpressionEvaluator(FunctionContext& context) : context_(context) {}
   Value evaluate(const sql::Expr& expr) override;
   std::vector<bool> matches(const sql::Expr& predicate, const std::vector<sql::ColumnId>& columns,
                             const std::vector<std::vector<Value>>& rows) override;

private:
   FunctionContext& context_;
};

} // namespace ouzel::executor
