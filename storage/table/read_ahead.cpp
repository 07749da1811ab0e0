#include "storage/table/read_ahead.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "io/object_store/store_statistics.hpp"
#include "storage/table/scan_state.hpp"

namespace ouzel::storage {

namespace {
constexpr size_t windowFirst = 64 << 20, windowLargest = 512 << 20;
constexpr size_t partOfLimit = 8; ///< the budget is this part of the memory limit
} // namespace

size_t ReadAheadBudget::limit() const {
   return std::clamp(cache_.ledger().wholeLimit() / partOfLimit, size_t{1} << 20, windowLargest);
}

bool ReadAheadBudget::tryTake(size_t bytes) {
   if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit()) return true;
   give(bytes);
   return false;
}

bool ReadAheadShare::take(size_t bytes, bool isLeast) {
   const bool isOfBudget = budget_.tryTake(bytes);
   if (!isOfBudget && !isLeast) return false;
   // Charged only to make room, and released at once: each landing charges itself, and is left out when the room is
   // gone.
   if (!Reservation(budget_.cache().ledger()).tryGrow(bytes)) {
      if (isOfBudget) budget_.give(bytes);
      return false;
   }
   if (isOfBudget) ofBudget_ += bytes;
   return true;
}

void ReadAheadShare::give(size_t bytes) {
   // Bytes of the budget are given back first, those taken over its limit last.
   const size_t part = std::min(bytes, ofBudget_);
   ofBudget_ -= part;
   budget_.give(part);
}

ReadAhead::ReadAhead(const ScanState& state, ReadAheadBudget& budget)
   : state_(state), windowMax_(budget.limit()), share_(budget), window_(std::min(windowFirst, windowMax_)) {
   columns_ = state.spec.columns;
   for (const ScanPath& path : state.spec.paths)
      columns_.push_back(path.column);
   for (const ZonePredicate& predicate : state.spec.zonePredicates)
      columns_.push_back(predicate.column); // for the zone maps in its pages
   std::sort(columns_.begin(), columns_.end());
   columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
   if (!columns_.empty() && columns_.back() == ScanSpec::rowIdColumn) columns_.pop_back();
}

ReadAhead::~ReadAhead() = default;

void ReadAhead::advance(uint32_t morsel) {
   const MutexLock lock(mutex_);
   planned_ = std::max(planned_, morsel);
   plan();
}

void ReadAhead::plan() {
   while (planned_ < state_.morsels.size() && held_ < window_ && planSlab()) {
   }
   hasPlannedAll_.store(planned_ >= state_.morsels.size(), std::memory_order_relaxed);
}

/// Start reads of some row groups of one segment. False: memory is short, or the segment's filters have not arrived.
bool ReadAhead::planSlab() {
   const uint32_t segment = state_.morsels[planned_].segment;
   if (state_.filters && !state_.filters->isHere(segment)) return false;
   const Segment& source = *state_.sources[segment].segment;
   std::vector<uint32_t> groups;
   size_t bytes = 0, leastBytes = 0;
   uint32_t end = planned_, leastEnd = planned_;
   for (; end < state_.morsels.size() && bytes < std::max(window_ / 2, window_ - held_); ++end) {
      const Morsel& morsel = state_.morsels[end];
      if (morsel.segment != segment) break;
      // Candidates of a key index are few rows: reading whole chunks does not pay.
      if (!source.block || morsel.candidateEnd != 0) continue;
      if (!zonesMayMatch(state_, source, morsel.rowGroup)) continue;
      if (state_.filters && !state_.filters->mayMatch(end)) continue;
      groups.push_back(morsel.rowGroup);
      for (const uint32_t column : columns_)
         if (column < source.columnCount()) bytes += source.block->storedBytes(column, morsel.rowGroup);
      if (groups.size() == 1) {
         leastBytes = bytes;
         leastEnd = end + 1;
      }
   }
   if (!groups.empty()) {
      if (!share_.take(bytes, false)) {
         if (held_ > 0 || !share_.take(leastBytes, true)) return false;
         bytes = leastBytes;
         end = leastEnd;
         groups.resize(1);
      }
      const size_t before = held_;
      for (const uint32_t column : columns_)
         if (column < source.columnCount()) planColumn(segment, column, groups);
      share_.give(bytes - (held_ - before)); // cached chunks are not read
   }
   planned_ = end;
   return true;
}

