#include "common/thread/run_on_threads.hpp"

#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel {

void runOnThreads(uint32_t threads, const std::function<void()>& body) {
   Mutex mutex;
   std::exception_ptr error;
   std::vector<std::thread> running;
   const auto run = [&] {
      try {
         body();
      } catch (...) {
         const MutexLock lock(mutex);
         if (!error) error = std::current_exception();
      }
   };
   try {
      for (uint32_t i = 0; i < threads; ++i)
         running.emplace_back(run);
   } catch (const std::system_error&) { // the system has no more threads
      if (running.empty()) run();
   }
   for (std::thread& thread : running)
      thread.join();
   if (error) std::rethrow_exception(error);
}

} // namespace ouzel
