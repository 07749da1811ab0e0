#include "io/cache/fetches.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "io/cache/cached_read.hpp"

namespace ouzel::io {

namespace {
/// The size of S3Reader's requests: copying for the cache and for waiters goes on between two requests.
constexpr uint64_t fetchSizeMax = 16 << 20, alignment = 4096;
} // namespace

std::vector<std::shared_ptr<Fetch>> Fetches::join(const ObjectKey& object, uint64_t begin, uint64_t end, char* target,
                                                  const std::shared_ptr<CachedRead>& read,
                                                  std::vector<std::shared_ptr<Fetch>>& joined) {
   DCHECK(begin < end);
   std::vector<std::shared_ptr<Fetch>> started;
   const auto start = [&](uint64_t from, uint64_t to) {
      const uint64_t count = (to - from + fetchSizeMax - 1) / fetchSizeMax;
      const uint64_t step = ((to - from + count - 1) / count + alignment - 1) / alignment * alignment;
      for (; from < to; from += step)
         started.push_back(
             std::make_shared<Fetch>(Fetch{object, from, std::min(from + step, to), target + (from - begin), read}));
   };
   const MutexLock lock(mutex_);
   std::vector<std::shared_ptr<Fetch>>& others = byObject_[object];
   std::vector<std::shared_ptr<Fetch>> overlapping;
   for (const auto& other : others)
      if (other->begin < end && other->end > begin && other->owner != read) overlapping.push_back(other);
   std::sort(overlapping.begin(), overlapping.end(), [](const auto& a, const auto& b) { return a->begin < b->begin; });
   uint64_t at = begin;
   for (const auto& other : overlapping) {
      const uint64_t from = std::max(at, other->begin), to = std::min(end, other->end);
      if (to <= from) continue;
      if (from > at) start(at, from);
      read->expect();
      other->waiters.push_back({read, from, to, target + (from - begin)});
      joined.push_back(other);
      at = to;
   }
   if (at < end) start(at, end);
   for (const auto& fetch : started) {
      read->expect();
      others.push_back(fetch);
   }
   return started;
}

void Fetches::unlist(const Fetch& fetch) {
   const auto found = byObject_.find(fetch.object);
   if (found == byObject_.end()) return;
   std::erase_if(found->second, [&](const auto& other) { return other.get() == &fetch; });
   if (found->second.empty()) byObject_.erase(found);
}

std::vector<Fetch::Waiter> Fetches::deliver(Fetch& fetch) {
   const MutexLock lock(mutex_);
   DCHECK(fetch.state == Fetch::State::UnderWay);
   unlist(fetch);
   fetch.state = Fetch::State::Delivering;
   return std::move(fetch.waiters);
}

void Fetches::finish(Fetch& fetch) {
   const MutexLock lock(mutex_);
   DCHECK(fetch.state == Fetch::State::Delivering);
   fetch.state = Fetch::State::Over;
   fetch.owner.reset(); // the caller holds a reference, so the read is not destroyed here
   over_.notify_all();
}

std::vector<Fetch::Waiter> Fetches::abandon(Fetch& fetch) {
   const MutexLock lock(mutex_);
   if (fetch.state != Fetch::State::UnderWay) return {};
   unlist(fetch);
   fetch.state = Fetch::State::Over;
   fetch.owner.reset(); // the caller holds a reference, so the read is not destroyed here
   return std::move(fetch.waiters);
}

void Fetches::leave(Fetch& fetch, const CachedRead& read) {
   UniqueLock lock(mutex_);
   std::erase_if(fetch.waiters, [&](const auto& waiter) { return waiter.read.get() == &read; });
   over_.wait(lock, [&]() REQUIRES(mutex_) { return fetch.state != Fetch::State::Delivering; });
}

} // namespace ouzel::io
