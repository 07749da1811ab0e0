#include "storage/table/scan.hpp"

#include <algorithm>

#include "storage/table/scan_state.hpp"

namespace ouzel::storage {

namespace {

bool missingMayMatch(const ZonePredicate& predicate, const Value& missing) {
   if (predicate.kind == ZonePredicate::Kind::IsNull) return missing.isNull;
   if (predicate.kind == ZonePredicate::Kind::IsNotNull) return !missing.isNull;
   if (missing.isNull) return false;
   ZoneRange zone;
   zone.add(zoneKeyOf(missing));
   return zone.overlaps(predicate.lower, predicate.upper);
}

/// False when no row of the row group can satisfy the predicate.
bool mayMatch(const ZonePredicate& predicate, const ScanState& state, const Segment& segment, uint32_t rowGroup) {
   if (predicate.column >= segment.columnCount())
      return missingMayMatch(predicate, (*state.columns)[predicate.column].missing);
   if (!segment.block) return true;
   const BlockHeader& header = segment.block->header();
   const ChunkHeader& chunk = header.chunk(predicate.column, rowGroup);
   const uint32_t rows = header.rowGroupRows[rowGroup];
   switch (predicate.kind) {
   case ZonePredicate::Kind::IsNull: return chunk.nullCount != 0;
   case ZonePredicate::Kind::IsNotNull: return chunk.nullCount != rows;
   case ZonePredicate::Kind::Range:
      return chunk.nullCount != rows && chunk.zone.overlaps(predicate.lower, predicate.upper);
   }
   return true;
}

bool mayMatch(const ValuePredicate& predicate, const Segment& segment, uint32_t rowGroup) {
   if (!segment.block || predicate.column >= segment.columnCount()) return true;
   return !predicate.within(segment.block->header().chunk(predicate.column, rowGroup).zone).empty();
}

} // namespace

std::span<const ValuePredicate::Wanted> ValuePredicate::within(const ZoneRange& zone) const {
   if (zone.isEmpty()) return {};
   const auto begin = std::lower_bound(values.begin(), values.end(), zone.lower,
                                       [](const Wanted& wanted, ZoneKey key) { return wanted.key < key; });
   const auto end = std::upper_bound(begin, values.end(), zone.upper,
                                     [](ZoneKey key, const Wanted& wanted) { return key < wanted.key; });
   return {begin, end};
}

bool zonesMayMatch(const ScanState& state, const Segment& segment, uint32_t rowGroup) {
   return std::all_of(state.spec.zonePredicates.begin(), state.spec.zonePredicates.end(),
                      [&](const ZonePredicate& p) { return mayMatch(p, state, segment, rowGroup); }) &&
          std::all_of(state.spec.valuePredicates.begin(), state.spec.valuePredicates.end(),
                      [&](const ValuePredicate& p) { return mayMatch(p, segment, rowGroup); });
}

namespace {

/// What zone maps know of the order's column in a row group; null: nothing, as of rows in memory.
const ChunkHeader* orderedChunk(const ScanState& state, const Morsel& morsel) {
   const Segment& segment = *state.sources[morsel.segment].segment;
   if (!segment.block || state.spec.order->column >= segment.columnCount()) return nullptr;
   return &segment.block->header().chunk(state.spec.order->column, morsel.rowGroup);
}

/// Whether all values of the row group lie behind the bound.
bool isBehind(const ScanState& state, const Morsel& morsel, ZoneKey bound) {
   const ChunkHeader* chunk = orderedChunk(state, morsel);
   if (!chunk || (state.spec.order->nullsFirst && chunk->nullCount != 0)) return false;
   if (chunk->zone.isEmpty()) return true; // NULLs, which come last
   return state.spec.order->isDescending ? chunk->zone.upper < bound : chunk->zone.lower > bound;
}

} // namespace

void orderMorsels(ScanState& state) {
   const ScanOrder& order = *state.spec.order;
   // Where nothing is known, or NULLs come first, the row group is read at once.
   const auto firstValue = [&](const Morsel& morsel) {
      const ChunkHeader* chunk = orderedChunk(state, morsel);
      if (!chunk || (order.nullsFirst && chunk->nullCount != 0)) return zoneKeyMin;
      if (chunk->zone.isEmpty()) return zoneKeyMax;
      return order.isDescending ? ~chunk->zone.upper : chunk->zone.lower;
   };
   std::stable_sort(state.morsels.begin(), state.morsels.end(),
                    [&](const Morsel& a, const Morsel& b) { return firstValue(a) < firstValue(b); });
}

ScanSource::ScanSource(std::shared_ptr<ScanState> state) : state_(std::move(state)) {}
ScanSource::~ScanSource() = default;

bool ScanSource::next(Morsel& morsel, std::optional<ZoneKey> bound) {
   while (true) {
      const uint32_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= state_->morsels.size()) {
         // Keep the counter from wrapping when many workers ask again and again.
         next_.store(static_cast<uint32_t>(state_->morsels.size()), std::memory_order_relaxed);
         return false;
      }
      morsel = state_->morsels[index];
      bool matches = zonesMayMatch(*state_, *state_->sources[morsel.segment].segment, morsel.rowGroup);
      if (matches && bound && isBehind(*state_, morsel, *bound)) {
         matches = false;
         skippedByOrder_.fetch_add(1, std::memory_order_relaxed);
      }
      if (matches && state_->filters && !state_->filters->mayMatch(index)) {
         matches = false;
         skippedByFilter_.fetch_add(1, std::memory_order_relaxed);
      }
      if (state_->readAhead) {
         state_->readAhead->advance(index);
         if (!matches) state_->readAhead->release(morsel, state_->readAhead->pass());
      }
      if (matches) return true;
      skipped_.fetch_add(1, std::memory_order_relaxed);
   }
}

