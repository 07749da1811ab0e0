#include "executor/function/table_function.hpp"
#include "executor/operator/plan_builder.hpp"

// Operators that are being written; a definition elsewhere takes their place.

namespace ouzel::executor {

#define PENDING(name, what)                                                                                            \
   __attribute__((weak)) std::vector<Stage> build##name(PlanBuilder&, const sql::plan::Node&) {                        \
      throwNotSupported(what);                                                                                         \
   }
PENDING(Aggregate, "an aggregation")

__attribute__((weak)) std::unique_ptr<TableFunction> makeTableFunction(TableFunctionSignature, FunctionContext&) {
   throwNotSupported("a table function");
}

} // namespace ouzel::executor
