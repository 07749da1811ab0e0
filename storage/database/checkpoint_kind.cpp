#include "storage/database/checkpoint_kind.hpp"

#include <algorithm>
#include <atomic>

#include "common/thread/low_priority.hpp"
#include "common/thread/run_on_threads.hpp"

namespace ouzel::storage {

namespace {
constexpr uint64_t waitingThreadsMax = 16;
} // namespace

void forEachPiece(const StorageContext& context, uint64_t count, CheckpointKind kind,
                  const std::function<void(uint64_t)>& body) {
   const bool isWaiting = kind == CheckpointKind::Commit && context.store.isRemote() && count > 1;
   if (!isWaiting && kind != CheckpointKind::Background) return context.tasks.parallelFor(count, body);
   std::atomic<uint64_t> next{0};
   const auto work = [&] {
      for (uint64_t i; (i = next.fetch_add(1)) < count;)
         body(i);
   };
   if (isWaiting) return runOnThreads(static_cast<uint32_t>(std::min<uint64_t>(count, waitingThreadsMax)), work);
   const uint64_t threads = std::min<uint64_t>(std::max(context.tasks.concurrency() / 2, 1u), count);
   runAtLowPriority(static_cast<uint32_t>(threads), work);
}

} // namespace ouzel::storage
