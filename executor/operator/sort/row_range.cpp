#include "executor/operator/sort/row_range.hpp"

#include "executor/expression/evaluator.hpp"

namespace ouzel::executor {

RowRange RowRange::evaluate(QueryContext& context, const sql::Expr* offset, const sql::Expr* limit) {
   const auto count = [&](const sql::Expr* clause, uint64_t absent, SqlState state, const char* negative) {
      if (!clause) return absent;
      const Value value = ExpressionEvaluator(context.functions(), context.memory()).evaluate(*clause);
      if (value.isNull) return absent;
      if (value.i64 < 0) throw SqlError(state, negative);
      return static_cast<uint64_t>(value.i64);
   };
   RowRange range;
   range.offset = count(offset, 0, sqlstate::invalidRowCountInResultOffsetClause, "OFFSET must not be negative");
   range.limit = count(limit, UINT64_MAX, sqlstate::invalidRowCountInLimitClause, "LIMIT must not be negative");
   return range;
}

} // namespace ouzel::executor
