#include "io/object_store/read_tally.hpp"

#include <utility>

namespace ouzel::io {

namespace {
thread_local std::shared_ptr<ReadTally> innermost;
}

ReadTallyScope::ReadTallyScope(std::shared_ptr<ReadTally> tally) : outer_(std::exchange(innermost, std::move(tally))) {}

ReadTallyScope::~ReadTallyScope() {
   innermost = std::move(outer_);
}

const std::shared_ptr<ReadTally>& ReadTallyScope::current() {
   return innermost;
}

} // namespace ouzel::io
