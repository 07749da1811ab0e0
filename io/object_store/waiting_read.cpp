#include "io/object_store/waiting_read.hpp"

#include "common/sync/mutex.hpp"
#include "common/thread/interruption.hpp"

namespace ouzel::io {

void readAndWait(const ObjectReader& reader, uint64_t offset, size_t size, void* target) {
   Mutex mutex; // guards isHere and error
   CondVar arrived;
   bool isHere = false;
   std::exception_ptr error;
   const auto pending = reader.readAsync(offset, size, target, [&](std::exception_ptr given) {
      const MutexLock lock(mutex);
      error = std::move(given);
      isHere = true;
      arrived.notify_one();
   });
   try {
      UniqueLock lock(mutex);
      waitInterruptibly(arrived, lock, [&] { return isHere; });
   } catch (...) {
      if (pending) pending->cancel(); // the read must not write to the target after a throw
      throw;
   }
   if (error) std::rethrow_exception(error);
}

} // namespace ouzel::io
