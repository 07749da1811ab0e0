#include "storage/database/commit_queue.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/test_point.hpp"

namespace ouzel::storage {

void CommitQueue::add(Entry& entry) {
   const MutexLock lock(entriesMutex_);
   CHECK(entries_.empty() || entries_.back()->endLsn <= entry.endLsn);
   DCHECK(entry.publish != nullptr);
   DCHECK(!entry.isPublished);
   entries_.push_back(&entry);
   ++addedCount_;
}

void CommitQueue::publishReady() {
   const uint64_t before = publishedCount_;
   while (!entries_.empty() && !isFenced_) {
      Entry& entry = *entries_.front();
      if (entry.isSynchronous && entry.endLsn > durable_) break;
      entry.publish();
      entries_.pop_front();
      ++publishedCount_;
      entry.isPublished = true;
      if (entry.isWaiting) entry.wake.notify_one(); // its thread destroys the entry once the mutex is free
   }
   DCHECK(isFenced_ || addedCount_ - publishedCount_ == entries_.size());
   if (observers_ > 0 && publishedCount_ != before) published_.notify_all();
}

void CommitQueue::wakeLeader() {
   if (!isFlushing_ && !entries_.empty() && entries_.front()->isWaiting) entries_.front()->wake.notify_one();
}

bool CommitQueue::flush(Lsn& durable) {
   durable = log_.flush();
   TEST_POINT("commit.flushed");
   // A server that takes over reads the log after this lease has expired. So when the lease is still valid after the
   // flush, that server reads these frames.
   return lease_.confirm();
}

void CommitQueue::setFenced() {
   isFenced_ = true;
   for (Entry* entry : entries_)
      if (entry->isWaiting) entry->wake.notify_one();
   published_.notify_all();
}

void CommitQueue::wait(Entry& entry) {
   UniqueLock lock(entriesMutex_);
   while (true) {
      publishReady();
      if (entry.isPublished) break;
      if (isFenced_) {
         std::erase(entries_, &entry);
         WriterLease::throwTakenOver();
      }
      if (isFlushing_) {
         entry.isWaiting = true;
         entry.wake.wait(lock);
         continue;
      }
      isFlushing_ = true;
      lock.unlock();
      Lsn durable;
      const bool isOurs = flush(durable);
      lock.lock();
      DCHECK(isFlushing_);
      isFlushing_ = false;
      if (isOurs)
         durable_ = std::max(durable_, durable);
      else
         setFenced();
   }
   wakeLeader();
}

void CommitQueue::drain() {
   Lsn durable;
   const bool isOurs = flush(durable);
   const MutexLock lock(entriesMutex_);
   if (!isOurs) {
      setFenced();
      lease_.require();
   }
   durable_ = std::max(durable_, durable);
   publishReady();
   CHECK(entries_.empty());
}

uint64_t CommitQueue::addedCount() {
   const MutexLock lock(entriesMutex_);
   return addedCount_;
}

void CommitQueue::waitForPublished(uint64_t count) {
   UniqueLock lock(entriesMutex_);
   DCHECK(count <= addedCount_);
   ++observers_;
   published_.wait(lock, [&]() REQUIRES(entriesMutex_) { return publishedCount_ >= count || isFenced_; });
   --observers_;
}

} // namespace ouzel::storage
