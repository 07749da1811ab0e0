#pragma once
#include <memory>
#include <vector>

#include "sql/algebra/expr.hpp"
#include "storage/table/computed_key.hpp"

namespace ouzel::sql::plan {

/// An index over expressions, or over a part of the rows, as the optimizer compares it with predicates. Immutable and
/// shared. The expressions are over columns whose ids are attribute numbers.
struct ComputedIndex {
   std::vector<ExprPtr> key;       ///< by key column
   std::vector<ExprPtr> predicate; ///< conjuncts; empty: all rows
   /// The same in the representations of stored columns.
   std::vector<ExprPtr> lowered, loweredPredicate;
   std::shared_ptr<const storage::ComputedKey> computed;
};
using ComputedIndexPtr = std::shared_ptr<const ComputedIndex>;

} // namespace ouzel::sql::plan
