#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel::io {

/// Which of a retriever's threads gets the next request. One does as long as its core suffices, since each that is
/// woken besides costs the queries a part of theirs; when all that are in use are saturated, one more is used (AnyBlob,
/// section 4: as many retrievers as the measured rates ask for). Thread-safe.
class ThreadSpread {
public:
   /// From `least` to `most` threads in use.
   ThreadSpread(uint32_t least, uint32_t most);
   /// For a request with a body of `bytes`: the thread in use that has the fewest before it. ended() gives them back.
   uint32_t choose(size_t bytes);
   void ended(uint32_t thread, size_t bytes);
   /// The part of a core's time that the thread has used lately; 0 once it has nothing to do.
   void setBusy(uint32_t thread, double share);
   uint32_t used() const;

private:
   struct Load {
      size_t bytes = 0;
      double busy = 0;
   };
   const uint32_t least_;
   mutable Mutex mutex_; ///< guards what follows
   std::vector<Load> loads_ GUARDED_BY(mutex_);
   uint32_t used_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
