#include "io/cache/object_cache.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <xxhash.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr uint64_t largeCacheSize = uint64_t{64} << 30;
constexpr size_t queuePartOfMemory = 16;
constexpr size_t fillSizeMax = 1 << 20;
constexpr size_t regionsChargedAtOnce = 4096;
constexpr std::chrono::seconds idleBeforeSummary(1);

/// Large caches use larger regions, since every region costs memory of the index.
size_t regionSizeMaxOf(const CacheOptions& options) {
   const size_t size = options.size >= largeCacheSize ? 1 << 20 : 128 << 10;
   return std::min(size, options.segmentSize / 4);
}

uint32_t segmentsOf(const CacheOptions& options) {
   return static_cast<uint32_t>(options.size / options.segmentSize);
}

std::string prepareFile(const CacheOptions& options) {
   if (options.size < 2 * options.segmentSize)
      throw SqlError(sqlstate::invalidParameterValue,
                     "the cache needs more than " + std::to_string(options.size) + " bytes");
   makeDirectories(options.directory);
   return options.directory + "/ouzel.cache";
}

} // namespace

ObjectCache::ObjectCache(CacheOptions options)
   : options_(std::move(options)), regionSizeMax_(regionSizeMaxOf(options_)),
     file_(prepareFile(options_), options_.segmentSize, segmentsOf(options_)), queueSizeMax_(options_.queueSizeMax),
     index_(file_.segments()) {
   if (options_.memory != nullptr) {
      memory_.emplace(*options_.memory);
      queueSizeMax_ = std::min(queueSizeMax_, options_.memory->wholeLimit() / queuePartOfMemory);
      if (!memory_->tryGrow(queueSizeMax_)) queueSizeMax_ = 0;
   }
   load();
   writer_ = std::thread([this] { work(); });
}

ObjectCache::~ObjectCache() {
   {
      const MutexLock lock(queueMutex_);
      isStopping_ = true;
   }
   queueChanged_.notify_all();
   writer_.join();
}

/// Reads the summaries of all segments into the index, the newest first: where two segments have the same bytes, the
/// older region is out of date and is not inserted.
void ObjectCache::load() {
   std::vector<std::pair<uint32_t, RegionFile::Summary>> found;
   for (uint32_t segment = 0; segment < file_.segments(); ++segment) {
      try {
         if (auto summary = file_.readSummary(segment)) found.emplace_back(segment, std::move(*summary));
      } catch (const SqlError&) { // a segment with an unreadable summary counts as empty
      }
   }
   std::sort(found.begin(), found.end(),
             [](const auto& a, const auto& b) { return a.second.sequence > b.second.sequence; });
   for (const auto& [segment, summary] : found) {
      if (!chargeIndex(summary.regions.size())) break;
      for (const Region& region : summary.regions)
         index_.insert({segment, region});
   }
   summary_.sequence = 1;
   if (found.empty()) return;
   segment_ = found.front().first;
   summary_ = std::move(found.front().second);
   for (const Region& region : summary_.regions)
      position_ = std::max<size_t>(position_, region.position + region.size);
}

std::vector<ObjectCache::Piece> ObjectCache::find(const ObjectKey& object, uint64_t begin, uint64_t end) {
   const MutexLock lock(indexMutex_);
   return index_.find(object, begin, end);
}

bool ObjectCache::read(const Piece& piece, char* target) {
   if (!isOn_.load(std::memory_order_relaxed)) return false;
   DCHECK(piece.place.has_value());
   const Place& place = *piece.place;
   DCHECK(piece.begin >= place.region.offset);
   DCHECK(piece.end <= place.region.offset + place.region.size);
   const size_t size = piece.end - piece.begin;
   try {
      bool isGood;
      if (size == place.region.size) {
         isGood = file_.read(place, target);
      } else {
         const std::unique_ptr<char[]> whole(new char[place.region.size]);
         isGood = file_.read(place, whole.get());
         if (isGood) std::memcpy(target, whole.get() + (piece.begin - place.region.offset), size);
      }
      if (isGood) {
         hits_.fetch_add(1, std::memory_order_relaxed);
         hitBytes_.fetch_add(size, std::memory_order_relaxed);
         return true;
      }
   } catch (const SqlError& error) {
      turnOff(error.what());
      return false;
   }
   const MutexLock lock(indexMutex_);
   // A region that is not in the index any more was overwritten by the writer thread: that is no corruption.
   if (index_.remove(place)) corruptions_.fetch_add(1, std::memory_order_relaxed);
   return false;
}

