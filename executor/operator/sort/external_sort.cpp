#include "executor/operator/sort/external_sort.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace ouzel::executor {

namespace {

constexpr size_t pageBytesMin = size_t{16} << 10, pageBytesMax = size_t{256} << 10;
constexpr size_t pagesPerGrant = 128; // pages are smaller when the grant is small
/// A run with fewer bytes is not worth the page of memory that merging needs for it.
constexpr size_t runBytesWorth = size_t{1} << 20;
/// Most bytes that appending a batch takes in addition to its rows: arenas grow in chunks.
constexpr size_t appendOverhead = size_t{128} << 10;
constexpr size_t askedAtOnce = size_t{256} << 10;
constexpr size_t segmentsPerLane = 8;
/// Memory of a merge in addition to two pages per run: pages whose rows were given out.
constexpr size_t retiredBytes = size_t{1} << 20;
/// Rows of a range of the last merge, in pages. A lane has at most about that much to keep until it is the range's
/// turn.
constexpr size_t pagesPerRange = 8;
/// Bytes of one run that are read ahead if there is memory, unless rounds are long.
constexpr size_t aheadUsual = size_t{2} << 20;

} // namespace

void ExternalSort::prepare(QueryContext& context, uint64_t rowsWanted) {
   buffer_.clear();
   spilled_.clear();
   tasks_.clear();
   phase_ = Phase::Input;
   spilledCount_ = 0;
   expected_ = {};
   grant_.claimFloor();
   rowsWanted_ = rowsWanted;
   workers_ = std::max(1u, context.workers());
   canSpill_ = context.canSpill();
   spillAlways_ = canSpill_ && context.settings().memory.spillsAlways;
   rowBytes_ = buffer_.layout().key.stride();
   for (const Representation& column : buffer_.layout().columns)
      rowBytes_ += physicalSize(column.physical);
   const size_t floor = grant_.floor();
   pageBytes_ = std::clamp(std::bit_floor(floor / pagesPerGrant), pageBytesMin, pageBytesMax);
   runBytesMin_ = std::min(runBytesWorth, floor / (segmentsPerLane * workers_));
   segmentBytes_ = std::max(runBytesMin_, floor / (segmentsPerLane * workers_));
   stepBytes_ = std::min(askedAtOnce, runBytesMin_);
   if (!spillAlways_) return;
   pageBytes_ = 4096;
   runBytesMin_ = segmentBytes_ = stepBytes_ = 0;
}

/// Memory for merging `runs` runs.
size_t ExternalSort::mergeBytes(size_t runs) const {
   return runs * 2 * pageBytes_ + retiredBytes;
}

// ---- Lane ----

ExternalSort::Lane::Lane(ExternalSort& sort, QueryContext&, uint64_t keepRows) : sort_(sort), keepRows_(keepRows) {
   if (sort.partitionLimit_.rows != 0) bounds_.emplace(sort.buffer_.layout().key, sort.partitionLimit_, sort.memory());
   openRun();
}

void ExternalSort::Lane::openRun() {
   run_ = std::make_unique<SortRun>(sort_.buffer_.layout(), sort_.memory(), keepRows_);
   if (bounds_) run_->limitPartitions(&*bounds_);
}

void ExternalSort::Lane::append(QueryContext& context, const Batch& rows, std::span<const Vector> keys) {
   if (sort_.canSpill_) {
      if (sealedBytes_ + run_->bytes() >= allowedBytes_) makeRoom(context);
      // Other lanes may have taken the memory that the grant allowed before.
      const size_t bytes = rows.liveRows() * sort_.rowBytes_ + appendOverhead;
      if (!sort_.memory().tryGrow(bytes))
         spillSome(context);
      else
         sort_.memory().shrink(bytes);
   }
   run_->append(rows, keys);
}

void ExternalSort::Lane::makeRoom(QueryContext& context) {
   if (run_->bytes() > sort_.segmentBytes_ && run_->rowCount() > 0) seal();
   reserve();
   const size_t held = sealedBytes_ + run_->bytes();
   const size_t merging =
       std::min(sort_.mergeBytes(sort_.spilledCount_.load(std::memory_order_relaxed) + 1), sort_.grant_.floor() / 2);
   if (!sort_.grant_.mayGrow(sort_.stepBytes_ + (sort_.spilledCount_.load(std::memory_order_relaxed) ? merging : 0))) {
      // A lane that holds little does not spill, since another lane holds more. Very short runs would cost another
      // merging pass.
      const size_t all = sort_.memory().used();
      if (held > 0 && held >= sort_.runBytesMin_ && held * 8 * sort_.workers_ >= all) spillSome(context);
   }
   allowedBytes_ = sealedBytes_ + run_->bytes() + sort_.stepBytes_;
}

