#include "executor/operator/sort/row_range.hpp"

#include <optional>
#include <utility>

#include "executor/expression/evaluator.hpp"

namespace ouzel::executor {

RowRange RowRange::of(const Value* offset, const Value* limit) {
   const auto count = [](const Value* value, uint64_t absent, SqlState state, const char* negative) {
      if (!value || value->isNull) return absent;
      if (value->i64 < 0) throw SqlError(state, negative);
      return static_cast<uint64_t>(value->i64);
   };
   RowRange range;
   range.offset = count(offset, 0, sqlstate::invalidRowCountInResultOffsetClause, "OFFSET must not be negative");
   range.limit = count(limit, UINT64_MAX, sqlstate::invalidRowCountInLimitClause, "LIMIT must not be negative");
   return range;
}

RowRange RowRange::evaluate(QueryContext& context, const sql::Expr* offset, const sql::Expr* limit) {
   std::optional<Value> values[2];
   for (const auto& [value, clause] : {std::pair(&values[0], offset), std::pair(&values[1], limit)})
      if (clause) *value = ExpressionEvaluator(context.functions(), context.memory()).evaluate(*clause);
   return of(values[0] ? &*values[0] : nullptr, values[1] ? &*values[1] : nullptr);
}

} // namespace ouzel::executor
