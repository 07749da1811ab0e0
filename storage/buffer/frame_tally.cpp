#include "storage/buffer/frame_tally.hpp"

#include <utility>

namespace ouzel::storage {

namespace {
constinit thread_local FrameTally* innermost = nullptr;
} // namespace

FrameTallyScope::FrameTallyScope(FrameTally* tally) : outer_(std::exchange(innermost, tally)) {}

FrameTallyScope::~FrameTallyScope() {
   innermost = outer_;
}

FrameTally* FrameTallyScope::current() {
   return innermost;
}

} // namespace ouzel::storage