/// Seal the run being filled, and begin another run.
void ExternalSort::Lane::seal() {
   run_->seal();
   sealedBytes_ += run_->bytes();
   sealedRows_ += run_->rowCount();
   sealed_.push_back(std::move(run_));
   openRun();
   run_->setThreshold(sealed_.back()->takeThreshold());
}

/// Charge the memory for sorting the lane's rows in advance.
void ExternalSort::Lane::reserve() {
   const size_t wanted = (sealedRows_ + run_->rowCount()) * sort_.bytesPerRow_;
   if (wanted > reservedBytes_ && sort_.memory().tryGrow(wanted - reservedBytes_)) reservedBytes_ = wanted;
}

void ExternalSort::Lane::release() {
   sort_.memory().shrink(reservedBytes_);
   reservedBytes_ = 0;
}

void ExternalSort::Lane::spillSome(QueryContext& context) {
   if (run_->rowCount() > 0 && (sealed_.empty() || spillRuns_ > sealed_.size())) seal();
   const size_t count = std::min<size_t>(spillRuns_, sealed_.size());
   spillRuns_ = std::min<uint32_t>(spillRuns_ * 2, 1u << 20);
   std::vector<const SortRun*> runs;
   uint64_t rows = 0;
   for (size_t i = 0; i < count; ++i) {
      runs.push_back(sealed_[i].get());
      rows += sealed_[i]->rowCount();
   }
   if (rows == 0) return;
   const size_t sorting = std::min<size_t>(reservedBytes_, rows * sort_.bytesPerRow_);
   sort_.memory().shrink(sorting);
   reservedBytes_ -= sorting;
   const uint64_t wanted = std::min(keepRows_, sort_.rowsWanted_);
   spilled_.push_back(executor::spillRuns(sort_.buffer_.layout(), runs, wanted, context.spill(), sort_.memory(),
                                          sort_.pageBytes_, [&] { context.checkCancelled(); }));
   sort_.spilledCount_.fetch_add(1, std::memory_order_relaxed);
   for (size_t i = 0; i < count; ++i) {
      sealedBytes_ -= sealed_[i]->bytes();
      sealedRows_ -= sealed_[i]->rowCount();
   }
   sealed_.erase(sealed_.begin(), sealed_.begin() + static_cast<ptrdiff_t>(count));
}

// ---- after the input ----

void ExternalSort::combine(Lane& lane) {
   lane.seal();
   lane.release();
   for (auto& run : lane.sealed_)
      buffer_.addRun(std::move(run));
   lane.sealed_.clear();
   for (SpilledRun& run : lane.spilled_) {
      count(run);
      spilled_.push_back(std::move(run));
   }
   lane.spilled_.clear();
}

void ExternalSort::count(const SpilledRun& run) {
   ++runsWritten_;
   bytesWritten_ += run.bytes;
   storedBytesWritten_ += run.storedBytes;
}

/// Plan tasks that spill runs in memory, as many as are needed to make room for merging. False: there is room.
bool ExternalSort::planRest(QueryContext&) {
   const size_t sorting = buffer_.rowCount() * SortBuffer::sortBytesPerRow;
   const size_t merging = mergeBytes(spilled_.size() + 1);
   const bool isSmall = merging <= grant_.floor() / 2;
   if (buffer_.rowCount() == 0 || (isSmall && grant_.mayGrow(sorting + merging))) return false;
   std::vector<std::unique_ptr<SortRun>> runs = buffer_.takeRuns();
   size_t freed = 0, spilling = 0;
   // Rows that stay are sorted before the merge needs its memory, so sorting needs no room in addition.
   while (spilling < runs.size() && (spillAlways_ || !isSmall || freed < merging)) {
      freed += runs[spilling]->bytes() + runs[spilling]->rowCount() * SortBuffer::sortBytesPerRow;
      ++spilling;
   }
   const size_t tasks = std::min<size_t>(workers_, spilling);
   for (size_t task = 0; task < tasks; ++task) {
      Task& added = tasks_.emplace_back();
      for (size_t i = spilling * task / tasks; i < spilling * (task + 1) / tasks; ++i)
         added.runs.push_back(std::move(runs[i]));
   }
   for (size_t i = spilling; i < runs.size(); ++i)
      buffer_.addRun(std::move(runs[i]));
   return true;
}

