#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/block/landing.hpp"
#include "storage/table/read_ahead.hpp"
#include "storage/table/scan.hpp"

namespace ouzel::storage {

/// Asks the Bloom filters of a scan's blocks which row groups may have the values of its ValuePredicates. This happens
/// once for each segment, when a worker comes to it. Only filters of row groups that zone maps do not exclude are read.
/// Over a network the filters of one column of a block are one read, and reads for the next segments are under way
/// meanwhile. Thread-safe.
class FilterSearch {
public:
   /// Null: the scan has no ValuePredicates, or reads no block.
   static std::unique_ptr<FilterSearch> makeFor(const ScanState& state, ReadAheadBudget& budget, bool isRemote);
   /// `state` outlives this; its sources and morsels are complete.
   FilterSearch(const ScanState& state, ReadAheadBudget& budget, bool isRemote);
   ~FilterSearch();

   /// False: the filters exclude the morsel. Waits for the filters of its segment. Throws the errors of reading them.
   bool mayMatch(uint32_t morsel);
   /// Whether the filters of the segment have been asked; asks them if they have arrived. Never waits for reads. False
   /// also when a read has failed: mayMatch() then throws.
   bool isHere(uint32_t segment);
   void addTo(ScanSource::NetworkReads& reads) const;

private:
   using Reads = std::vector<std::shared_ptr<Landing>>; ///< by predicate; null: no filter to read
   /// One segment of the scan.
   struct Source {
      uint32_t firstMorsel = 0, endMorsel = 0;
      std::atomic<bool> isKnown{false}; ///< isExcluded_ is set for its morsels
      // Guarded by mutex_:
      bool isStarted = false; ///< its reads are started
      Reads reads;
      size_t bytes = 0; ///< taken from the budget for `reads`
   };
   struct Stretch {
      uint64_t offset = UINT64_MAX, end = 0;
      size_t size() const { return offset < end ? end - offset : 0; }
   };

   std::span<const ValuePredicate::Wanted> valuesToProbe(const ValuePredicate& predicate, uint32_t index) const;
   bool excludes(const ValuePredicate& predicate, uint32_t index, const Landing* landing) const;
   Stretch stretchOf(const ValuePredicate& predicate, const Source& source) const;
   bool startReads(Source& source, bool isLeast) REQUIRES(mutex_);
   /// The reads of a segment, started now if they were not; also starts reads for the segments behind it. Empty: the
   /// reads are not started, because memory is short.
   std::optional<Reads> readsOf(uint32_t segment, bool isLeast);
   void examine(Source& source, const Reads& reads);

   // PROPERTIES
   const ScanState& state_;
   const bool isRemote_;
   const size_t window_;
   std::vector<Source> sources_;     ///< as state_.sources
   std::vector<uint8_t> isExcluded_; ///< by morsel; written once, before its source's isKnown

   mutable Mutex mutex_; ///< guards the members below
   ReadAheadShare share_ GUARDED_BY(mutex_);
   size_t held_ GUARDED_BY(mutex_) = 0;   ///< bytes of reads whose filters were not asked yet
   uint32_t next_ GUARDED_BY(mutex_) = 0; ///< segments before it are started, or skipped because memory is short
   uint64_t readCount_ GUARDED_BY(mutex_) = 0;
   uint64_t readBytes_ GUARDED_BY(mutex_) = 0;
   uint64_t waits_ GUARDED_BY(mutex_) = 0;
};

} // namespace ouzel::storage
