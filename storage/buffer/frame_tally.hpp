#pragma once
#include <atomic>
#include <cstdint>

namespace ouzel::storage {

/// Pages that one consumer, for example a query, has asked of the cache.
struct FrameTally {
   std::atomic<uint64_t> hits{0};   ///< found in memory
   std::atomic<uint64_t> misses{0}; ///< read from the store
};

/// While it lives, the pages that this thread asks of caches count for `tally`; null: for nobody. Scopes nest, the
/// innermost counts. The tally outlives the scope.
class FrameTallyScope {
public:
   explicit FrameTallyScope(FrameTally* tally);
   ~FrameTallyScope();
   FrameTallyScope(const FrameTallyScope&) = delete;
   FrameTallyScope& operator=(const FrameTallyScope&) = delete;
   /// The tally of this thread's innermost scope; may be null.
   static FrameTally* current();

private:
   FrameTally* const outer_;
};

} // namespace ouzel::storage