void ObjectCache::offer(const ObjectKey& object, uint64_t objectSize, uint64_t offset, const char* bytes, size_t size) {
   if (!isOn_.load(std::memory_order_relaxed)) return;
   // Queued in pieces, so that a short queue can take a part of a long stretch.
   for (size_t done = 0; done < size; done += fillSizeMax)
      offerPiece(object, objectSize, offset + done, bytes + done, std::min(size - done, fillSizeMax));
}

void ObjectCache::offerPiece(const ObjectKey& object, uint64_t objectSize, uint64_t offset, const char* bytes,
                             size_t size) {
   bool isTaken;
   {
      const MutexLock lock(queueMutex_);
      isTaken = size <= queueSizeMax_ && queueSize_ <= queueSizeMax_ - size && !isStopping_;
      if (isTaken) queueSize_ += size;
   }
   std::unique_ptr<char[]> copy(isTaken ? new (std::nothrow) char[size] : nullptr);
   if (copy) std::memcpy(copy.get(), bytes, size);
   const MutexLock lock(queueMutex_);
   if (!copy) {
      if (isTaken) queueSize_ -= size;
      droppedFills_.fetch_add(1, std::memory_order_relaxed);
      return;
   }
   queue_.push_back({object, objectSize, offset, std::move(copy), size});
   queueChanged_.notify_all();
}

std::optional<uint64_t> ObjectCache::objectSize(const ObjectKey& object) const {
   const MutexLock lock(indexMutex_);
   return index_.objectSize(object);
}

void ObjectCache::forget(const ObjectKey& object) {
   const MutexLock lock(indexMutex_);
   index_.removeObject(object);
}

void ObjectCache::distrust(const ObjectKey& object) {
   const MutexLock lock(indexMutex_);
   index_.removeObject(object);
   distrusted_.insert(object);
}

void ObjectCache::countMiss(size_t bytes) {
   misses_.fetch_add(1, std::memory_order_relaxed);
   missBytes_.fetch_add(bytes, std::memory_order_relaxed);
}

