#include "executor/operator/join/partition_job.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ouzel::executor {

using Work = HashJoinPartition::Work;

PartitionJob::PartitionJob(HashJoinSpill& spill, const HashJoinTable& all, HashJoinPartition partition, bool givesBuilt,
                           Kept kept)
   : spill_(spill), all_(all), partition_(std::move(partition)), givesBuilt_(givesBuilt), build_(partition_.build),
     probe_(partition_.probe), table_(all.rows(), spill.buildGrant()) {
   partition_.build.clear();
   partition_.probe.clear();
   if (work() == Work::Split) {
      const uint32_t bits = spill.splitBits(partition_);
      buildParts_ = std::make_unique<SpilledPartitions>(&spill.space(), bits, partition_.bits);
      probeParts_ = std::make_unique<SpilledPartitions>(&spill.space(), bits, partition_.bits);
   }
   if (work() != Work::Chunks || (!kept.found && !kept.unknown)) return;
   uint64_t rows = 0;
   const uint32_t rowSize = spill.probeLayout().rowSize();
   const auto add = [&](uint64_t rowsOfPage) {
      firstRows_.push_back(rows);
      rows += (rowsOfPage + 63) / 64 * 64; // workers that write the bits of two pages do not share a word
   };
   for (const auto& page : probe_.resident)
      add(page->rowCount(rowSize));
   for (const SpilledTuplePage& page : probe_.spilled)
      add(page.rowCount);
   if (kept.found) found_ = RowBits(rows, spill.buildGrant().memory());
   if (kept.unknown) unknown_ = RowBits(rows, spill.buildGrant().memory());
}

void PartitionJob::start(QueryContext& context) {
   {
      const MutexLock lock(mutex_);
      if (std::exchange(isStarted_, true)) return;
   }
   switch (work()) {
   case Work::Whole: return open(context, Phase::LoadAll, 1);
   case Work::Split: return open(context, Phase::Split, build_.count() + probe_.count());
   case Work::Give: return open(context, Phase::Give, build_.count());
   case Work::Chunks: break;
   }
   planChunk();
   Phase phase = Phase::Load;
   size_t units = chunkEnd_ - chunkBegin_;
   if (units == 0) units = openNext(phase);
   open(context, phase, units);
}

void PartitionJob::open(QueryContext& context, Phase phase, size_t units) {
   {
      const MutexLock lock(mutex_);
      phase_ = phase;
      units_ = units;
      taken_ = finished_ = 0;
   }
   if (units > 1) context.wake();
}

std::optional<PartitionJob::Unit> PartitionJob::take(std::optional<Phase> phase) {
   const MutexLock lock(mutex_);
   if (taken_ == units_ || (phase && *phase != phase_)) return std::nullopt;
   return Unit{phase_, taken_++};
}

size_t PartitionJob::unitsToShare() const {
   const MutexLock lock(mutex_);
   return phase_ == Phase::LoadAll ? 0 : units_ - taken_;
}

bool PartitionJob::finish(QueryContext& context, const Unit& unit) {
   Phase phase = unit.phase;
   {
      const MutexLock lock(mutex_);
      DCHECK(phase == phase_);
      DCHECK(finished_ < taken_);
      if (++finished_ < units_ || phase == Phase::Split) return false;
   }
   const size_t units = openNext(phase);
   open(context, phase, units);
   return phase == Phase::Ended;
}

/// Prepares the first phase with units after `phase`, which has ended. Sets `phase`, and returns its units; 0: Ended.
size_t PartitionJob::openNext(Phase& phase) {
   while (true) {
      size_t units = 0;
      switch (phase) {
      case Phase::Load:
         units = openChunk();
         phase = Phase::Insert;
         break;
      case Phase::LoadAll:
      case Phase::Insert:
         units = probe_.count();
         phase = Phase::Probe;
         break;
      case Phase::Probe:
         units = givesBuilt_ ? table_.pages().size() : 0;
         phase = Phase::Built;
         break;
      case Phase::Built:
         table_.releaseRows();
         if (isLastChunk_) {
            phase = Phase::Ended;
            return 0;
         }
         planChunk();
         units = chunkEnd_ - chunkBegin_;
         phase = Phase::Load;
         break;
      case Phase::Give:
      case Phase::Split:
      case Phase::Ended: phase = Phase::Ended; return 0;
      }
      if (units > 0) return units;
   }
}

