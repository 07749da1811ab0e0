#include "executor/function/table_function.hpp"
#include "executor/operator/plan_builder.hpp"
#include "executor/operator/runtime_filter.hpp"

// Operators that are being written; a definition elsewhere takes their place.

namespace ouzel::executor {

#define PENDING(name, what)                                                                                            \
   __attribute__((weak)) std::vector<Stage> build##name(PlanBuilder&, const sql::plan::Node&) {                        \
      throwNotSupported(what);                                                                                         \
   }
PENDING(HashJoin, "a hash join")
PENDING(NestedLoopJoin, "a nested loop join")
PENDING(Aggregate, "an aggregation")
PENDING(Sort, "a sort")
PENDING(TopN, "a top-n")
PENDING(Window, "a window")
PENDING(DistinctOn, "DISTINCT ON")

__attribute__((weak)) uint32_t RuntimeFilter::filter(const Vector&, Selection rows, RowIndex*) const {
   return rows.count();
}
__attribute__((weak)) std::unique_ptr<TableFunction> makeTableFunction(TableFunctionSignature, FunctionContext&) {
   throwNotSupported("a table function");
}

} // namespace ouzel::executor
