#include "common/thread/low_priority.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include "common/thread/run_on_threads.hpp"

namespace ouzel {

void runAtLowPriority(uint32_t threads, const std::function<void()>& body) {
   constexpr int niceness = 10; // about a tenth of the time of others who compete for the same processor
   runOnThreads(threads, [&] {
      // Linux keeps priorities by thread. Where it is refused, the work is done all the same.
      static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness));
      body();
   });
}

} // namespace ouzel
