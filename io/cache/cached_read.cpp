#include "io/cache/cached_read.hpp"

#include <cstring>

namespace ouzel::io {

bool CachedRead::start(uint64_t offset, uint64_t size, char* target) {
   const auto self = shared_from_this();
   std::vector<ObjectCache::Piece> pieces = parts_.cache.find(object_->key, offset, offset + size);
   std::vector<std::shared_ptr<Fetch>> fetches;
   for (const ObjectCache::Piece& piece : pieces) {
      char* const to = target + (piece.begin - offset);
      if (piece.place) {
         expect();
         parts_.disk.submit(this, [self, piece, to] { self->readPiece(piece, to); });
         continue;
      }
      parts_.cache.countMiss(piece.end - piece.begin);
      std::vector<std::shared_ptr<Fetch>> joined;
      auto started = parts_.fetches.join(object_->key, piece.begin, piece.end, to, self, joined);
      fetches.insert(fetches.end(), started.begin(), started.end());
      for (auto& fetch : joined) {
         parts_.cache.countJoin();
         const MutexLock lock(mutex_);
         joined_.push_back(std::move(fetch));
      }
   }
   for (const auto& fetch : fetches)
      begin(fetch);
   end(nullptr);
   const MutexLock lock(mutex_);
   return !isTold_;
}

void CachedRead::expect() {
   const MutexLock lock(mutex_);
   ++pieces_;
}

void CachedRead::end(std::exception_ptr error) {
   std::vector<Own> own;
   std::exception_ptr first;
   {
      const MutexLock lock(mutex_);
      if (error && !error_) error_ = std::move(error);
      if (--pieces_ > 0 || isCancelled_) return;
      isTelling_ = true;
      own.swap(own_);
      object_.reset();
      first = error_;
   }
   own.clear();
   done_(std::move(first));
   done_ = nullptr;
   const MutexLock lock(mutex_);
   isTold_ = true;
   changed_.notify_all();
}

/// Runs on a thread of DiskReaders.
void CachedRead::readPiece(const ObjectCache::Piece& piece, char* target) noexcept {
   if (!parts_.cache.read(piece, target)) {
      parts_.cache.countMiss(piece.end - piece.begin);
      fetchAlone(piece.begin, piece.end, target);
      return;
   }
   if (tally_) {
      tally_->cacheHits.fetch_add(1, std::memory_order_relaxed);
      tally_->cacheBytes.fetch_add(piece.end - piece.begin, std::memory_order_relaxed);
   }
   end(nullptr);
}

void CachedRead::fetchAlone(uint64_t from, uint64_t to, char* target) noexcept {
   // This fetch is not listed in Fetches, so no other read can join it. Otherwise a read that is being cancelled could
   // get new waiters.
   begin(std::make_shared<Fetch>(Fetch{object_->key, from, to, target, shared_from_this()}));
}

void CachedRead::begin(const std::shared_ptr<Fetch>& fetch) noexcept {
   {
      const MutexLock lock(mutex_);
      if (isCancelled_) return;
      ++beginning_;
   }
   std::unique_ptr<PendingRead> pending;
   try {
      const ReadTallyScope scope(tally_);
      pending = object_->inner->readAsync(
          fetch->begin, fetch->end - fetch->begin, fetch->target,
          [self = shared_from_this(), fetch](std::exception_ptr error) { self->land(*fetch, error); });
   } catch (...) { // readAsync() has started no request
      land(*fetch, std::current_exception());
   }
   const MutexLock lock(mutex_);
   if (!isTelling_) own_.push_back({fetch, std::move(pending)});
   --beginning_;
   changed_.notify_all();
}

/// Runs on the inner store's thread in most cases.
void CachedRead::land(Fetch& fetch, const std::exception_ptr& error) noexcept {
   const std::vector<Fetch::Waiter> waiters = parts_.fetches.deliver(fetch);
   if (!error) {
      for (const Fetch::Waiter& waiter : waiters)
         std::memcpy(waiter.target, fetch.target + (waiter.begin - fetch.begin), waiter.end - waiter.begin);
      parts_.cache.offer(object_->key, object_->inner->size(), fetch.begin, fetch.target, fetch.end - fetch.begin);
   }
   parts_.fetches.finish(fetch);
   for (const Fetch::Waiter& waiter : waiters)
      waiter.read->end(error);
   end(error);
}

void CachedRead::cancel() noexcept {
   std::vector<Own> own;
   std::vector<std::shared_ptr<Fetch>> joined;
   {
      UniqueLock lock(mutex_);
      isCancelled_ = true;
      changed_.wait(lock, [&]() REQUIRES(mutex_) { return beginning_ == 0 && (!isTelling_ || isTold_); });
      own.swap(own_);
      joined.swap(joined_);
   }
   parts_.disk.forget(this);
   for (const Own& mine : own) {
      if (mine.pending) mine.pending->cancel();
      for (const Fetch::Waiter& waiter : parts_.fetches.abandon(*mine.fetch))
         waiter.read->fetchAlone(waiter.begin, waiter.end, waiter.target);
   }
   for (const auto& fetch : joined)
      parts_.fetches.leave(*fetch, *this);
}

} // namespace ouzel::io
