#include "executor/operator/join/hash_join_spill.hpp"

#include <algorithm>
#include <bit>

namespace ouzel::executor {

using sql::JoinKind;
using Work = HashJoinPartition::Work;

namespace {

constexpr size_t firstPageSize = 8 << 10; // small, so that a join of ten rows costs little
/// Sizes of a partition's pages; smaller when the open pages of all partitions must fit into a small grant.
constexpr size_t pageSizeMin = 1 << 10, pageSizeMax = 256 << 10;
/// Most bytes of the directory per row: its size is a power of two, so it may be hardly more than half full.
constexpr uint32_t directoryBytesPerRow = 16;
/// A partition is split at most twice by up to eight bits, after the first eight bits. A partition that is still too
/// large has few keys.
constexpr uint32_t depthMax = 2;
constexpr uint32_t hashBitsMax = 24;
constexpr size_t hostileFloor = 32 << 10; // for tests: gives the smallest pages, which are spilled soon
/// In pages: how far a reader reads ahead; memory for both readers and the page being probed; the smallest chunk.
/// The filter of spilled hashes takes this part of the join's memory, at least hashesBytesMin.
constexpr size_t hashesDivisor = 16, hashesBytesMin = 8 << 10;
constexpr size_t pagesAhead = 32, pagesReading = 48, pagesPerChunkMin = 16;

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
   DCHECK(running_ == 0); // the previous execution has ended
   queue_.clear();
   probeBuffers_.clear();
   built_.clear();
   builtUnjoinable_.clear();
   spilledHashes_.reset();
   tested_ = passed_ = 0;
   isActive_ = isAlone_ = false;
   running_ = splitting_ = 0;
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
   // Charged to the query: scans hold the filter, too.
   build_->collectHashes(context.memory(), std::max(floor / hashesDivisor, hashesBytesMin));
}

void HashJoinSpill::Side::add(const TuplePages& from) {
   for (const SpilledTuplePage& page : from.spilled()) {
      ++pages;
      rows += page.rowCount;
      rawBytes += page.bytes;
      storedBytes += page.page.storedBytes();
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
   if (isActive_) takeHashes(table);
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
   for (PartitionPtr& partition : partitions) {
      partitionsSpilled_ += partition != nullptr;
      // All partitions in order, null ones included: closeProbe() finds a partition by its number.
      if (isActive_) queue_.push_back(std::move(partition));
   }
   table.setPages(std::move(resident), builtUnjoinable_.takePages(), !isActive_, spilledHashes_);
}

/// Sets spilledHashes_, unless there are so many rows that most hashes would pass.
void HashJoinSpill::takeHashes(const HashJoinTable& table) {
   spilledHashes_ = build_->takeHashes();
   if (!spilledHashes_) return;
   spilledHashes_->shrinkFor(table.rowCount());
   if (table.rowCount() > spilledHashes_->words() * HashFilter::hashesPerWordMax) spilledHashes_.reset();
}

void HashJoinSpill::waiveFloors() {
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
   const uint64_t rows = partition.build.rowCount(rows_.layout().rowSize());
   partition.bytes = HashJoinTable::directoryBytes(rows) + pagesReading * pageSize_;
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

void HashJoinSpill::enqueue(std::vector<PartitionPtr> partitions) {
   std::sort(partitions.begin(), partitions.end(),
             [](const PartitionPtr& a, const PartitionPtr& b) { return a->bytes > b->bytes; });
   for (PartitionPtr& partition : partitions)
      queue_.push_back(std::move(partition));
}

void HashJoinSpill::closeProbe(QueryContext&) {
   const MutexLock lock(mutex_);
   std::vector<PartitionPtr> partitions(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
   queue_.clear();
   size_t bytesMax = 0;
   for (PartitionPtr& partition : partitions) {
      if (!partition) continue;
      plan(*partition);
      bytesMax = std::max(bytesMax, partition->bytes);
   }
   // Probe rows in memory stay there if the workers' tables have room in addition.
   const bool maySpill = !buildGrant_.mayGrow(bytesMax * workers_);
   spilledHashes_.reset();
   for (const auto& buffer : probeBuffers_) {
      TuplePages pages = maySpill ? buffer->finish() : buffer->takePages();
      DCHECK(partitions.size() == size_t{1} << probe_->bits()); // both sides are partitioned alike
      probeSpilled_.add(pages);
      for (auto& page : pages.takePages())
         if (PartitionPtr& partition = partitions[page->partition]) partition->probe.add(std::move(page));
      for (const SpilledTuplePage& page : pages.spilled())
         if (PartitionPtr& partition = partitions[page.partition]) partition->probe.addSpilled(page);
   }
   probeBuffers_.clear();
   if (!builtUnjoinable_.spilled().empty()) {
      auto rest = std::make_unique<HashJoinPartition>();
      rest->build = std::move(builtUnjoinable_);
      rest->work = Work::Give;
      partitions.push_back(std::move(rest));
   }
   builtUnjoinable_.clear();
   std::vector<PartitionPtr> wanted;
   for (PartitionPtr& partition : partitions) {
      if (!partition) continue;
      if (isWanted(*partition)) {
         wanted.push_back(std::move(partition));
      } else {
         free(partition->build);
         free(partition->probe);
      }
   }
   enqueue(std::move(wanted));
}

void HashJoinSpill::free(TuplePages& pages) {
   for (const SpilledTuplePage& page : pages.spilled())
      space_->free(page.page);
   pages.clear();
}

std::unique_ptr<HashJoinPartition> HashJoinSpill::take(bool& isEnd) {
   const MutexLock lock(mutex_);
   isEnd = queue_.empty() && splitting_ == 0;
   if (queue_.empty() || isAlone_) return nullptr;
   HashJoinPartition& first = *queue_.front();
   if (first.work != Work::Give) {
      const bool fits = buildGrant_.mayGrow(first.bytes + promisedBytes_);
      if (!fits && running_ > 0) return nullptr;
      if (!fits) {
         isAlone_ = true;
         // A partition that is no larger than the smallest chunk is not split.
         const bool maySplit = !first.isLump && first.depth < depthMax && first.bits < hashBitsMax &&
                               first.bytes > chunkBytesMin() + pagesReading * pageSize_;
         first.work = maySplit ? Work::Split : Work::Chunks;
         splitting_ += maySplit;
      } else {
         promisedBytes_ += first.bytes;
      }
   }
   ++running_;
   PartitionPtr taken = std::move(queue_.front());
   queue_.pop_front();
   return taken;
}

void HashJoinSpill::noteLoaded(const HashJoinPartition& partition) {
   const MutexLock lock(mutex_);
   if (partition.work == Work::Whole) promisedBytes_ -= partition.bytes;
}

void HashJoinSpill::end(QueryContext& context, const HashJoinPartition& partition) {
   {
      const MutexLock lock(mutex_);
      --running_;
      if (partition.work == Work::Split) --splitting_;
      if (partition.work == Work::Split || partition.work == Work::Chunks) isAlone_ = false;
   }
   context.wake();
}

size_t HashJoinSpill::aheadBytes() const {
   return pagesAhead * pageSize_;
}

size_t HashJoinSpill::chunkBytesMin() const {
   return pagesPerChunkMin * pageSize_;
}

size_t HashJoinSpill::chunkBytes() {
   size_t bytes = size_t{1} << 40;
   while (bytes > chunkBytesMin() && !buildGrant_.mayGrow(bytes + pagesReading * pageSize_))
      bytes /= 2;
   return bytes;
}

/// Store copies of the pages' rows in the buffer, and free the pages.
void HashJoinSpill::copyRows(QueryContext& context, TuplePages& pages, const RowLayout& layout, TupleBuffer& buffer) {
   const auto copy = [&](const TuplePage& page) {
      context.checkCancelled();
      buffer.storeCopies(page);
      if (buffer.wantsRelief()) buffer.relieve();
   };
   for (auto& page : pages.takePages()) {
      copy(*page);
      page.reset();
   }
   TupleReader reader(layout, buildGrant_.memory(), *space_, aheadBytes());
   for (const SpilledTuplePage& page : pages.spilled())
      reader.add(page);
   while (const auto page = reader.next()) {
      countRead(page->memory.bytes());
      copy(*page);
   }
   pages.clear();
}

void HashJoinSpill::split(QueryContext& context, HashJoinPartition& partition) {
   // So many parts that one of them takes a quarter of the memory that a chunk may have.
   const uint32_t wanted = static_cast<uint32_t>(std::bit_width(4 * partition.bytes / chunkBytes()));
   const uint32_t bits = std::min(std::clamp(wanted, 1u, SpilledPartitions::bitsFor(buildGrant_.floor(), 1)),
                                  hashBitsMax - partition.bits);
   std::vector<PartitionPtr> parts(size_t{1} << bits);
   const auto at = [&](uint32_t p) -> HashJoinPartition& {
      if (!parts[p]) parts[p] = std::make_unique<HashJoinPartition>();
      return *parts[p];
   };
   const uint64_t rowsBefore = partition.build.rowCount(rows_.layout().rowSize());
   TupleBuffer::Options options = this->options();
   options.startsPartitioned = true;
   const auto splitSide = [&](TuplePages& pages, const RowLayout& layout, TuplePages HashJoinPartition::*side,
                              Side& statistics) {
      SpilledPartitions partitions(space_, bits, partition.bits);
      TupleBuffer buffer(layout, buildGrant_, partitions, options);
      copyRows(context, pages, layout, buffer);
      // Without room, spill the last pages of all parts, too. These pages are hardly filled, and would otherwise stay
      // in memory until the parts are joined, and so would those of each partition that is split before.
      if (!buildGrant_.mayGrow(chunkBytesMin() + pagesReading * pageSize_))
         for (uint32_t p = 0; p < parts.size(); ++p)
            partitions.insert(p);
      TuplePages result = buffer.finish();
      statistics.add(result);
      for (auto& page : result.takePages())
         if (page->cursor != page->begin) (at(page->partition).*side).add(std::move(page));
      for (const SpilledTuplePage& page : result.spilled())
         (at(page.partition).*side).addSpilled(page);
   };
   splitSide(partition.build, rows_.layout(), &HashJoinPartition::build, buildSpilled_);
   splitSide(partition.probe, probeLayout_, &HashJoinPartition::probe, probeSpilled_);
   std::vector<PartitionPtr> wantedParts;
   for (PartitionPtr& part : parts) {
      if (!part) continue;
      part->bits = partition.bits + bits;
      part->depth = partition.depth + 1;
      plan(*part);
      part->isLump = part->build.rowCount(rows_.layout().rowSize()) > rowsBefore / 4 * 3;
      if (isWanted(*part)) {
         wantedParts.push_back(std::move(part));
      } else {
         free(part->build);
         free(part->probe);
      }
   }
   const MutexLock lock(mutex_);
   depth_ = std::max(depth_, partition.depth + 1);
   enqueue(std::move(wantedParts));
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
   note("Partitions", uint64_t{1} << build_->bits());
   note("Partitions Spilled", partitionsSpilled_);
   sideNote("Build Spilled", buildSpilled_);
   sideNote("Probe Spilled", probeSpilled_);
   if (const uint64_t tested = tested_.load(); tested > 0)
      profile.notes.emplace_back("Probe Rows Filtered",
                                 std::to_string(tested - passed_.load()) + " of " + std::to_string(tested));
   note("Spilled Bytes Read", readBytes_.load());
   note("Partitions Split Again", depth_);
   note("Chunks", chunks_.load());
}

} // namespace ouzel::executor