void ScanSource::readAhead() {
   if (state_->readAhead) state_->readAhead->advance(0);
}

bool ScanSource::isReadingAhead() const {
   return state_->readAhead && !state_->readAhead->hasPlannedAll();
}

void ScanSource::narrow(std::span<const ZonePredicate> predicates) {
   state_->spec.zonePredicates.insert(state_->spec.zonePredicates.end(), predicates.begin(), predicates.end());
}

std::unique_ptr<RowGroupReader> ScanSource::makeReader() const {
   return std::make_unique<RowGroupReader>(state_);
}

uint64_t ScanSource::rowCount() const {
   return state_->rowCount;
}
uint32_t ScanSource::morselCount() const {
   return static_cast<uint32_t>(state_->morsels.size());
}
uint32_t ScanSource::morselsPassed() const {
   return std::min(next_.load(std::memory_order_relaxed), morselCount());
}
uint32_t ScanSource::morselsSkipped() const {
   return skipped_.load(std::memory_order_relaxed);
}
uint32_t ScanSource::morselsSkippedByOrder() const {
   return skippedByOrder_.load(std::memory_order_relaxed);
}
uint32_t ScanSource::morselsSkippedByFilter() const {
   return skippedByFilter_.load(std::memory_order_relaxed);
}
ScanSource::NetworkReads& ScanSource::NetworkReads::operator+=(const NetworkReads& other) {
   reads += other.reads;
   bytes += other.bytes;
   sharedBytes += other.sharedBytes;
   waits += other.waits;
   requests += other.requests;
   receivedBytes += other.receivedBytes;
   retries += other.retries;
   hedges += other.hedges;
   cacheHits += other.cacheHits;
   cacheBytes += other.cacheBytes;
   cost += other.cost;
   return *this;
}

ScanSource::NetworkReads ScanSource::networkReads() const {
   if (!state_->readAhead) return {};
   NetworkReads result = state_->readAhead->statistics();
   if (state_->filters) state_->filters->addTo(result);
   return result;
}
void ScanSource::rewind() {
   if (state_->readAhead) state_->readAhead->rewind();
   next_.store(0);
   skipped_.store(0);
   skippedByFilter_.store(0);
   skippedByOrder_.store(0);
}

} // namespace ouzel::storage
