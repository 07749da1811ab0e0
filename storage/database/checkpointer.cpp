#include "storage/database/checkpointer.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/log/log.hpp"

namespace ouzel::storage {

Checkpointer::Checkpointer(const CheckpointParts& parts, StoredState stored)
   : parts_(parts), stored_(std::move(stored)), compactor_(parts.context, parts.tables, parts.retired, parts.committer),
     group_(groupWork()) {
   group_.cover(stored_.manifest().replayLsn);
}

CheckpointGroup::Work Checkpointer::groupWork() {
   CheckpointGroup::Work work;
   work.checkpoint = [this] { checkpoint(CheckpointKind::Commit); };
   work.tidy = [this] {
      const MutexLock lock(storedMutex_);
      stored_.removeUnused();
   };
   work.isFenced = [this] { return parts_.files.writerLease().isFenced(); };
   return work;
}

void Checkpointer::checkpoint(CheckpointKind kind) {
   parts_.files.writerLease(); // throws when there is none
   CHECK(imageSource_ != nullptr);
   const MutexLock lock(storedMutex_);
   // A checkpoint that commits wait for is one of many.
   const bool isLogged = logsCheckpoints() && kind != CheckpointKind::Commit;
   const int64_t start = steadyNanos();
   const Lsn before = stored_.manifest().replayLsn;
   if (isLogged)
      logLine(LogLevel::Log,
              std::string("checkpoint starting: ") + (kind == CheckpointKind::Clean ? "shutdown" : "online"));
   parts_.replacedBlocks.removeIfDue();
   compactor_.run(kind);
   Checkpoint checkpoint(parts_, stored_, kind);
   checkpoint.capture(imageSource_);
   checkpoint.write();
   group_.cover(checkpoint.replayLsn());
   parts_.log.removeBefore(checkpoint.replayLsn());
   parts_.retired.release();
   checkpoint.cleanUp();
   count(kind, steadyNanos() - start);
   if (isLogged)
      logLine(LogLevel::Log,
              fmt::format("checkpoint complete: wrote {}; log: {} kB since the last one, {} kB kept; total={:.3f} s",
                          checkpoint.describe(), (checkpoint.replayLsn() - before) >> 10, parts_.log.keptBytes() >> 10,
                          static_cast<double>(steadyNanos() - start) / 1e9));
}

void Checkpointer::count(CheckpointKind kind, int64_t nanos) {
   const MutexLock lock(scheduleMutex_);
   // One that runs while another is scheduled counts as that one.
   ++(isScheduled_ || kind == CheckpointKind::Commit ? use_.scheduled : use_.requested);
   use_.nanos += nanos;
}

CheckpointUse Checkpointer::use() {
   const MutexLock lock(scheduleMutex_);
   return use_;
}

void Checkpointer::waitForStore(Lsn lsn) {
   if (parts_.files.lease()) group_.wait(lsn);
}

size_t Checkpointer::referencedCount() {
   const MutexLock lock(storedMutex_);
   return stored_.referencedCount();
}

bool Checkpointer::isDue() const {
   // Blocks of dropped tables take space until a checkpoint stores a manifest without them.
   constexpr size_t garbageMax = 16;
   if (parts_.log.keptBytes() > parts_.files.options().checkpointWalBytes) return true;
   if (parts_.context.garbage.count() > garbageMax) return true;
   // Deltas share the memory limit with queries and the cache: above a quarter of it, they are turned into blocks.
   return parts_.context.deltaMemory.used() >
          parts_.context.retiredDeltaBytes + std::max<size_t>(parts_.ledger.limit() / 4, size_t{64} << 20);
}

void Checkpointer::startIfDue() {
   parts_.retired.releaseIfDue();
   parts_.replacedBlocks.removeIfDue();
   if (!isDue() || !imageSource_) return;
   {
      const MutexLock lock(scheduleMutex_);
      if (isScheduled_ || parts_.log.keptBytes() < retryAtLogBytes_) return;
      isScheduled_ = true;
   }
   parts_.background.run([this] { runScheduled(); });
}

void Checkpointer::runScheduled() {
   const LogRole role("checkpointer");
   uint64_t retryAt = 0;
   try {
      checkpoint(CheckpointKind::Background);
   } catch (const std::exception& error) {
      // The log still has every commit. Do not try again at once: that would fill the disk with objects of failed
      // attempts.
      logLine(LogLevel::Error, std::string("checkpoint failed: ") + error.what());
      retryAt = parts_.log.keptBytes() + (parts_.files.options().checkpointWalBytes >> 4);
   }
   const MutexLock lock(scheduleMutex_);
   DCHECK(isScheduled_);
   retryAtLogBytes_ = retryAt;
   isScheduled_ = false;
}

} // namespace ouzel::storage
