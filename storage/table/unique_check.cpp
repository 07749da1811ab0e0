#include <algorithm>
#include <unordered_map>

#include "common/error/check.hpp"
#include "common/type/decimal.hpp"
#include "storage/table/scan_state.hpp"
#include "storage/table/table_core.hpp"

// Do new rows repeat a key? Candidates come from the key indexes of the segments, or from hashing a segment's keys
// while it has none; then the keys themselves are compared.

namespace ouzel::storage {

namespace {

using Definitions = std::shared_ptr<const std::vector<ColumnDefinition>>;

/// The values of a unique operator family: -0 = 0, NaN = NaN, 1.0 = 1.00, 24 hours = 1 day.
bool equalKeys(const Value& a, const Value& b) {
   if (a.isNull || b.isNull) return a.isNull == b.isNull;
   switch (a.type) {
   case PhysicalType::F32:
   case PhysicalType::F64:
      return a.f64 == b.f64 || (a.f64 != a.f64 && b.f64 != b.f64);
   case PhysicalType::Interval:
      return intervalSpan(a.interval) == intervalSpan(b.interval);
   case PhysicalType::Decimal:
      return decimal::equal(StringView(a.bytes), StringView(b.bytes));
   default:
      return a.identical(b);
   }
}

std::vector<Value> readKey(const SegmentPtr& segment, const Definitions& definitions,
                           const std::vector<uint32_t>& columns, uint32_t row) {
   auto state = std::make_shared<ScanState>();
   state->columns = definitions;
   state->spec.columns = columns;
   state->sources.push_back({segment, row + 1});
   RowGroupReader reader(state);
   const uint32_t group = row / rowGroupRows, inGroup = row % rowGroupRows;
   reader.open({.segment = 0, .rowGroup = group, .rowCount = inGroup + 1});
   const uint32_t first = inGroup / vectorRows * vectorRows, count = inGroup - first + 1;
   const auto position = static_cast<RowIndex>(inGroup - first);
   std::vector<Value> key;
   for (uint32_t i = 0; i < columns.size(); ++i)
      key.push_back(Value::fromVector(reader.read(i, first, count, Selection::list(&position, 1)), position));
   return key;
}

bool haveEqualKeys(const std::vector<Value>& a, const std::vector<Value>& b) {
   return std::equal(a.begin(), a.end(), b.begin(), equalKeys);
}

} // namespace

std::optional<Table::NewKeys> Table::newKeys(Transaction& transaction, uint32_t sinceCommand,
                                             std::vector<uint32_t> columns, bool nullsEqual, size_t rowsMax) {
   NewKeys keys;
   keys.columns = std::move(columns);
   const Definitions definitions = this->columns();
   const std::vector<LocalWrites::Range> ranges = transaction.writesOf(*this).insertedSince(sinceCommand);
   size_t rowCount = 0;
   KeyNotes notes;
   for (const LocalWrites::Range& range : ranges)
      rowCount += range.end - range.first;
   if (rowCount > rowsMax) return std::nullopt;
   for (const LocalWrites::Range& range : ranges) {
      const std::vector<uint64_t> hashes =
          hashKeys(*range.segment, definitions, keys.columns, range.first, range.end - range.first, &notes);
      for (uint32_t i = 0; i < hashes.size(); ++i) {
         if (notes.hasNull[i] && !nullsEqual) continue;
         if (range.segment->versions->deletes.word(range.first + i) != 0) continue; // by the transaction itself
         keys.rows.push_back(makeRowId(range.segment->id, range.first + i));
         keys.hashes.push_back(hashes[i]);
      }
   }
   if (!nullsEqual) keys.zones = std::move(notes.zones); // NULLs lie outside of zones
   return keys;
}

std::optional<Table::KeyConflict> Table::findKeyConflict(Transaction& transaction, const NewKeys& keys) {
   if (keys.rows.empty()) return std::nullopt;
   LocalWrites& writes = transaction.writesOf(*this);
   auto state = std::make_shared<ScanState>();
   state->columns = columns();
   state->spec.columns = keys.columns;
   for (size_t c = 0; c < keys.zones.size(); ++c)
      state->spec.zonePredicates.push_back(
          {keys.columns[c], ZonePredicate::Kind::Range, keys.zones[c].lower, keys.zones[c].upper, nullptr});
   for (const SegmentPtr& segment : *core_->segmentList())
      if (const uint32_t rows = segment->versions->committedRows()) state->sources.push_back({segment, rows});
   for (const LocalWrites::Visible& own : writes.visible(UINT32_MAX))
      state->sources.push_back({own.segment, own.rows});

   const auto segmentOfRow = [&](RowId row) {
      SegmentPtr segment = writes.findSegment(segmentOf(row));
      CHECK(segment != nullptr);
      return segment;
   };
   const KeyFilter filter{keys.columns, keys.hashes};
   for (const ScanState::Source& source : state->sources) {
      const Segment& segment = *source.segment;
      std::vector<uint32_t> groups;
      for (uint32_t group = 0; group * rowGroupRows < source.rows; ++group)
         if (std::all_of(state->spec.zonePredicates.begin(), state->spec.zonePredicates.end(),
                         [&](const ZonePredicate& predicate) { return mayMatch(predicate, *state, segment, group); }))
            groups.push_back(group);
      if (groups.empty()) continue;
      auto candidates = segment.versions->keys.find(core_->context.keyIndexes, segment, state->columns, filter,
                                                    source.rows, groups.size() * uint64_t{rowGroupRows});
      if (!candidates) {
         candidates.emplace();
         std::unordered_multimap<uint64_t, uint32_t> keyOf;
         for (uint32_t i = 0; i < keys.hashes.size(); ++i)
            keyOf.emplace(keys.hashes[i], i);
         for (const uint32_t group : groups) {
            const uint32_t first = group * rowGroupRows, count = std::min(rowGroupRows, source.rows - first);
            const std::vector<uint64_t> hashes = hashKeys(segment, state->columns, keys.columns, first, count);
            for (uint32_t i = 0; i < count; ++i)
               for (auto [it, end] = keyOf.equal_range(hashes[i]); it != end; ++it)
                  candidates->push_back({first + i, it->second});
         }
      }
      for (const KeyIndexes::Candidate& candidate : *candidates) {
         const RowId row = keys.rows[candidate.key];
         if (makeRowId(segment.id, candidate.row) == row) continue;
         DeleteWord word = segment.versions->deletes.word(candidate.row);
         if (DeleteMarks::isLock(word)) word = 0; // kept from others, not deleted
         const bool isOpen = (word & DeleteMarks::openBit) != 0;
         if (word != 0 && (!isOpen || DeleteMarks::isOpenBy(word, transaction.id()))) continue;
         std::vector<Value> key = readKey(segmentOfRow(row), state->columns, keys.columns, rowOf(row));
         if (!haveEqualKeys(key, readKey(source.segment, state->columns, keys.columns, candidate.row))) continue;
         const bool isNew =
             std::find(keys.rows.begin(), keys.rows.end(), makeRowId(segment.id, candidate.row)) != keys.rows.end();
         return KeyConflict{std::move(key), isOpen ? word >> 32 & 0x7fffffff : 0, isNew};
      }
   }
   return std::nullopt;
}

} // namespace ouzel::storage
