#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/join/hash_join_spill.hpp"
#include "executor/operator/join/hash_join_table.hpp"

namespace ouzel::executor {

/// Bits for the probe rows of a partition, in pages that any workers fill: one worker per page at a time. Each page has
/// words of its own.
class RowBits {
public:
   RowBits() = default;
   RowBits(uint64_t bits, Reservation& memory) : memory_((bits + 63) / 64 * 8 + 8, memory) {}
   void load(uint64_t first, uint32_t count, uint8_t* bytes) const {
      DCHECK((first + count + 7) / 8 <= memory_.bytes());
      const auto* words = memory_.as<const uint64_t>();
      for (uint32_t i = 0; i < count; ++i)
         bytes[i] = words[(first + i) >> 6] >> ((first + i) & 63) & 1;
   }
   void store(uint64_t first, uint32_t count, const uint8_t* bytes) {
      DCHECK((first + count + 7) / 8 <= memory_.bytes());
      auto* words = memory_.as<uint64_t>();
      for (uint32_t i = 0; i < count; ++i)
         words[(first + i) >> 6] |= uint64_t{bytes[i] != 0} << ((first + i) & 63);
   }

private:
   LargeMemory memory_;
};

/// A spilled partition while it is being joined or split, by one worker or by several.
///
/// The work of a phase is a number of units, mostly pages. Workers take units and finish them; the worker that finishes
/// the last unit of a phase opens the next phase:
///
///    Whole    LoadAll (one unit) -> Probe -> Built -> Ended
///    Chunks   Load -> Insert -> Probe -> Built, for each chunk; then Ended
///    Give     Give -> Ended
///    Split    Split -> Ended, when the workers have handed over the rows of the parts
///
/// A phase without units is skipped. Thread-safe, except for calls that are for holders of a unit.
class PartitionJob {
public:
   enum class Phase : uint8_t {
      LoadAll, ///< read the built rows, and make the table
      Load,    ///< read pages of built rows of the next chunk
      Insert,  ///< insert pieces of these pages into the table
      Probe,   ///< join pages of probe rows with the table
      Built,   ///< give the built rows in the table by their match flags
      Give,    ///< give pages of built rows that no probe row meets
      Split,   ///< store pages of rows of both sides in the buffers of parts; the build side's come first
      Ended,
   };
   struct Unit {
      Phase phase = Phase::Ended;
      size_t index = 0;
   };
   /// Which bits a join of this kind keeps of each probe row from chunk to chunk.
   struct Kept {
      bool found = false, unknown = false;
   };
   using Pages = HashJoinTable::Pages;

   /// `all`: the table of the whole build side. `givesBuilt`: the join gives built rows by their match flags.
   PartitionJob(HashJoinSpill& spill, const HashJoinTable& all, HashJoinPartition partition, bool givesBuilt,
                Kept kept);
   /// Opens the first phase; further calls do nothing.
   void start(QueryContext& context);

   HashJoinPartition::Work work() const { return partition_.work; }
   const HashJoinPartition& partition() const { return partition_; }
   /// A unit that no worker has taken yet. `phase`: only one of this phase.
   std::optional<Unit> take(std::optional<Phase> phase = std::nullopt);
   /// Units left for workers that come to help.
   size_t unitsToShare() const;
   /// The unit is done. The last one of a phase opens the next phase. True: the job has ended.
   bool finish(QueryContext& context, const Unit& unit);

   // FOR THE HOLDER OF A UNIT

   /// The unit's page, if it is in memory; else null.
   const TuplePage* residentPage(const Unit& unit) const;
   /// The unit's page on disk, if it is not in memory.
   const SpilledTuplePage& spilledPage(const Unit& unit) const;
   /// No later unit reads the page.
   bool isLastUse(const Unit& unit) const { return unit.phase != Phase::Probe || isLastChunk_; }
   /// The unit's rows have the layout of the probe side.
   bool isOfProbe(const Unit& unit) const {
      return unit.phase == Phase::Probe || (unit.phase == Phase::Split && unit.index >= build_.count());
   }
   void loadAll(QueryContext& context);
   void addLoaded(std::unique_ptr<TuplePage> page);
   void insert(QueryContext& context, const Unit& unit);
   /// Probe, Built: the table, which does not change meanwhile.
   const HashJoinTable& table() const { return table_; }
   bool isLastChunk() const { return isLastChunk_; }
   /// Probe: the number of the page's first row in found() and unknown().
   uint64_t firstRow(const Unit& unit) const { return firstRows_.empty() ? 0 : firstRows_[unit.index]; }
   RowBits& found() { return found_; }
   RowBits& unknown() { return unknown_; }

   // SPLIT

   SpilledPartitions& parts(bool ofProbe) { return ofProbe ? *probeParts_ : *buildParts_; }
   uint32_t partBits() const { return buildParts_->bits(); }
   /// Called before a worker's first take(): the parts have to wait for the worker's rows.
   void beginParts();
   /// The rows that a worker has stored. True: these were the last, and the job has ended.
   bool addParts(TuplePages build, TuplePages probe);
   TuplePages takeParts(bool ofProbe) { return std::move(ofProbe ? probeStored_ : buildStored_); }

private:
   /// One side of the partition.
   struct Side {
      Pages resident;
      std::vector<SpilledTuplePage> spilled;
      explicit Side(TuplePages& pages) : resident(pages.takePages()), spilled(pages.spilled()) {}
      size_t count() const { return resident.size() + spilled.size(); }
   };
   void planChunk();
   uint32_t openChunk();
   size_t openNext(Phase& phase);
   void open(QueryContext& context, Phase phase, size_t units);

   // PROPERTIES
   HashJoinSpill& spill_;
   const HashJoinTable& all_;
   HashJoinPartition partition_; ///< its pages are in build_ and probe_
   const bool givesBuilt_;
   std::vector<uint64_t> firstRows_; ///< by probe page, if bits are kept
   std::unique_ptr<SpilledPartitions> buildParts_, probeParts_;
   // STATE, changed by the worker that opens a phase, read by holders of units
   Side build_, probe_;
   HashJoinTable table_;
   bool isLastChunk_ = true;
   size_t chunkBegin_ = 0, chunkEnd_ = 0; ///< of build_.spilled
   RowBits found_, unknown_;
   // STATE
   mutable Mutex mutex_;
   bool isStarted_ GUARDED_BY(mutex_) = false;
   Phase phase_ GUARDED_BY(mutex_) = Phase::Ended;
   size_t units_ GUARDED_BY(mutex_) = 0, taken_ GUARDED_BY(mutex_) = 0, finished_ GUARDED_BY(mutex_) = 0;
   uint32_t storing_ GUARDED_BY(mutex_) = 0; ///< workers between beginParts() and addParts()
   Pages loaded_;                            ///< under mutex_ while pages are loaded
   TuplePages buildStored_, probeStored_;    ///< under mutex_ until the job has ended
};

} // namespace ouzel::executor