/// Plan a pass that merges runs before the last merge. False: none is needed.
bool ExternalSort::planPass(QueryContext& context) {
   const auto runs = static_cast<uint32_t>(spilled_.size());
   if (runs < 2) return false;
   // On the device and in the buffers for reading ahead, rows are encoded.
   uint64_t stored = 0;
   for (const SpilledRun& run : spilled_)
      stored += run.storedBytes;
   const size_t memory = std::max(grant_.floor(), buffer_.rowCount() > 0 ? mergeBytes(runs) : 0);
   const auto fanInMax = static_cast<uint32_t>(
       spillAlways_ ? 3 : std::max<size_t>(2, (memory - std::min(memory, retiredBytes)) / (2 * pageBytes_)));
   const io::TransferCost device = context.spill().transferCost();
   const MergePlan plan = planMerge(runs, static_cast<double>(std::max<uint64_t>(stored, 1)),
                                    static_cast<double>(memory), tauBytes(device), fanInMax, grant_.policy().fanIn);
   if (runs <= plan.fanIn) return false;
   const auto groups = mergeGroups(runs, plan.fanIn, workers_);
   const size_t parallel = std::min<size_t>(groups.size(), workers_);
   uint32_t largest = 2;
   for (const MergeGroup& group : groups) {
      tasks_.emplace_back().group = group;
      largest = std::max(largest, group.end - group.from);
   }
   const size_t perRun = memory / parallel / largest;
   taskAheadBytes_ = std::clamp(perRun > pageBytes_ ? perRun - pageBytes_ : 0, pageBytes_,
                                readAheadBytes(device, aheadUsual, pageBytes_ * io::SpillReader::pagesAheadMax));
   for (const MergeGroup& group : groups)
      for (uint32_t run = group.from; run < group.end; ++run)
         expectReading(spilled_[run], taskAheadBytes_);
   ++passes_;
   return true;
}

void ExternalSort::expectReading(const SpilledRun& run, size_t aheadBytes) {
   expected_ += reading(run.pages.size(), run.storedBytes, aheadBytes);
}

void ExternalSort::collectTasks() {
   if (tasks_.empty()) return;
   for (const Task& task : tasks_)
      count(task.result);
   if (phase_ == Phase::SpillRest) {
      for (Task& task : tasks_)
         spilled_.push_back(std::move(task.result));
   } else {
      std::vector<SpilledRun> runs;
      size_t at = 0;
      for (Task& task : tasks_) {
         for (; at < task.group.from; ++at)
            runs.push_back(std::move(spilled_[at]));
         at = task.group.end;
         runs.push_back(std::move(task.result));
      }
      for (; at < spilled_.size(); ++at)
         runs.push_back(std::move(spilled_[at]));
      spilled_ = std::move(runs);
   }
   tasks_.clear();
}

uint32_t ExternalSort::finishTasks(QueryContext& context) {
   if (phase_ == Phase::Input && !spilled_.empty()) {
      phase_ = Phase::SpillRest;
      if (planRest(context)) return static_cast<uint32_t>(tasks_.size());
   }
   if (phase_ == Phase::SpillRest || phase_ == Phase::Merge) {
      collectTasks();
      phase_ = Phase::Merge;
      if (planPass(context)) return static_cast<uint32_t>(tasks_.size());
   }
   phase_ = Phase::Sort;
   return buffer_.sortTasks(workers_, memory(), !hasSpilled());
}