const TuplePage* PartitionJob::residentPage(const Unit& unit) const {
   if (unit.phase == Phase::Load) return nullptr;
   const Side& side = isOfProbe(unit) ? probe_ : build_;
   const size_t index = unit.phase == Phase::Split && isOfProbe(unit) ? unit.index - build_.count() : unit.index;
   return index < side.resident.size() ? side.resident[index].get() : nullptr;
}

const SpilledTuplePage& PartitionJob::spilledPage(const Unit& unit) const {
   if (unit.phase == Phase::Load) return build_.spilled[chunkBegin_ + unit.index];
   const Side& side = isOfProbe(unit) ? probe_ : build_;
   const size_t index = unit.phase == Phase::Split && isOfProbe(unit) ? unit.index - build_.count() : unit.index;
   DCHECK(index >= side.resident.size());
   return side.spilled[index - side.resident.size()];
}

// ---- tables ----

void PartitionJob::loadAll(QueryContext& context) {
   Pages pages = std::move(build_.resident);
   TupleReader reader(all_.layout(), spill_.buildGrant().memory(), spill_.space(), spill_.aheadBytes());
   for (const SpilledTuplePage& page : build_.spilled)
      reader.add(page);
   while (auto page = reader.next()) {
      context.checkCancelled();
      spill_.countRead(page->memory.bytes());
      pages.push_back(std::move(page));
   }
   const bool isEmpty = table_.openPartition(std::move(pages), partition_.bits, all_, false) == 0;
   if (!isEmpty) table_.insertPartition(context, 0);
   spill_.noteLoaded(partition_);
}

/// Choose the pages of the next chunk: as many as fit, at least one.
void PartitionJob::planChunk() {
   const size_t bytesMax = spill_.chunkBytes();
   const uint32_t rowSize = all_.layout().rowSize();
   size_t bytes = 0;
   const auto charge = [&](size_t bytesOfPage, uint64_t rows) {
      bytes += bytesOfPage + HashJoinSpill::directoryBytesPerRow * rows;
   };
   for (const auto& page : build_.resident) // only the first chunk has them
      charge(page->bytes(), page->rowCount(rowSize));
   chunkBegin_ = chunkEnd_;
   while (chunkEnd_ < build_.spilled.size() && (bytes == 0 || bytes < bytesMax)) {
      charge(build_.spilled[chunkEnd_].bytes, build_.spilled[chunkEnd_].rowCount);
      ++chunkEnd_;
   }
   isLastChunk_ = chunkEnd_ == build_.spilled.size();
}

void PartitionJob::addLoaded(std::unique_ptr<TuplePage> page) {
   const MutexLock lock(mutex_);
   loaded_.push_back(std::move(page));
}

/// The pages of the chunk are loaded. Returns the number of insert() tasks.
uint32_t PartitionJob::openChunk() {
   Pages pages = std::move(build_.resident);
   build_.resident.clear();
   std::move(loaded_.begin(), loaded_.end(), std::back_inserter(pages));
   loaded_.clear();
   spill_.countChunk();
   return table_.openPartition(std::move(pages), partition_.bits, all_, true);
}

void PartitionJob::insert(QueryContext& context, const Unit& unit) {
   table_.insertPartition(context, static_cast<uint32_t>(unit.index));
}

// ---- parts ----

void PartitionJob::beginParts() {
   const MutexLock lock(mutex_);
   ++storing_;
}

bool PartitionJob::addParts(TuplePages build, TuplePages probe) {
   const MutexLock lock(mutex_);
   DCHECK(storing_ > 0);
   --storing_;
   buildStored_.merge(std::move(build));
   probeStored_.merge(std::move(probe));
   if (phase_ != Phase::Split || storing_ > 0 || taken_ < units_) return false;
   DCHECK(finished_ == units_);
   phase_ = Phase::Ended;
   return true;
}

} // namespace ouzel::executor
