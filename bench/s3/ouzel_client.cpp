// Ouzel's retriever, through the interface that the server uses.
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "bench/s3/workload.hpp"
#include "io/store/open_store.hpp"

namespace ouzel::bench {

void runOuzel(Workload& workload) {
   const Task& task = workload.task();
   const auto store = io::openObjectStore("s3://" + task.bucket + "?path_style=true&region=" + task.region +
                                          "&endpoint=http://" + task.host + ":" + std::to_string(task.port));
   const auto reader = store->open(task.object, task.objectSize);
   std::mutex mutex;
   std::condition_variable over;
   size_t active = task.outstanding;
   std::exception_ptr failure;
   // Each of the parallel places starts its next read when its last read has ended.
   std::function<void(size_t)> begin = [&](size_t index) {
      uint64_t offset = 0;
      if (workload.next(offset)) {
         reader->readAsync(offset, task.requestSize, workload.frame(index), [&, index](std::exception_ptr error) {
            if (!error) {
               workload.finished(task.requestSize);
               return begin(index);
            }
            const std::lock_guard lock(mutex);
            failure = error;
            --active;
            over.notify_one();
         });
         return;
      }
      const std::lock_guard lock(mutex);
      --active;
      over.notify_one();
   };
   for (size_t i = 0; i < task.outstanding; ++i)
      begin(i);
   std::unique_lock lock(mutex);
   over.wait(lock, [&] { return active == 0; });
   if (failure) std::rethrow_exception(failure);
}

} // namespace ouzel::bench
