#pragma once
#include "sql/algebra/expr.hpp"

namespace ouzel::sql {

/// Evaluates expressions while planning: constant folding and predicates on samples. Implemented by
/// executor/expression, handed to the optimizer by engine/. Not thread-safe: one per planning session.
class Evaluator {
public:
   virtual ~Evaluator() = default;
   /// Value of an expression without columns. Throws what evaluation throws.
   virtual Value evaluate(const Expr& expr) = 0;
   /// For each sample row (values of `columns`, one vector each) whether the predicate is true. Errors count as false.
   virtual std::vector<bool> matches(const Expr& predicate, const std::vector<ColumnId>& columns,
                                     const std::vector<std::vector<Value>>& rows) = 0;
};

} // namespace ouzel::sql
