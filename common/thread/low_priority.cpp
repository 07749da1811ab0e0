#include "common/thread/low_priority.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include "common/thread/run_on_threads.hpp"

namespace ouzel {

void runAtLowPriority(uint32_t threads, const std::function<void()>& body) {
   constexpr int niceness = 10; // about a tenth of the time that a normal thread on the same processor gets
   runOnThreads(threads, [&] {
      // Linux keeps a priority for each thread. Where the system refuses it, the work is done at normal priority.
      static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness));
      body();
   });
}

} // namespace ouzel
