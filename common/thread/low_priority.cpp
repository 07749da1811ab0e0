#include "common/thread/low_priority.hpp"

#include <exception>
#include <mutex>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ouzel {

void runAtLowPriority(uint32_t threads, const std::function<void()>& body) {
   constexpr int niceness = 10; // about a tenth of the time of others who compete for the same processor
   std::mutex mutex;
   std::exception_ptr error;
   std::vector<std::thread> running;
   for (uint32_t i = 0; i < threads; ++i)
      running.emplace_back([&] {
         // Linux keeps priorities by thread. Where it is refused, the work is done all the same.
         static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness));
         try {
            body();
         } catch (...) {
            const std::lock_guard lock(mutex);
            if (!error) error = std::current_exception();
         }
      });
   for (std::thread& thread : running)
      thread.join();
   if (error) std::rethrow_exception(error);
}

} // namespace ouzel
