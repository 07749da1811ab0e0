#pragma once
#include <cstdint>

#include "executor/pipeline/operator.hpp"

namespace ouzel::executor {

/// The rows of a result that OFFSET and LIMIT leave: [offset, end()).
struct RowRange {
   uint64_t offset = 0, limit = UINT64_MAX;

   /// Evaluate the clauses. One that is absent (null) or NULL leaves all rows. Throws 2201X and 2201W for a negative
   /// OFFSET and LIMIT.
   static RowRange evaluate(QueryContext& context, const sql::Expr* offset, const sql::Expr* limit);
   /// The range for values of the clauses; null: absent.
   static RowRange of(const Value* offset, const Value* limit);
   /// UINT64_MAX when offset + limit is larger.
   uint64_t end() const { return limit > UINT64_MAX - offset ? UINT64_MAX : offset + limit; }
};

} // namespace ouzel::executor
