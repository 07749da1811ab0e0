#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace ouzel::io {

/// What reads of objects have cost somebody, for example a scan. Reads may end after those who wanted to know.
struct ReadTally {
   std::atomic<uint64_t> requests{0}; ///< sent, repetitions and hedges included
   std::atomic<uint64_t> bytes{0};    ///< received from the store
   std::atomic<uint64_t> retries{0}, hedges{0};
   std::atomic<uint64_t> cacheHits{0}, cacheBytes{0}; ///< from the cache on a local disk
};

/// While it lives, reads that are started on this thread count for `tally`. One inside another holds until it ends. It
/// passes through stores that wrap others without their help, as Interruptible does for waits.
class ReadTallyScope {
public:
   explicit ReadTallyScope(std::shared_ptr<ReadTally> tally);
   ~ReadTallyScope();
   ReadTallyScope(const ReadTallyScope&) = delete;
   ReadTallyScope& operator=(const ReadTallyScope&) = delete;
   /// The innermost of this thread; may be null.
   static const std::shared_ptr<ReadTally>& current();

private:
   std::shared_ptr<ReadTally> outer_;
};

} // namespace ouzel::io
