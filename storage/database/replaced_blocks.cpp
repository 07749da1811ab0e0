#include "storage/database/replaced_blocks.hpp"

#include <algorithm>
#include <utility>

#include "common/env/clock.hpp"

namespace ouzel::storage {

void ReplacedBlocks::add(std::shared_ptr<Block> block) {
   block->discard();
   const MutexLock lock(mutex_);
   entries_.push_back({steadyNanos() + nanos_, std::move(block)});
   dueAt_ = entries_.front().dueAt;
}

void ReplacedBlocks::removeIfDue() {
   if (dueAt_.load() == INT64_MAX) return;
   const int64_t now = steadyNanos();
   if (dueAt_.load() > now) return;
   std::vector<Entry> removed; // its objects are removed after the lock is released
   const MutexLock lock(mutex_);
   const auto end = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.dueAt > now; });
   removed.assign(std::make_move_iterator(entries_.begin()), std::make_move_iterator(end));
   entries_.erase(entries_.begin(), end);
   dueAt_ = entries_.empty() ? INT64_MAX : entries_.front().dueAt;
}

void ReplacedBlocks::removeAll() {
   std::vector<Entry> removed;
   const MutexLock lock(mutex_);
   removed = std::exchange(entries_, {});
   dueAt_ = INT64_MAX;
}

} // namespace ouzel::storage
