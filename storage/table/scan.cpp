#include "storage/table/scan.hpp"

#include "storage/table/scan_state.hpp"

namespace ouzel::storage {

namespace {

bool rangeMayMatch(const ZonePredicate& predicate, const ZoneRange& zone) {
   if (predicate.kind != ZonePredicate::Kind::Runtime) return zone.overlaps(predicate.lower, predicate.upper);
   if (!predicate.runtime || !predicate.runtime->isSet()) return true;
   return zone.overlaps(predicate.runtime->lower(), predicate.runtime->upper());
}

bool missingMayMatch(const ZonePredicate& predicate, const Value& missing) {
   if (predicate.kind == ZonePredicate::Kind::IsNull) return missing.isNull;
   if (predicate.kind == ZonePredicate::Kind::IsNotNull) return !missing.isNull;
   if (missing.isNull) return predicate.kind == ZonePredicate::Kind::Runtime && !predicate.runtime->isSet();
   ZoneRange zone;
   zone.add(zoneKeyOf(missing));
   return rangeMayMatch(predicate, zone);
}

} // namespace

bool mayMatch(const ZonePredicate& predicate, const ScanState& state, const Segment& segment, uint32_t rowGroup) {
   if (predicate.column >= segment.columnCount())
      return missingMayMatch(predicate, (*state.columns)[predicate.column].missing);
   if (!segment.block) return true;
   const BlockHeader& header = segment.block->header();
   const ChunkHeader& chunk = header.chunk(predicate.column, rowGroup);
   const uint32_t rows = header.rowGroupRows[rowGroup];
   switch (predicate.kind) {
   case ZonePredicate::Kind::IsNull:
      return chunk.nullCount != 0;
   case ZonePredicate::Kind::IsNotNull:
      return chunk.nullCount != rows;
   case ZonePredicate::Kind::Runtime:
      if (!predicate.runtime || !predicate.runtime->isSet()) return true;
      [[fallthrough]];
   case ZonePredicate::Kind::Range:
      return chunk.nullCount != rows && rangeMayMatch(predicate, chunk.zone);
   }
   return true;
}

ScanSource::ScanSource(std::shared_ptr<const ScanState> state) : state_(std::move(state)) {}
ScanSource::~ScanSource() = default;

bool ScanSource::next(Morsel& morsel) {
   while (true) {
      const uint32_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= state_->morsels.size()) {
         // Keep the counter from wrapping when many workers ask again and again.
         next_.store(static_cast<uint32_t>(state_->morsels.size()), std::memory_order_relaxed);
         return false;
      }
      morsel = state_->morsels[index];
      const Segment& segment = *state_->sources[morsel.segment].segment;
      bool matches = true;
      for (const ZonePredicate& predicate : state_->spec.zonePredicates)
         matches = matches && mayMatch(predicate, *state_, segment, morsel.rowGroup);
      if (state_->readAhead) {
         state_->readAhead->advance(index);
         if (!matches) state_->readAhead->release(morsel, state_->readAhead->pass());
      }
      if (matches) return true;
      skipped_.fetch_add(1, std::memory_order_relaxed);
   }
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
uint32_t ScanSource::morselsHandedOut() const {
   return std::min(next_.load(std::memory_order_relaxed), static_cast<uint32_t>(state_->morsels.size()));
}
uint32_t ScanSource::morselsSkipped() const {
   return skipped_.load(std::memory_order_relaxed);
}
ScanSource::NetworkReads ScanSource::networkReads() const {
   return state_->readAhead ? state_->readAhead->statistics() : NetworkReads{};
}
void ScanSource::rewind() {
   if (state_->readAhead) state_->readAhead->rewind();
   next_.store(0);
   skipped_.store(0);
}

} // namespace ouzel::storage
