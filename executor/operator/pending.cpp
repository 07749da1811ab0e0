#include "executor/function/table_function.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

__attribute__((weak)) std::unique_ptr<TableFunction> makeTableFunction(TableFunctionSignature, FunctionContext&) {
   throwNotSupported("a table function");
}

} // namespace ouzel::executor