void ReadAhead::planColumn(uint32_t segment, uint32_t column, const std::vector<uint32_t>& groups) {
   for (size_t i = 0; i < groups.size();) {
      if (isCached(segment, column, groups[i])) {
         ++i;
         continue;
      }
      if (auto shared = findShared(segment, column, groups[i])) {
         const size_t bytes = state_.sources[segment].segment->block->storedBytes(column, groups[i]);
         statistics_.sharedBytes += bytes;
         addRun(segment, column, {groups[i], groups[i] + 1, 1, bytes, std::move(shared)});
         ++i;
         continue;
      }
      size_t end = i + 1;
      while (end < groups.size() && groups[end] == groups[end - 1] + 1 && !isCached(segment, column, groups[end]) &&
             !findShared(segment, column, groups[end]))
         ++end;
      startRun(segment, column, groups[i], groups[end - 1] + 1);
      i = end;
   }
}

std::shared_ptr<Landing> ReadAhead::findShared(uint32_t segment, uint32_t column, uint32_t group) const {
   const Block& block = *state_.sources[segment].segment->block;
   const auto& pages = block.header().chunk(column, group).pages;
   if (pages.empty()) return nullptr;
   const uint64_t begin = pages.front().offset;
   return block.landings().find(begin, pages.back().offset + pages.back().storedSize - begin);
}

bool ReadAhead::isCached(uint32_t segment, uint32_t column, uint32_t group) const {
   return state_.sources[segment].segment->block->isCached(column, group);
}

void ReadAhead::startRun(uint32_t segment, uint32_t column, uint32_t first, uint32_t end) {
   const Block& block = *state_.sources[segment].segment->block;
   size_t plainBytes = 0;
   uint64_t begin = UINT64_MAX, bytes = 0;
   for (uint32_t group = first; group < end; ++group)
      for (const PageEntry& page : block.header().chunk(column, group).pages) {
         begin = std::min(begin, page.offset);
         bytes = page.offset + page.storedSize - begin;
         if (page.codec == PageCodec::None) plainBytes += page.storedSize;
      }
   if (bytes == 0) return;
   // Keep the stretch as a frame when most bytes are pages stored uncompressed, which are used in place. Kept
   // compressed pages would waste memory.
   Run run{first, end, end - first, bytes, Landing::tryMake(share_.cache(), begin, bytes, plainBytes >= bytes / 4 * 3)};
   if (!run.landing) return;
   const io::ReadTallyScope scope(tally_);
   run.landing->start(block.reader());
   block.landings().add(run.landing);
   ++statistics_.reads;
   statistics_.bytes += bytes;
   addRun(segment, column, std::move(run));
}

void ReadAhead::addRun(uint32_t segment, uint32_t column, Run run) {
   held_ += run.bytes;
   runs_[keyOf(segment, column)].push_back(std::move(run));
}

std::shared_ptr<const Landing> ReadAhead::find(const Morsel& morsel, uint32_t column) {
   const MutexLock lock(mutex_);
   const auto found = runs_.find(keyOf(morsel.segment, column));
   if (found == runs_.end()) return nullptr;
   for (const Run& run : found->second) {
      if (morsel.rowGroup < run.first || morsel.rowGroup >= run.end) continue;
      std::shared_ptr<const Landing> landing = run.landing;
      if (!landing->isHere()) {
         ++statistics_.waits;
         window_ = std::min(window_ * 2, windowMax_);
         plan(); // plan now, not only at the next advance(): the network may run out of requests until then
      }
      return landing;
   }
   return nullptr;
}

void ReadAhead::release(const Morsel& morsel, uint32_t pass) {
   const MutexLock lock(mutex_);
   if (pass != pass_.load(std::memory_order_relaxed)) return; // a reader closed its last morsel of the pass before
   for (const uint32_t column : columns_) {
      const auto found = runs_.find(keyOf(morsel.segment, column));
      if (found == runs_.end()) continue;
      for (Run& run : found->second) {
         if (morsel.rowGroup < run.first || morsel.rowGroup >= run.end || --run.groupsLeft > 0) continue;
         held_ -= run.bytes;
         share_.give(run.bytes);
         std::swap(run, found->second.back());
         found->second.pop_back();
         break;
      }
      if (found->second.empty()) runs_.erase(found);
   }
}

void ReadAhead::rewind() {
   const MutexLock lock(mutex_);
   runs_.clear();
   share_.giveAll();
   held_ = 0;
   planned_ = 0;
   hasPlannedAll_.store(false, std::memory_order_relaxed);
   pass_.fetch_add(1, std::memory_order_relaxed);
}

ScanSource::NetworkReads ReadAhead::statistics() const {
   const auto value = [](const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
   const MutexLock lock(mutex_);
   ScanSource::NetworkReads result = statistics_;
   result.requests = value(tally_->requests);
   result.receivedBytes = value(tally_->bytes);
   result.retries = value(tally_->retries);
   result.hedges = value(tally_->hedges);
   result.cacheHits = value(tally_->cacheHits);
   result.cacheBytes = value(tally_->cacheBytes);
   result.cost = static_cast<double>(result.requests) * io::requestPrice(io::RequestKind::Get);
   return result;
}

} // namespace ouzel::storage
