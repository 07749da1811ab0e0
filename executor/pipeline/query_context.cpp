#include "executor/pipeline/query_context.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

void QueryContext::checkCancelled() const {
   const char* state = execution.cancelState.load(std::memory_order_acquire);
   if (!state) return;
   if (std::string_view(state) == sqlstate::adminShutdown.text())
      throw SqlError(sqlstate::adminShutdown, "terminating connection due to administrator command");
   throw SqlError(sqlstate::queryCanceled, execution.cancelMessage);
}

} // namespace ouzel::executor
