#pragma once
#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// Evaluates expressions while a query is planned: constants to fold, and predicates on sample rows.
/// executor/expression implements the interface; engine/ hands an object to the optimizer. Not thread-safe: each
/// planning session has an evaluator of its own.
class Evaluator {
public:
   virtual ~Evaluator() = default;
   /// Value of an expression without columns. Throws the error of the evaluation, such as 22012.
   virtual Value evaluate(const Expr& expr) = 0;
   /// For each sample row (values of `columns`, one vector each) whether the predicate is true. Errors count as false.
   virtual std::vector<bool> matches(const Expr& predicate, const std::vector<ColumnId>& columns,
                                     const std::vector<std::vector<Value>>& rows) = 0;
};

} // namespace ouzel::sql
