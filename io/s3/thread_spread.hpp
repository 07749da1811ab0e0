#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel::io {

/// Chooses the thread of a retriever that gets the next request. A single thread is used while its core suffices, since
/// each further thread takes CPU time from queries. When all threads in use are saturated, one more is used (AnyBlob,
/// section 4: as many retrievers as the measured rates ask for). Thread-safe.
class ThreadSpread {
public:
   /// Uses from `least` to `most` threads.
   ThreadSpread(uint32_t least, uint32_t most);
   /// Chooses, for a request with a body of `bytes`, the thread in use with the fewest outstanding bytes. The bytes
   /// count as outstanding until ended().
   uint32_t choose(size_t bytes);
   void ended(uint32_t thread, size_t bytes);
   /// Reports the share of a core that the thread has used lately; 0 when it becomes idle.
   void setBusy(uint32_t thread, double share);
   uint32_t used() const;

private:
   struct Load {
      size_t bytes = 0;
      double busy = 0;
   };
   const uint32_t least_;
   mutable Mutex mutex_; ///< guards the members below
   std::vector<Load> loads_ GUARDED_BY(mutex_);
   uint32_t used_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
