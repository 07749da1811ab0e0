#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "io/object_store/read_tally.hpp"
#include "storage/block/landing.hpp"
#include "storage/table/scan.hpp"

namespace ouzel::storage {

/// What all scans together may have read ahead: those bytes cannot be evicted. Thread-safe.
class ReadAheadBudget {
public:
   explicit ReadAheadBudget(FrameCache& cache) : cache_(cache) {}
   [[nodiscard]] bool tryTake(size_t bytes);
   void give(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
   size_t limit() const;
   FrameCache& cache() const { return cache_; }

private:
   FrameCache& cache_;
   std::atomic<size_t> used_{0};
};

/// What one scan has taken of the budget for its landings, which are charged themselves. Not thread-safe.
class ReadAheadShare {
public:
   explicit ReadAheadShare(ReadAheadBudget& budget) : budget_(budget) {}
   ~ReadAheadShare() { giveAll(); }
   ReadAheadShare(const ReadAheadShare&) = delete;
   ReadAheadShare& operator=(const ReadAheadShare&) = delete;

   /// Have the ledger make room, and take a share of the budget. `isLeast`: a scan gets on with no less, be it besides.
   [[nodiscard]] bool take(size_t bytes, bool isLeast);
   void give(size_t bytes);
   void giveAll() { give(ofBudget_); }
   FrameCache& cache() const { return budget_.cache(); }

private:
   ReadAheadBudget& budget_;
   size_t ofBudget_ = 0;
};

/// Starts reads of what a scan is going to need from a store over a network, so that its workers find the bytes in
/// memory (AnyBlob, section 4: prepare, retrieve, process). Row groups come in the order of the morsels; of each column
/// those that lie side by side, and are neither cached nor read by another scan, are one read. So much is under way as
/// the window allows, which begins small, for scans that end early, and doubles when a worker had to wait. Without a
/// share of the budget a scan reads one row group ahead; what the ledger refuses is not read ahead: then pages are read
/// one by one. Thread-safe.
class ReadAhead {
public:
   /// `state` outlives this.
   ReadAhead(const ScanState& state, ReadAheadBudget& budget);
   ~ReadAhead();

   /// Workers have come to this morsel of the scan's list.
   void advance(uint32_t morsel);
   /// Nothing is left to start.
   bool hasPlannedAll() const { return hasPlannedAll_.load(std::memory_order_relaxed); }
   /// The stretch with a chunk's pages; null: it was not read ahead.
   std::shared_ptr<const Landing> find(const Morsel& morsel, uint32_t column);
   /// The morsel of this pass was read, or skipped. Once for each, after the last use of what was found for it.
   void release(const Morsel& morsel, uint32_t pass);
   /// How often the scan was rewound.
   uint32_t pass() const { return pass_.load(std::memory_order_relaxed); }
   /// For another pass. REQUIRES: no worker is reading.
   void rewind();
   ScanSource::NetworkReads statistics() const;
   /// Counts what the scan's own reads cost, those besides this one's too.
   const std::shared_ptr<io::ReadTally>& tally() const { return tally_; }

private:
   /// Chunks of one column, of row groups [first, end), in one stretch, which may be another scan's.
   struct Run {
      uint32_t first, end;
      uint32_t groupsLeft; ///< that were not released
      size_t bytes;        ///< of held_
      std::shared_ptr<Landing> landing;
   };
   static uint64_t keyOf(uint32_t segment, uint32_t column) { return uint64_t{segment} << 32 | column; }
   /// As much as the window allows. Pointers into runs_ are invalid afterwards.
   void plan() REQUIRES(mutex_);
   bool planSlab() REQUIRES(mutex_);
   void planColumn(uint32_t segment, uint32_t column, const std::vector<uint32_t>& groups) REQUIRES(mutex_);
   bool isCached(uint32_t segment, uint32_t column, uint32_t group) const;
   /// Another scan's stretch with the chunk, or null.
   std::shared_ptr<Landing> findShared(uint32_t segment, uint32_t column, uint32_t group) const;
   void startRun(uint32_t segment, uint32_t column, uint32_t first, uint32_t end) REQUIRES(mutex_);
   void addRun(uint32_t segment, uint32_t column, Run run) REQUIRES(mutex_);

   // PROPERTIES
   const ScanState& state_;
   std::vector<uint32_t> columns_; ///< of the table
   const size_t windowMax_;
   const std::shared_ptr<io::ReadTally> tally_ = std::make_shared<io::ReadTally>();

   std::atomic<uint32_t> pass_{0};
   std::atomic<bool> hasPlannedAll_{false};
   mutable Mutex mutex_; ///< guards what follows
   ReadAheadShare share_ GUARDED_BY(mutex_);
   std::unordered_map<uint64_t, std::vector<Run>> runs_ GUARDED_BY(mutex_);
   uint32_t planned_ GUARDED_BY(mutex_) = 0; ///< morsels before this one need no planning
   size_t window_ GUARDED_BY(mutex_);        ///< bytes that may be under way or waiting for their workers
   size_t held_ GUARDED_BY(mutex_) = 0;
   ScanSource::NetworkReads statistics_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
