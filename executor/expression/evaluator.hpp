#pragma once
#include "executor/function/context.hpp"
#include "sql/algebra/evaluator.hpp"

namespace ouzel::executor {

/// Evaluates expressions for the optimizer, with the kernels that the executor uses. Owns neither the context nor the
/// reservation, to which values are charged.
class ExpressionEvaluator final : public sql::Evaluator {
public:
   ExpressionEvaluator(FunctionContext& context, Reservation& memory) : context_(context), memory_(memory) {}
   Value evaluate(const sql::Expr& expr) override;
   std::vector<bool> matches(const sql::Expr& predicate, const std::vector<sql::ColumnId>& columns,
                             const std::vector<std::vector<Value>>& rows) override;

private:
   FunctionContext& context_;
   Reservation& memory_;
};

} // namespace ouzel::executor
