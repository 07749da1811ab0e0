#include "executor/pipeline/query_context.hpp"

#include "common/error/sql_error.hpp"
#include "common/format.hpp"

namespace ouzel::executor {

void OperatorProfile::noteSpill() {
   if (!spill) return;
   const uint64_t writes = spill->writeRequests.load(), reads = spill->readRounds.load();
   const uint64_t writeWait = spill->writeWaitNanos.load(), readWait = spill->readWaitNanos.load();
   if (writes + reads + writeWait + readWait == 0) return;
   const auto millis = [](uint64_t count) { return static_cast<double>(count) / 1e6; };
   std::string rounds = format("{} write, {} read", writes, reads);
   if (roundsExpected > 0) rounds += format(" ({:.0f} expected)", roundsExpected);
   notes.emplace_back("Spill Rounds", std::move(rounds));
   if (bytesExpected > 0)
      notes.emplace_back("Spill Bytes", format("{} read ({:.0f} expected)", spill->readBytes.load(), bytesExpected));
   notes.emplace_back("Spill Wait", format("{:.1f} ms write, {:.1f} ms read", millis(writeWait), millis(readWait)));
}

void QueryContext::checkCancelled() const {
   const char* state = execution.cancelState.load(std::memory_order_acquire);
   if (!state) return;
   if (std::string_view(state) == sqlstate::adminShutdown.text())
      throw SqlError(sqlstate::adminShutdown, "terminating connection due to administrator command");
   throw SqlError(sqlstate::queryCanceled, execution.cancelMessage);
}

} // namespace ouzel::executor