void ExternalSort::finishTask(QueryContext& context, uint32_t number) {
   if (phase_ == Phase::Sort) return buffer_.sortTask(number);
   Task& task = tasks_[number];
   if (phase_ == Phase::SpillRest) {
      std::vector<const SortRun*> runs;
      for (const auto& run : task.runs)
         runs.push_back(run.get());
      task.result = executor::spillRuns(buffer_.layout(), runs, rowsWanted_, context.spill(), memory(), pageBytes_,
                                        [&] { context.checkCancelled(); });
      task.runs.clear();
      return;
   }
   MergeRanges all(buffer_.layout(), memory());
   for (uint32_t i = task.group.from; i < task.group.end; ++i)
      all.addRun(spilled_[i], context.spill(), taskAheadBytes_);
   all.start();
   const auto merge = all.open(0);
   RunWriter writer(buffer_.layout(), all.hasNulls(), context.spill(), memory(), pageBytes_);
   uint64_t left = rowsWanted_;
   while (left > 0) {
      context.checkCancelled();
      const auto rows = merge->next(static_cast<uint32_t>(std::min<uint64_t>(writer.rowsPerPage(), left)));
      if (rows.empty()) break;
      writer.append(rows);
      left -= rows.size();
   }
   task.result = writer.finish();
   for (uint32_t i = task.group.from; i < task.group.end; ++i)
      task.result.spread.add(spilled_[i].spread);
}

void ExternalSort::finish(Reclaimer* reclaimer) {
   buffer_.finishSort();
   if (!hasSpilled()) buffer_.releaseKeys();
   grant_.settle(hasSpilled() ? nullptr : reclaimer);
}

uint64_t ExternalSort::rowCount() const {
   uint64_t rows = buffer_.rowCount();
   for (const SpilledRun& run : spilled_)
      rows += run.rows;
   return rows;
}

std::unique_ptr<MergeRanges> ExternalSort::merge(QueryContext& context) {
   // Besides the pages of its lanes, each run has a page that is being read.
   const size_t runBytes = spilled_.size() * pageBytes_;
   const size_t laneBytes = runBytes + pagesPerRange * pageBytes_ + retiredBytes;
   mergeLanes_ = workers_;
   while (mergeLanes_ > 1 && !spillAlways_ && !grant_.mayGrow(runBytes + mergeLanes_ * laneBytes))
      --mergeLanes_;
   const size_t lanesBytes = mergeLanes_ > 1 ? mergeLanes_ * laneBytes : runBytes + retiredBytes;
   size_t ahead =
       readAheadBytes(context.spill().transferCost(), aheadUsual, pageBytes_ * io::SpillReader::pagesAheadMax);
   while (ahead > pageBytes_ && !grant_.mayGrow(spilled_.size() * ahead + lanesBytes))
      ahead /= 2;
   auto out = std::make_unique<MergeRanges>(buffer_.layout(), memory());
   for (const SpilledRun& run : spilled_) {
      out->addRun(run, context.spill(), ahead);
      expectReading(run, ahead);
   }
   out->addResident(buffer_);
   return out;
}

void ExternalSort::fitLanes(MergeRanges& ranges) {
   if (!spillAlways_ && ranges.count() > 1) {
      const auto needed = [&] {
         return spilled_.size() * pageBytes_ + ranges.bytesOfRanges(mergeLanes_) + mergeLanes_ * retiredBytes;
      };
      while (mergeLanes_ > 1 && !grant_.mayGrow(needed()))
         --mergeLanes_;
   }
   if (mergeLanes_ == 1) ranges.uncut();
}

size_t ExternalSort::bytesPerRow() const {
   uint64_t rows = 0, bytes = 0;
   for (const SpilledRun& run : spilled_) {
      rows += run.rows;
      bytes += run.bytes;
   }
   return std::max(rowBytes_, rows == 0 ? 0 : (bytes + rows - 1) / rows) + bytesPerRow_;
}

uint64_t ExternalSort::rowsPerRange() const {
   uint64_t rows = 0, pages = 0;
   for (const SpilledRun& run : spilled_) {
      rows += run.rows;
      pages += run.pages.size();
   }
   return std::max<uint64_t>(1, pages == 0 ? 0 : rows * pagesPerRange / pages);
}

void ExternalSort::describeReading(OperatorProfile& profile) const {
   profile.roundsExpected = expected_.rounds;
   profile.bytesExpected = expected_.volume;
}

void ExternalSort::describe(OperatorProfile& profile) const {
   profile.memoryPeak = std::max(profile.memoryPeak, grant_.memory().peak());
   if (runsWritten_ == 0) return;
   describeReading(profile);
   profile.notes.emplace_back("Spilled Runs", std::to_string(runsWritten_));
   profile.notes.emplace_back("Merge Passes", std::to_string(passes_ + 1));
   profile.notes.emplace_back("Spilled Bytes", std::to_string(bytesWritten_));
   profile.notes.emplace_back("Stored Bytes", std::to_string(storedBytesWritten_));
}

} // namespace ouzel::executor
