#pragma once
#include <atomic>
#include <cstdint>

namespace ouzel::io {

/// What spilled pages cost one consumer, for example an operator. Counted by the threads that work for it.
struct SpillTally {
   std::atomic<uint64_t> writeRequests{0}, readRequests{0}; ///< made to devices, repetitions included
   std::atomic<uint64_t> readRounds{0};                     ///< in which readRequests were made, several at once
   std::atomic<uint64_t> readBytes{0};                      ///< as stored
   /// Time in which a thread could not go on: all its staging areas were in flight or a page was still being written;
   /// or a page was not there yet.
   std::atomic<uint64_t> writeWaitNanos{0}, readWaitNanos{0};
};

/// While it lives, what this thread asks of devices and waits for counts for `tally`; null: for nobody. Scopes nest,
/// the innermost counts. The tally outlives the scope. (As ReadTallyScope, for reads of objects.)
class SpillTallyScope {
public:
   explicit SpillTallyScope(SpillTally* tally);
   ~SpillTallyScope();
   SpillTallyScope(const SpillTallyScope&) = delete;
   SpillTallyScope& operator=(const SpillTallyScope&) = delete;
   /// The tally of this thread's innermost scope; may be null.
   static SpillTally* current();

private:
   SpillTally* const outer_;
};

} // namespace ouzel::io
