#include "io/spill/spill_tally.hpp"

#include <utility>

namespace ouzel::io {

namespace {
thread_local SpillTally* innermost = nullptr;
}

SpillTallyScope::SpillTallyScope(SpillTally* tally) : outer_(std::exchange(innermost, tally)) {}

SpillTallyScope::~SpillTallyScope() {
   innermost = outer_;
}

SpillTally* SpillTallyScope::current() {
   return innermost;
}

} // namespace ouzel::io
