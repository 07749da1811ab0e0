#include "storage/table/filter_search.hpp"

#include <algorithm>
#include <utility>

#include "common/error/sql_error.hpp"
#include "storage/block/bloom_filter.hpp"
#include "storage/table/scan_state.hpp"

namespace ouzel::storage {

namespace {

/// Bounds the bytes under way or not asked yet. The filters of a column of a full block take up to 1.5 MiB.
constexpr size_t windowMax = 32 << 20, partOfBudget = 4;
constexpr uint32_t segmentsAhead = 64;
/// Predicates with more values are not looked up: nearly any filter seems to have one of them.
constexpr size_t valuesProbedMax = 200;

bool areHere(const std::vector<std::shared_ptr<Landing>>& reads) {
   return std::all_of(reads.begin(), reads.end(), [](const auto& read) { return !read || read->isHere(); });
}

} // namespace

std::unique_ptr<FilterSearch> FilterSearch::makeFor(const ScanState& state, ReadAheadBudget& budget, bool isRemote) {
   const auto readsBlock = [&](const Morsel& morsel) {
      return morsel.candidateEnd == 0 && state.sources[morsel.segment].segment->block;
   };
   if (state.spec.valuePredicates.empty() || std::none_of(state.morsels.begin(), state.morsels.end(), readsBlock))
      return nullptr;
   return std::make_unique<FilterSearch>(state, budget, isRemote);
}

FilterSearch::FilterSearch(const ScanState& state, ReadAheadBudget& budget, bool isRemote)
   : state_(state), isRemote_(isRemote), window_(std::min(windowMax, budget.limit() / partOfBudget)),
     sources_(state.sources.size()), isExcluded_(state.morsels.size()), share_(budget) {
   for (uint32_t morsel = 0; morsel < state.morsels.size(); ++morsel) {
      Source& source = sources_[state.morsels[morsel].segment];
      if (source.endMorsel == 0) source.firstMorsel = morsel;
      source.endMorsel = morsel + 1;
   }
}

FilterSearch::~FilterSearch() {
   for (Source& source : sources_)
      source.reads.clear(); // before share_ gives their memory back
}

/// The values to look up in the chunk's filter. Empty: there is no filter, or it need not be asked.
std::span<const ValuePredicate::Wanted> FilterSearch::valuesToProbe(const ValuePredicate& predicate,
                                                                    uint32_t index) const {
   const Morsel& morsel = state_.morsels[index];
   const Segment& segment = *state_.sources[morsel.segment].segment;
   // Candidates of a key index need no filter.
   if (!segment.block || morsel.candidateEnd != 0 || predicate.column >= segment.columnCount()) return {};
   const ChunkHeader& chunk = segment.block->header().chunk(predicate.column, morsel.rowGroup);
   if (chunk.filter.size == 0 || !zonesMayMatch(state_, segment, morsel.rowGroup)) return {};
   const auto values = predicate.within(chunk.zone);
   return values.size() <= valuesProbedMax ? values : std::span<const ValuePredicate::Wanted>();
}

bool FilterSearch::excludes(const ValuePredicate& predicate, uint32_t index, const Landing* landing) const {
   const auto values = valuesToProbe(predicate, index);
   if (values.empty()) return false;
   const Morsel& morsel = state_.morsels[index];
   const Block& block = *state_.sources[morsel.segment].segment->block;
   const PagePin filter = block.filter(predicate.column, morsel.rowGroup, landing);
   const std::string_view bytes(filter.data(), block.header().chunk(predicate.column, morsel.rowGroup).filter.size);
   return std::none_of(values.begin(), values.end(), [&](const ValuePredicate::Wanted& wanted) {
      return BloomFilter::mayContain(bytes, wanted.hash);
   });
}

/// The bytes with the filters of one column that are needed and not cached; size 0: none.
FilterSearch::Stretch FilterSearch::stretchOf(const ValuePredicate& predicate, const Source& source) const {
   Stretch stretch;
   for (uint32_t index = source.firstMorsel; index < source.endMorsel; ++index) {
      if (valuesToProbe(predicate, index).empty()) continue;
      const Morsel& morsel = state_.morsels[index];
      const Block& block = *state_.sources[morsel.segment].segment->block;
      if (block.isFilterCached(predicate.column, morsel.rowGroup)) continue;
      const FilterEntry& filter = block.header().chunk(predicate.column, morsel.rowGroup).filter;
      stretch.offset = std::min(stretch.offset, filter.offset);
      stretch.end = std::max(stretch.end, filter.offset + filter.size);
   }
   return stretch;
}

/// Start the reads of a segment's filters. False: memory is short. `isLeast`: a worker waits for these filters.
bool FilterSearch::startReads(Source& source, bool isLeast) {
   if (source.isStarted || source.isKnown.load(std::memory_order_relaxed)) return true;
   std::vector<Stretch> stretches;
   size_t bytes = 0;
   for (const ValuePredicate& predicate : state_.spec.valuePredicates)
      bytes += stretches.emplace_back(stretchOf(predicate, source)).size();
   if (bytes > 0 && !share_.take(bytes, isLeast)) return false;
   Reads reads(stretches.size());
   for (size_t i = 0; i < reads.size(); ++i) {
      if (stretches[i].size() == 0) continue;
      reads[i] = Landing::tryMake(share_.cache(), stretches[i].offset, stretches[i].size(), true);
      if (!reads[i]) {
         share_.give(bytes);
         return false;
      }
   }
   const io::ReadTallyScope scope(state_.readAhead ? state_.readAhead->tally() : nullptr);
   for (const auto& read : reads) {
      if (!read) continue;
      read->start(state_.sources[state_.morsels[source.firstMorsel].segment].segment->block->reader());
      ++readCount_;
   }
   source.isStarted = true;
   source.reads = std::move(reads);
   source.bytes = bytes;
   held_ += bytes;
   readBytes_ += bytes;
   return true;
}

std::optional<FilterSearch::Reads> FilterSearch::readsOf(uint32_t segment, bool isLeast) {
   const MutexLock lock(mutex_);
   const bool isStarted = startReads(sources_[segment], isLeast);
   next_ = std::max(next_, segment);
   const size_t end = std::min(sources_.size(), size_t{segment} + segmentsAhead);
   while (next_ < end && held_ < window_ && startReads(sources_[next_], false))
      ++next_;
   return isStarted ? std::optional(sources_[segment].reads) : std::nullopt;
}

void FilterSearch::examine(Source& source, const Reads& reads) {
   const io::ReadTallyScope scope(state_.readAhead ? state_.readAhead->tally() : nullptr);
   const auto& predicates = state_.spec.valuePredicates;
   std::vector<uint8_t> isExcluded(source.endMorsel - source.firstMorsel);
   for (uint32_t i = 0; i < isExcluded.size(); ++i)
      for (size_t p = 0; p < predicates.size() && !isExcluded[i]; ++p)
         isExcluded[i] = excludes(predicates[p], source.firstMorsel + i, p < reads.size() ? reads[p].get() : nullptr);
   const MutexLock lock(mutex_);
   if (source.isKnown.load(std::memory_order_relaxed)) return; // another thread was faster
   std::copy(isExcluded.begin(), isExcluded.end(), isExcluded_.begin() + source.firstMorsel);
   source.isKnown.store(true, std::memory_order_release);
   source.reads.clear();
   held_ -= source.bytes;
   share_.give(source.bytes);
}

bool FilterSearch::mayMatch(uint32_t morsel) {
   const uint32_t segment = state_.morsels[morsel].segment;
   Source& source = sources_[segment];
   if (!source.isKnown.load(std::memory_order_acquire)) {
      Reads reads;
      if (isRemote_) reads = readsOf(segment, true).value_or(Reads());
      if (!areHere(reads)) {
         const MutexLock lock(mutex_);
         ++waits_;
      }
      examine(source, reads);
   }
   return isExcluded_[morsel] == 0;
}

bool FilterSearch::isHere(uint32_t segment) {
   Source& source = sources_[segment];
   if (!isRemote_ || source.isKnown.load(std::memory_order_acquire)) return true;
   const auto reads = readsOf(segment, false);
   if (!reads || !areHere(*reads)) return false;
   try {
      examine(source, *reads);
   } catch (const SqlError&) { // mayMatch() reports the error, if a worker comes to the segment
      return false;
   }
   return true;
}

void FilterSearch::addTo(ScanSource::NetworkReads& reads) const {
   const MutexLock lock(mutex_);
   reads.reads += readCount_;
   reads.bytes += readBytes_;
   reads.waits += waits_;
}

} // namespace ouzel::storage