CacheStatistics ObjectCache::statistics() const {
   const auto value = [](const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
   CacheStatistics result;
   result.hits = value(hits_);
   result.hitBytes = value(hitBytes_);
   result.misses = value(misses_);
   result.missBytes = value(missBytes_);
   result.joins = value(joins_);
   result.evictions = value(evictions_);
   result.fills = value(fills_);
   result.droppedFills = value(droppedFills_);
   result.corruptions = value(corruptions_);
   result.errors = value(errors_);
   result.size = isOn_.load(std::memory_order_relaxed) ? options_.size : 0;
   const MutexLock lock(indexMutex_);
   result.regions = index_.count();
   result.bytesUsed = index_.bytes();
   return result;
}

void ObjectCache::flush() {
   UniqueLock lock(queueMutex_);
   wantsFlush_ = true;
   queueChanged_.notify_all();
   queueChanged_.wait(lock, [&]() REQUIRES(queueMutex_) { return !wantsFlush_; });
}

/// Loop of the writer thread.
void ObjectCache::work() {
   UniqueLock lock(queueMutex_);
   while (true) {
      const bool hasWork = queueChanged_.wait_for(lock, idleBeforeSummary, [&]() REQUIRES(queueMutex_) {
         return !queue_.empty() || isStopping_ || wantsFlush_;
      });
      if (!queue_.empty()) {
         Fill fill = std::move(queue_.front());
         queue_.pop_front();
         lock.unlock();
         store(fill);
         fill.bytes.reset();
         lock.lock();
         DCHECK(queueSize_ >= fill.size);
         queueSize_ -= fill.size;
         continue;
      }
      lock.unlock();
      writeSummary();
      lock.lock();
      if (!queue_.empty()) continue;
      if (wantsFlush_) {
         wantsFlush_ = false;
         queueChanged_.notify_all();
      }
      if (hasWork && isStopping_) return;
      // The summary is written, so the thread waits without a timeout.
      queueChanged_.wait(lock, [&]() REQUIRES(queueMutex_) { return !queue_.empty() || isStopping_ || wantsFlush_; });
   }
}

void ObjectCache::store(const Fill& fill) {
   bool isStored = isOn_.load(std::memory_order_relaxed);
   try {
      std::vector<Piece> pieces;
      size_t regionsHere;
      {
         const MutexLock lock(indexMutex_);
         regionsHere = index_.count();
         pieces = index_.find(fill.object, fill.offset, fill.offset + fill.size);
      }
      for (const Piece& piece : pieces) {
         if (piece.place || !isStored) continue; // another read has fetched the piece, too
         const size_t size = piece.end - piece.begin, count = (size + regionSizeMax_ - 1) / regionSizeMax_;
         if (!chargeIndex(regionsHere + count)) {
            isStored = false;
            break;
         }
         regionsHere += count;
         for (size_t done = 0; done < size; done += regionSizeMax_) {
            const char* bytes = fill.bytes.get() + (piece.begin - fill.offset) + done;
            const auto regionSize = static_cast<uint32_t>(std::min(size - done, regionSizeMax_));
            append({fill.object, fill.objectSize, piece.begin + done, XXH3_64bits(bytes, regionSize), regionSize, 0},
                   bytes);
         }
      }
   } catch (const std::exception& error) {
      turnOff(error.what());
      isStored = false;
   }
   (isStored ? fills_ : droppedFills_).fetch_add(1, std::memory_order_relaxed);
}

void ObjectCache::append(Region region, const char* bytes) {
   if (!file_.hasRoom(position_, region.size, summary_.regions.size() + 1)) {
      writeSummary();
      nextSegment();
   }
   DCHECK(region.size > 0);
   CHECK(file_.hasRoom(position_, region.size, summary_.regions.size() + 1)); // else the next segment is overwritten
   region.position = static_cast<uint32_t>(position_);
   file_.write(segment_, region.position, bytes, region.size);
   position_ += region.size;
   summary_.regions.push_back(region);
   isSummaryWritten_ = false;
   const MutexLock lock(indexMutex_);
   if (!distrusted_.contains(region.object)) index_.insert({segment_, region});
}

void ObjectCache::nextSegment() {
   segment_ = (segment_ + 1) % file_.segments();
   position_ = 0;
   summary_ = {summary_.sequence + 1, {}};
   std::vector<Region> used;
   {
      const MutexLock lock(indexMutex_);
      const size_t before = index_.count();
      used = index_.takeSegment(segment_);
      evictions_.fetch_add(before - index_.count(), std::memory_order_relaxed);
   }
   // Keeps the newer used regions up to half a segment. Older ones are dropped even if they were used, so that the
   // segment has room for new regions.
   size_t kept = 0;
   std::vector<std::pair<Region, std::unique_ptr<char[]>>> survivors;
   for (auto region = used.rbegin(); region != used.rend() && kept + region->size <= file_.segmentSize() / 2;
        ++region) {
      std::unique_ptr<char[]> bytes(new char[region->size]);
      if (!file_.read({segment_, *region}, bytes.get())) continue;
      kept += region->size;
      survivors.emplace_back(*region, std::move(bytes));
   }
   file_.invalidate(segment_);
   for (const auto& [region, bytes] : survivors) {
      append(region, bytes.get());
      evictions_.fetch_sub(1, std::memory_order_relaxed);
   }
}

void ObjectCache::writeSummary() {
   if (isSummaryWritten_ || !isOn_.load(std::memory_order_relaxed)) return;
   isSummaryWritten_ = true;
   try {
      file_.writeSummary(segment_, summary_);
   } catch (const std::exception& error) {
      turnOff(error.what());
   }
}

/// Charges memory for an index of `regions` regions. False: the ledger refuses. Called by the constructor and the
/// writer thread.
bool ObjectCache::chargeIndex(size_t regions) {
   if (!memory_ || regions <= regionsCharged_) return true;
   const size_t more = std::max(regions - regionsCharged_, regionsChargedAtOnce);
   if (!memory_->tryGrow(more * RegionIndex::bytesPerRegion)) return false;
   regionsCharged_ += more;
   return true;
}

void ObjectCache::turnOff(const std::string& reason) {
   errors_.fetch_add(1, std::memory_order_relaxed);
   if (!isOn_.exchange(false)) return;
   {
      const MutexLock lock(indexMutex_);
      index_.clear();
   }
   if (options_.warn) options_.warn("the cache in \"" + options_.directory + "\" is off from now on: " + reason);
}

} // namespace ouzel::io
