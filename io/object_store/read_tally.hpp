#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace ouzel::io {

/// Counters of the object reads of one consumer, for example a scan. Shared, since reads may end after the consumer.
struct ReadTally {
   std::atomic<uint64_t> requests{0}; ///< sent, repetitions and hedges included
   std::atomic<uint64_t> bytes{0};    ///< received from the store
   std::atomic<uint64_t> retries{0}, hedges{0};
   std::atomic<uint64_t> cacheHits{0}, cacheBytes{0}; ///< from the cache on a local disk
};

/// While it lives, reads that this thread starts count for `tally`. Scopes nest; the innermost counts. Stores need not
/// pass the tally on to an inner store, because it is found by thread, as Interruptible is.
class ReadTallyScope {
public:
   explicit ReadTallyScope(std::shared_ptr<ReadTally> tally);
   ~ReadTallyScope();
   ReadTallyScope(const ReadTallyScope&) = delete;
   ReadTallyScope& operator=(const ReadTallyScope&) = delete;
   /// The tally of this thread's innermost scope; may be null.
   static const std::shared_ptr<ReadTally>& current();

private:
   std::shared_ptr<ReadTally> outer_;
};

} // namespace ouzel::io
