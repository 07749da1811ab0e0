#include "executor/operator/join/hash_join_spill.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "executor/operator/join/partition_job.hpp"

namespace ouzel::executor {

using sql::JoinKind;
using Work = HashJoinPartition::Work;

namespace {

constexpr size_t firstPageSize = 8 << 10; // small, so that a join of ten rows costs little
/// Sizes of a partition's pages; smaller when the open pages of all partitions must fit into a small grant.
constexpr size_t pageSizeMin = 1 << 10, pageSizeMax = 256 << 10;
/// A partition is split at most twice by up to eight bits, after the first eight bits. A partition that is still too
/// large has few keys.
constexpr uint32_t depthMax = 2;
constexpr uint32_t hashBitsMax = 24;
constexpr size_t hostileFloor = 32 << 10; // for tests: gives the smallest pages, which are spilled soon
/// The filter of spilled hashes takes this part of the join's memory, at least hashesBytesMin.
constexpr size_t hashesDivisor = 16, hashesBytesMin = 8 << 10;
/// In pages: memory for both readers and the page being probed; the smallest chunk.
constexpr size_t pagesReading = HashJoinSpill::pagesAhead * 3 / 2, pagesPerChunkMin = 16;

} // namespace

HashJoinSpill::HashJoinSpill(const HashJoinRows& rows, const std::vector<PhysicalType>& probeTypes,
                             std::vector<uint32_t> probeSlots, bool givesBuiltRowsLast, JoinKind kind,
                             QueryBudget& budget)
   : rows_(rows), probeSlots_(std::move(probeSlots)), givesBuiltRowsLast_(givesBuiltRowsLast), kind_(kind),
     buildGrant_(budget), probeGrant_(budget) {
   for (const PhysicalType type : probeTypes)
      probeLayout_.addColumn(type);
   probeLayout_.setHashedColumns(static_cast<uint32_t>(rows.keys().size())); // the keys come first
   probeLayout_.seal();
}

TupleBuffer::Options HashJoinSpill::options() const {
   TupleBuffer::Options options;
   options.partitionPageSize = pageSize_;
   return options;
}

TupleBuffer::Options HashJoinSpill::buildOptions() const {
   TupleBuffer::Options options = this->options();
   options.firstPageSize = firstPageSize;
   options.partitionsFrom = partitionsFrom_;
   options.laterBytesPerRow = directoryBytesPerRow;
   return options;
}

TupleBuffer::Options HashJoinSpill::unjoinableOptions() const {
   TupleBuffer::Options options = this->options();
   options.firstPageSize = firstPageSize;
   return options;
}

void HashJoinSpill::prepare(QueryContext& context) {
   space_ = context.canSpill() ? &context.spill() : nullptr;
   workers_ = context.workers();
   const MutexLock lock(mutex_);
   running_.clear();
   queue_.clear();
   partitions_.clear();
   probeBuffers_.clear();
   nextBuffer_ = closing_ = 0;
   built_.clear();
   builtUnjoinable_.clear();
   spilledHashes_.reset();
   tested_ = passed_ = 0;
   isActive_ = isAlone_ = false;
   promisedBytes_ = 0;
   buildGrant_.claimFloor();
   probeGrant_.claimFloor();
   const size_t floor = context.settings().memory.spillsAlways ? hostileFloor : probeGrant_.floor();
   const uint32_t bits = SpilledPartitions::bitsFor(floor, workers_);
   partitionsFrom_ = floor / 2;
   pageSize_ = std::clamp(std::bit_floor(floor / 2 / (size_t{workers_} << bits)), pageSizeMin, pageSizeMax);
   build_ = std::make_unique<SpilledPartitions>(space_, bits);
   probe_ = std::make_unique<SpilledPartitions>(space_, bits);
   unjoinable_ = std::make_unique<SpilledPartitions>(space_, 1);
   build_->collectVotes();
   probe_->collectVotes();
   // Charged to the query: scans hold the filter, too.
   build_->collectHashes(context.memory(), std::max(floor / hashesDivisor, hashesBytesMin));
}

void HashJoinSpill::Side::add(const TuplePages& from) {
   for (const SpilledTuplePage& page : from.spilled()) {
      ++pages;
      rows += page.rowCount;
      rawBytes += page.bytes;
      storedBytes += page.storedBytes();
   }
}

void HashJoinSpill::addBuilt(TuplePages pages, TuplePages unjoinable) {
   buildSpilled_.add(pages);
   buildSpilled_.add(unjoinable);
   built_.merge(std::move(pages));
   builtUnjoinable_.merge(std::move(unjoinable));
}

void HashJoinSpill::closeBuild(HashJoinTable& table) {
   const MutexLock lock(mutex_);
   isActive_ = !build_->isEmpty();
   const uint32_t count = 1u << build_->bits();
   if (isActive_) takeHashes();
   DCHECK(queue_.empty());
   std::vector<PartitionPtr> partitions(count);
   const auto at = [&](uint32_t p) -> HashJoinPartition& {
      if (!partitions[p]) partitions[p] = std::make_unique<HashJoinPartition>();
      partitions[p]->bits = build_->bits();
      return *partitions[p];
   };
   HashJoinTable::Pages resident;
   for (auto& page : built_.takePages()) {
      if (isActive_ && build_->contains(page->partition)) {
         // A page that is too large to be spilled.
         if (spilledHashes_)
            for (const std::byte* row = page->begin; row != page->cursor; row += rows_.layout().rowSize())
               spilledHashes_->add(rowHash(row));
         at(page->partition).build.add(std::move(page));
      } else {
         resident.push_back(std::move(page));
      }
   }
   for (const SpilledTuplePage& page : built_.spilled()) {
      DCHECK(page.partition < count);
      at(page.partition).build.addSpilled(page);
   }
   built_.clear();
   partitionsSpilled_ = 0;
   for (const PartitionPtr& partition : partitions)
      partitionsSpilled_ += partition != nullptr;
   DCHECK(isActive_ || partitionsSpilled_ == 0);
   if (isActive_) partitions_ = std::move(partitions);
   table.setPages(std::move(resident), builtUnjoinable_.takePages(), !isActive_, spilledHashes_);
}

/// Sets spilledHashes_, unless there are so many keys that too many other hashes would pass.
void HashJoinSpill::takeHashes() {
   spilledHashes_ = build_->takeHashes();
   if (!spilledHashes_) return;
   spilledHashes_->shrink();
   if (spilledHashes_->passingShare() > HashFilter::passingShareMax) spilledHashes_.reset();
}

void HashJoinSpill::waiveFloors() {
   buildGrant_.settle();
   if (isActive_) return;
   buildGrant_.waiveFloor();
   probeGrant_.waiveFloor();
}

TupleBuffer& HashJoinSpill::openProbeBuffer() {
   TupleBuffer::Options options = this->options();
   options.startsPartitioned = true;
   const MutexLock lock(mutex_);
   probeBuffers_.push_back(std::make_unique<TupleBuffer>(probeLayout_, probeGrant_, *probe_, options));
   return *probeBuffers_.back();
}

/// Sets `bytes`: the directory, the readers, and the spilled built rows.
void HashJoinSpill::plan(HashJoinPartition& partition) const {
   partition.buildRows = partition.build.rowCount(rows_.layout().rowSize());
   partition.bytes = HashJoinTable::directoryBytes(partition.buildRows) + pagesReading * pageSize_;
   for (const SpilledTuplePage& page : partition.build.spilled())
      partition.bytes += page.bytes;
}

/// False: the partition gives no rows. If true, and the partition has no probe rows, `work` becomes Give.
bool HashJoinSpill::isWanted(HashJoinPartition& partition) {
   const bool hasBuild = !partition.build.pages().empty() || !partition.build.spilled().empty();
   const bool hasProbe = !partition.probe.pages().empty() || !partition.probe.spilled().empty();
   const bool givesUnmatched = givesBuiltRowsLast_ && kind_ != JoinKind::RightSemi;
   if (!hasProbe) {
      partition.work = Work::Give;
      return hasBuild && givesUnmatched;
   }
   const bool givesProbe = kind_ == JoinKind::Left || kind_ == JoinKind::Full || kind_ == JoinKind::Single ||
                           kind_ == JoinKind::Anti || kind_ == JoinKind::Mark;
   return hasBuild || givesProbe;
}

/// Queue the partitions that give rows, and free the others.
void HashJoinSpill::enqueue(std::vector<PartitionPtr> partitions) {
   std::erase_if(partitions, [&](const PartitionPtr& partition) {
      if (partition && isWanted(*partition)) return false;
      if (partition) free(partition->build);
      if (partition) free(partition->probe);
      return true;
   });
   std::sort(partitions.begin(), partitions.end(),
             [](const PartitionPtr& a, const PartitionPtr& b) { return a->bytes > b->bytes; });
   for (PartitionPtr& partition : partitions) {
      for (const TuplePages* side : {&partition->build, &partition->probe}) {
         size_t bytes = 0;
         for (const SpilledTuplePage& page : side->spilled())
            bytes += page.storedBytes();
         expected_ += reading(side->spilled().size(), bytes, aheadBytes());
      }
      queue_.push_back(std::move(partition));
   }
}

void HashJoinSpill::closeProbe() {
   const MutexLock lock(mutex_);
   size_t bytesMax = 0;
   for (const PartitionPtr& partition : partitions_) {
      if (!partition) continue;
      plan(*partition);
      bytesMax = std::max(bytesMax, partition->bytes);
   }
   spilledHashes_.reset();
   // Probe rows in memory stay there if the workers' tables have room in addition.
   probeSpills_ = !buildGrant_.mayGrow(bytesMax * workers_);
   closing_ = probeBuffers_.size();
   if (closing_ == 0) fillQueue();
}

bool HashJoinSpill::closeBuffer(QueryContext& context) {
   TupleBuffer* buffer;
   {
      const MutexLock lock(mutex_);
      if (nextBuffer_ == probeBuffers_.size()) return false;
      buffer = probeBuffers_[nextBuffer_++].get();
   }
   TuplePages pages = probeSpills_ ? buffer->finish() : buffer->takePages();
   {
      const MutexLock lock(mutex_);
      DCHECK(partitions_.size() == size_t{1} << probe_->bits()); // both sides are partitioned alike
      probeSpilled_.add(pages);
      for (auto& page : pages.takePages())
         if (const PartitionPtr& partition = partitions_[page->partition]) partition->probe.add(std::move(page));
      for (const SpilledTuplePage& page : pages.spilled())
         if (const PartitionPtr& partition = partitions_[page.partition]) partition->probe.addSpilled(page);
      if (--closing_ > 0) return true;
      fillQueue();
   }
   context.wake();
   return true;
}

void HashJoinSpill::fillQueue() {
   probeBuffers_.clear();
   nextBuffer_ = 0;
   std::vector<PartitionPtr> partitions = std::move(partitions_);
   partitions_.clear();
   for (uint32_t p = 0; p < partitions.size(); ++p) {
      if (!partitions[p]) continue;
      const MajorityVote built = build_->voteOf(p), probe = probe_->voteOf(p);
      partitions[p]->heavyBuilt = built.lead();
      partitions[p]->heavyProbe = probe.hash() == built.hash() ? probe.lead() : 0;
   }
   if (!builtUnjoinable_.spilled().empty()) {
      auto rest = std::make_unique<HashJoinPartition>();
      rest->build = std::move(builtUnjoinable_);
      rest->work = Work::Give;
      partitions.push_back(std::move(rest));
   }
   builtUnjoinable_.clear();
   enqueue(std::move(partitions));
}

void HashJoinSpill::free(TuplePages& pages) {
   for (const SpilledTuplePage& page : pages.spilled()) {
      space_->free(page.page);
      for (const io::SpilledPage& piece : page.rest)
         space_->free(piece);
   }
   pages.clear();
}

/// False: at least half of the built rows have one hash, so that a part has them again, and splitting would move more
/// bytes than going through the partition in chunks now.
bool HashJoinSpill::splitPays(const HashJoinPartition& partition) {
   if (partition.heavyBuilt < partition.buildRows / 2) return true;
   const auto bytesOf = [](const TuplePages& pages) {
      size_t bytes = pages.bytes();
      for (const SpilledTuplePage& page : pages.spilled())
         bytes += page.bytes;
      return static_cast<double>(bytes);
   };
   const auto shareOf = [](uint64_t heavy, uint64_t rows) {
      return rows == 0 ? 0 : static_cast<double>(heavy) / static_cast<double>(rows);
   };
   const double built = bytesOf(partition.build), probe = bytesOf(partition.probe);
   const double heavyBuilt = built * shareOf(partition.heavyBuilt, partition.buildRows);
   const double heavyProbe = probe * shareOf(partition.heavyProbe, partition.probe.rowCount(probeLayout_.rowSize()));
   const auto chunksOf = [room = static_cast<double>(chunkBytes())](double bytes) { return std::ceil(bytes / room); };
   const double now = built + chunksOf(built) * probe;
   // Both sides are read, written, and read again; of the heavy part, the probe rows for each chunk.
   const double split = 2 * (built + probe) + built + probe - heavyProbe + chunksOf(heavyBuilt) * heavyProbe;
   return split < now;
}

/// A job of the first partition in the queue; null if it has to wait until other jobs have ended.
HashJoinSpill::JobPtr HashJoinSpill::begin(const HashJoinTable& all) {
   if (queue_.empty() || isAlone_) return nullptr;
   HashJoinPartition& first = *queue_.front();
   if (first.work != Work::Give) {
      const bool fits = buildGrant_.mayGrow(first.bytes + promisedBytes_);
      if (!fits && !running_.empty()) return nullptr;
      if (!fits) {
         isAlone_ = true;
         // A partition that is no larger than the smallest chunk is not split.
         const bool maySplit = !first.isLump && first.depth < depthMax && first.bits < hashBitsMax &&
                               first.bytes > chunkBytesMin() + readingBytes() && splitPays(first);
         first.work = maySplit ? Work::Split : Work::Chunks;
      } else {
         promisedBytes_ += first.bytes;
      }
   }
   const bool keepsFound = kind_ == JoinKind::Left || kind_ == JoinKind::Full || kind_ == JoinKind::Single ||
                           kind_ == JoinKind::Semi || kind_ == JoinKind::Anti || kind_ == JoinKind::Mark;
   const PartitionJob::Kept kept{.found = keepsFound, .unknown = kind_ == JoinKind::Mark};
   PartitionPtr partition = std::move(queue_.front());
   queue_.pop_front();
   return running_.emplace_back(
       std::make_shared<PartitionJob>(*this, all, std::move(*partition), givesBuiltRowsLast_, kept));
}

HashJoinSpill::JobPtr HashJoinSpill::take(const HashJoinTable& all, bool& isEnd) {
   const MutexLock lock(mutex_);
   isEnd = closing_ == 0 && queue_.empty() && running_.empty();
   if (isEnd || closing_ > 0) return nullptr;
   JobPtr begun = begin(all);
   sharesJobs_.store(!begun || isAlone_ || queue_.empty(), std::memory_order_relaxed);
   if (begun) return begun;
   JobPtr most;
   size_t unitsMax = 0;
   for (const JobPtr& job : running_)
      if (const size_t units = job->unitsToShare(); units > unitsMax) {
         most = job;
         unitsMax = units;
      }
   return most;
}

void HashJoinSpill::noteLoaded(const HashJoinPartition& partition) {
   const MutexLock lock(mutex_);
   DCHECK(promisedBytes_ >= partition.bytes);
   promisedBytes_ -= partition.bytes;
}

void HashJoinSpill::end(QueryContext& context, PartitionJob& job) {
   {
      const MutexLock lock(mutex_);
      if (job.work() == Work::Split) queueParts(job);
      if (job.work() == Work::Split || job.work() == Work::Chunks) isAlone_ = false;
      std::erase_if(running_, [&](const JobPtr& running) { return running.get() == &job; });
   }
   context.wake();
}

size_t HashJoinSpill::aheadBytes() const {
   return pagesAhead * pageSize_;
}

size_t HashJoinSpill::chunkBytesMin() const {
   return pagesPerChunkMin * pageSize_;
}

/// What the readers of all workers take, and the pages that are being probed.
size_t HashJoinSpill::readingBytes() const {
   return pagesReading * pageSize_ * workers_;
}

size_t HashJoinSpill::chunkBytes() {
   size_t bytes = size_t{1} << 40;
   while (bytes > chunkBytesMin() && !buildGrant_.mayGrow(bytes + readingBytes()))
      bytes /= 2;
   return bytes;
}

TupleBuffer::Options HashJoinSpill::partOptions() const {
   TupleBuffer::Options options = this->options();
   options.startsPartitioned = true;
   return options;
}

uint32_t HashJoinSpill::splitBits(const HashJoinPartition& partition) {
   // So many parts that one of them takes a quarter of the memory that a chunk may have.
   const uint32_t wanted = static_cast<uint32_t>(std::bit_width(4 * partition.bytes / chunkBytes()));
   return std::min(std::clamp(wanted, 1u, SpilledPartitions::bitsFor(buildGrant_.floor(), workers_)),
                   hashBitsMax - partition.bits);
}

TuplePages HashJoinSpill::finishParts(TupleBuffer& buffer, SpilledPartitions& parts) {
   // Without room, spill the last pages of all parts, too. These pages are hardly filled, and would otherwise stay in
   // memory until the parts are joined, and so would those of each partition that is split before.
   if (!buildGrant_.mayGrow(chunkBytesMin() + readingBytes()))
      for (uint32_t p = 0; p < 1u << parts.bits(); ++p)
         parts.insert(p);
   return buffer.finish();
}

/// The partition of the job was split: queue its parts.
void HashJoinSpill::queueParts(PartitionJob& job) {
   const HashJoinPartition& whole = job.partition();
   std::vector<PartitionPtr> parts(size_t{1} << job.partBits());
   const auto at = [&](uint32_t p) -> HashJoinPartition& {
      if (!parts[p]) parts[p] = std::make_unique<HashJoinPartition>();
      return *parts[p];
   };
   const auto add = [&](TuplePages pages, TuplePages HashJoinPartition::*side, Side& statistics) {
      statistics.add(pages);
      for (auto& page : pages.takePages())
         if (page->cursor != page->begin) (at(page->partition).*side).add(std::move(page));
      for (const SpilledTuplePage& page : pages.spilled())
         (at(page.partition).*side).addSpilled(page);
   };
   add(job.takeParts(false), &HashJoinPartition::build, buildSpilled_);
   add(job.takeParts(true), &HashJoinPartition::probe, probeSpilled_);
   for (const PartitionPtr& part : parts) {
      if (!part) continue;
      part->bits = whole.bits + job.partBits();
      part->depth = whole.depth + 1;
      plan(*part);
      part->isLump = part->buildRows > whole.buildRows / 4 * 3;
   }
   ++partitionsSplit_;
   enqueue(std::move(parts));
}

void HashJoinSpill::describe(OperatorProfile& profile) const {
   profile.memoryPeak = std::max(profile.memoryPeak, buildGrant_.memory().peak() + probeGrant_.memory().peak());
   if (partitionsSpilled_ == 0 && buildSpilled_.pages == 0) return;
   const auto note = [&](const char* name, uint64_t value) { profile.notes.emplace_back(name, std::to_string(value)); };
   const auto sideNote = [&](const char* name, const Side& side) {
      profile.notes.emplace_back(name, std::to_string(side.rows) + " rows in " + std::to_string(side.pages) +
                                           " pages, " + std::to_string(side.rawBytes) + " bytes raw, " +
                                           std::to_string(side.storedBytes) + " stored");
   };
   {
      const MutexLock lock(mutex_);
      profile.roundsExpected = expected_.rounds;
      profile.bytesExpected = expected_.volume;
   }
   note("Partitions", uint64_t{1} << build_->bits());
   note("Partitions Spilled", partitionsSpilled_);
   sideNote("Build Spilled", buildSpilled_);
   sideNote("Probe Spilled", probeSpilled_);
   if (const uint64_t tested = tested_.load(); tested > 0)
      profile.notes.emplace_back("Probe Rows Filtered",
                                 std::to_string(tested - passed_.load()) + " of " + std::to_string(tested));
   note("Spilled Bytes Read", readBytes_.load());
   note("Partitions Split Again", partitionsSplit_);
   note("Chunks", chunks_.load());
}

} // namespace ouzel::executor
