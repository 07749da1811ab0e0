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

/// Limits the bytes that all scans together have read ahead, since these bytes cannot be evicted. Thread-safe.
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

/// The part of the ReadAheadBudget that one scan has taken for its landings; the landings charge the ledger themselves.
/// Not thread-safe.
class ReadAheadShare {
public:
   explicit ReadAheadShare(ReadAheadBudget& budget) : budget_(budget) {}
   ~ReadAheadShare() { giveAll(); }
   ReadAheadShare(const ReadAheadShare&) = delete;
   ReadAheadShare& operator=(const ReadAheadShare&) = delete;

   /// Make room in the ledger for `bytes`, and take them from the budget. `isLeast`: the scan cannot go on with less;
   /// succeeds even when the budget is used up.
   [[nodiscard]] bool take(size_t bytes, bool isLeast);
   void give(size_t bytes);
   void giveAll() { give(ofBudget_); }
   FrameCache& cache() const { return budget_.cache(); }

private:
   ReadAheadBudget& budget_;
   size_t ofBudget_ = 0;
};

/// Starts reads of row groups that a scan is going to need from a store over a network, so that its workers find the
/// bytes in memory (AnyBlob, section 4: prepare, retrieve, process). Thread-safe.
///
/// Row groups are read in the order of the morsels. Neighbouring chunks of one column are one read, unless they are
/// cached or being read by another scan. The window limits the bytes under way; it begins small, for scans that end
/// early, and doubles when a worker had to wait.
///
/// When the budget is used up, a scan reads one row group ahead. When the ledger refuses, the scan reads nothing ahead,
/// and its readers fetch pages one by one.
class ReadAhead {
public:
   /// `state` outlives this.
   ReadAhead(const ScanState& state, ReadAheadBudget& budget);
   ~ReadAhead();

   /// Called when workers have come to this morsel of the scan's list: start reads behind it.
   void advance(uint32_t morsel);
   /// All reads of this pass are started.
   bool hasPlannedAll() const { return hasPlannedAll_.load(std::memory_order_relaxed); }
   /// The stretch with a chunk's pages; null: the chunk was not read ahead.
   std::shared_ptr<const Landing> find(const Morsel& morsel, uint32_t column);
   /// Release the stretches of a morsel of this pass that was read or skipped. Called once for each morsel, after the
   /// last use of its stretches.
   void release(const Morsel& morsel, uint32_t pass);
   /// Number of passes before this one.
   uint32_t pass() const { return pass_.load(std::memory_order_relaxed); }
   /// Begin another pass. REQUIRES: no worker is reading.
   void rewind();
   ScanSource::NetworkReads statistics() const;
   /// Counts requests and bytes of the scan's reads, including pages that its readers fetch one by one.
   const std::shared_ptr<io::ReadTally>& tally() const { return tally_; }

private:
   /// One stretch with chunks of one column, of row groups [first, end). Another scan may have started its read.
   struct Run {
      uint32_t first, end;
      uint32_t groupsLeft; ///< row groups that were not released yet
      size_t bytes;        ///< counted in held_
      std::shared_ptr<Landing> landing;
   };
   static uint64_t keyOf(uint32_t segment, uint32_t column) { return uint64_t{segment} << 32 | column; }
   /// Start reads until the window is full. Invalidates pointers into runs_.
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
   std::vector<uint32_t> columns_; ///< columns of the table that the scan reads, ascending
   const size_t windowMax_;
   const std::shared_ptr<io::ReadTally> tally_ = std::make_shared<io::ReadTally>();

   std::atomic<uint32_t> pass_{0};
   std::atomic<bool> hasPlannedAll_{false};
   mutable Mutex mutex_; ///< guards the members below
   ReadAheadShare share_ GUARDED_BY(mutex_);
   std::unordered_map<uint64_t, std::vector<Run>> runs_ GUARDED_BY(mutex_);
   uint32_t planned_ GUARDED_BY(mutex_) = 0; ///< morsels before this one need no planning
   size_t window_ GUARDED_BY(mutex_);        ///< bound of held_: bytes under way, or arrived and not released
   size_t held_ GUARDED_BY(mutex_) = 0;
   ScanSource::NetworkReads statistics_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
