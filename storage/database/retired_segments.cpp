#include "storage/database/retired_segments.hpp"

#include "common/error/check.hpp"

namespace ouzel::storage {

void RetiredSegments::note(Timestamp timestamp) {
   DCHECK(timestamp != 0);
   Timestamp known = oldest_.load();
   while ((known == 0 || timestamp < known) && !oldest_.compare_exchange_weak(known, timestamp)) {
   } // the exchange fails only when another thread has changed oldest_
   Timestamp last = newest_.load();
   while (timestamp > last && !newest_.compare_exchange_weak(last, timestamp)) {
   }
}

void RetiredSegments::releaseIfDue() {
   if (const Timestamp oldest = oldest_.load(); oldest != 0 && oldest <= transactions_.horizon()) release();
}

void RetiredSegments::releaseAfter(Timestamp oldest) {
   if (oldest_.load() != 0 && oldest < newest_.load()) release();
}

void RetiredSegments::release() {
   if (oldest_.load() == 0) return;
   oldest_ = 0; // before the lists are read: a segment retired from here on is noted after this
   const LiveSnapshots live = transactions_.liveSnapshots();
   for (const auto& table : tables_.all()) {
      std::shared_ptr<const SegmentList> previous; // freed after the locks are released
      TableCore& core = table->core();
      releaseOf(core, live, previous);
      if (!previous) continue;
      std::shared_ptr<const SegmentList> planned; // statistics keep the segments they were made of
      const MutexLock lock(core.statisticsMutex);
      if (core.statisticsSegments != previous) continue;
      core.statistics = nullptr;
      planned = std::move(core.statisticsSegments);
   }
}

void RetiredSegments::releaseOf(TableCore& core, const LiveSnapshots& live,
                                std::shared_ptr<const SegmentList>& previous) {
   const MutexLock lock(core.mutex);
   auto list = std::make_shared<SegmentList>();
   for (const SegmentPtr& segment : *core.segments) {
      if (segment->retiredAt == 0 || live.mayRead(*segment->versions, segment->retiredAt)) {
         list->push_back(segment);
         if (segment->retiredAt != 0) note(segment->retiredAt);
      } else if (segment->delta) {
         DCHECK(core.context.retiredDeltaBytes.load() >= segment->delta->bytes());
         core.context.retiredDeltaBytes -= segment->delta->bytes();
      }
   }
   if (list->size() == core.segments->size()) return;
   previous = std::move(core.segments);
   core.segments = std::move(list);
}

void RetiredSegments::addBlock(std::shared_ptr<Block> block) {
   DCHECK(block != nullptr);
   const MutexLock lock(blocksMutex_);
   blocks_.push_back(std::move(block));
}

std::vector<std::shared_ptr<Block>> RetiredSegments::takeBlocks() {
   const MutexLock lock(blocksMutex_);
   return std::exchange(blocks_, {});
}

void RetiredSegments::putBackBlocks(const std::vector<std::shared_ptr<Block>>& blocks) {
   const MutexLock lock(blocksMutex_);
   blocks_.insert(blocks_.end(), blocks.begin(), blocks.end());
}

void RetiredSegments::addBlockNames(std::set<std::string>& names) const {
   const MutexLock lock(blocksMutex_);
   for (const auto& block : blocks_)
      names.insert(block->objectName());
}

} // namespace ouzel::storage
