#include <algorithm>
#include <thread>
#include <unordered_map>

#include "common/error/check.hpp"
#include "common/number/decimal.hpp"
#include "common/type/blanks.hpp"
#include "common/type/order_key.hpp"
#include "storage/table/scan_state.hpp"
#include "storage/table/table_core.hpp"
#include "storage/version/write_conflict.hpp"

// Searches for constraints: does a new row repeat a key, does a row have a key, which keys were deleted. Candidates
// come from the key indexes of the segments; for a segment without one, its keys are hashed. Then the keys themselves
// are compared. The search sees the rows as the newest commits and the transaction itself have left them, not as its
// snapshot does.

namespace ouzel::storage {

namespace {

using Definitions = std::shared_ptr<const std::vector<ColumnDefinition>>;

/// Equality of a unique operator family: -0 = 0, NaN = NaN, 1.0 = 1.00, 24 hours = 1 day, int2 and int8 by value,
/// arrays by their elements, jsonb by what it says, bpchar without the blanks at its end.
bool equalKeys(const SqlType& type, const Value& a, const Value& b) {
   if (a.isNull || b.isNull) return a.isNull == b.isNull;
   if (isIntegerLike(a.type) && isIntegerLike(b.type)) return a.i64 == b.i64;
   if (type.oid == oid::bpchar)
      return compareWithoutBlanks(a.bytes, b.bytes) == 0; // a foreign key's may have another n
   if (hasOrderKey(type)) {
      std::string keyOfA, keyOfB;
      appendOrderKey(keyOfA, type, a.bytes);
      appendOrderKey(keyOfB, type, b.bytes);
      return keyOfA == keyOfB;
   }
   switch (a.type) {
   case PhysicalType::F32:
   case PhysicalType::F64: return a.f64 == b.f64 || (a.f64 != a.f64 && b.f64 != b.f64);
   case PhysicalType::Interval: return intervalSpan(a.interval) == intervalSpan(b.interval);
   case PhysicalType::Decimal: return decimal::equal(StringView(a.bytes), StringView(b.bytes));
   default: return a.identical(b);
   }
}

/// The key of a row; empty if a computed key leaves it out.
std::vector<Value> readKey(const SegmentPtr& segment, const Definitions& definitions,
                           const std::vector<uint32_t>& columns, uint32_t row, const ComputedKey* computed = nullptr) {
   auto state = std::make_shared<ScanState>();
   state->columns = definitions;
   state->spec.columns = columns;
   state->sources.push_back({segment, row + 1});
   RowGroupReader reader(state);
   const uint32_t group = row / rowGroupRows, inGroup = row % rowGroupRows;
   reader.open({.segment = 0, .rowGroup = group, .rowCount = inGroup + 1});
   const uint32_t first = inGroup / vectorRows * vectorRows, count = inGroup - first + 1;
   const auto position = static_cast<RowIndex>(inGroup - first);
   const Selection one = Selection::list(&position, 1);
   std::vector<Value> key;
   std::vector<Vector> inputs;
   for (uint32_t i = 0; i < columns.size(); ++i) {
      inputs.push_back(reader.read(i, first, count, one));
      if (!computed) key.push_back(Value::fromVector(inputs.back(), position));
   }
   if (computed)
      computed->computeSound(inputs, count, one, [&](std::span<const Vector> vectors, const Selection& rows) {
         for (size_t i = 0; i < vectors.size() && rows.count() > 0; ++i)
            key.push_back(Value::fromVector(vectors[i], position));
      });
   return key;
}

bool haveEqualKeys(const std::vector<ColumnDefinition>& definitions, const std::vector<uint32_t>& columns,
                   const ComputedKey* computed, const std::vector<Value>& a, const std::vector<Value>& b) {
   if (a.empty() || b.empty()) return false;
   for (size_t i = 0; i < a.size(); ++i)
      if (!equalKeys(computed ? computed->types()[i] : definitions[columns[i]].type, a[i], b[i])) return false;
   return true;
}

} // namespace

std::optional<Table::NewKeys> Table::newKeys(Transaction& transaction, uint32_t sinceCommand,
                                             std::vector<uint32_t> columns, bool nullsEqual, size_t rowsMax,
                                             std::shared_ptr<const ComputedKey> computed) {
   NewKeys keys;
   keys.columns = std::move(columns);
   keys.computed = std::move(computed);
   const Definitions definitions = this->columns();
   const std::vector<LocalWrites::Range> ranges = transaction.writesOf(*this).insertedSince(sinceCommand);
   size_t rowCount = 0;
   KeyNotes notes;
   notes.mayRaise = true;
   for (const LocalWrites::Range& range : ranges)
      rowCount += range.end - range.first;
   if (rowCount > rowsMax) return std::nullopt;
   for (const LocalWrites::Range& range : ranges) {
      std::vector<uint8_t> outside;
      const std::vector<uint64_t> hashes = hashKeys(*range.segment, definitions, keys.columns, keys.computed.get(),
                                                    range.first, range.end - range.first, outside, &notes);
      for (uint32_t i = 0; i < hashes.size(); ++i) {
         if (!outside.empty() && outside[i]) continue;
         if (notes.hasNull[i] && !nullsEqual) continue;
         if (range.segment->versions->deletes.word(range.first + i) != 0) continue; // by the transaction itself
         keys.rows.push_back(makeRowId(range.segment->id, range.first + i));
         keys.hashes.push_back(hashes[i]);
      }
   }
   if (!nullsEqual) keys.zones = std::move(notes.zones); // NULLs lie outside of zones
   return keys;
}

namespace {

/// Finds the rows of a table whose keys hash like one of the filter's. The caller compares the keys.
class KeySearch {
public:
   struct Found {
      SegmentPtr segment;
      uint32_t row, key;
      TransactionId deleter; ///< ≠ 0: an open transaction is about to delete it
      bool isCommitted;      ///< and not a row of the transaction itself
   };

   KeySearch(TableCore& core, Transaction& transaction, LocalWrites& writes, Definitions definitions,
             const KeyFilter& filter, const std::vector<ZoneRange>& zones)
      : core_(core), transaction_(transaction), filter_(filter), state_(std::make_shared<ScanState>()) {
      state_->columns = std::move(definitions);
      state_->spec.columns = filter.columns;
      for (size_t c = 0; c < zones.size(); ++c)
         state_->spec.zonePredicates.push_back(
             {filter.columns[c], ZonePredicate::Kind::Range, zones[c].lower, zones[c].upper});
      for (const SegmentPtr& segment : *core.segmentList()) {
         const uint32_t rows = segment->retiredAt != 0 ? 0 : segment->versions->committedRows();
         if (rows > 0) state_->sources.push_back({segment, rows});
      }
      committed_ = state_->sources.size();
      for (const LocalWrites::Visible& own : writes.visible(UINT32_MAX))
         state_->sources.push_back({own.segment, own.rows});
   }

   /// Calls `body(found)` until it returns false.
   template <typename Body>
   void run(Body body) {
      for (size_t i = 0; i < state_->sources.size(); ++i) {
         const ScanState::Source& source = state_->sources[i];
         for (const KeyIndexes::Candidate& candidate : candidatesIn(source)) {
            DeleteWord word = source.segment->versions->deletes.word(candidate.row);
            if (DeleteMarks::isLock(word)) word = 0; // locked, not deleted
            const bool isOpen = (word & DeleteMarks::openBit) != 0;
            if (!isOpen) latestDelete = std::max(latestDelete, word);
            if (word != 0 && (!isOpen || DeleteMarks::isOpenBy(word, transaction_.id()))) continue;
            if (!body(Found{source.segment, candidate.row, candidate.key,
                            isOpen ? DeleteMarks::holderOf(word) : TransactionId{0}, i < committed_}))
               return;
         }
      }
   }

   /// Of the candidates left out: when the last of them was deleted.
   Timestamp latestDelete = 0;

private:
   std::vector<KeyIndexes::Candidate> candidatesIn(const ScanState::Source& source) {
      const Segment& segment = *source.segment;
      std::vector<uint32_t> groups;
      for (uint32_t group = 0; group * rowGroupRows < source.rows; ++group)
         if (zonesMayMatch(*state_, segment, group)) groups.push_back(group);
      if (groups.empty()) return {};
      auto indexed = segment.versions->keys.find(core_.context.keyIndexes, segment, state_->columns, filter_,
                                                 source.rows, groups.size() * uint64_t{rowGroupRows});
      if (indexed) return std::move(*indexed);
      std::vector<KeyIndexes::Candidate> candidates;
      std::unordered_multimap<uint64_t, uint32_t> keyOf;
      for (uint32_t i = 0; i < filter_.hashes.size(); ++i)
         keyOf.emplace(filter_.hashes[i], i);
      for (const uint32_t group : groups) {
         const uint32_t first = group * rowGroupRows, count = std::min(rowGroupRows, source.rows - first);
         std::vector<uint8_t> outside;
         const std::vector<uint64_t> hashes =
             hashKeys(segment, state_->columns, filter_.columns, filter_.computed.get(), first, count, outside);
         for (uint32_t i = 0; i < count; ++i)
            for (auto [it, end] = keyOf.equal_range(hashes[i]); it != end && (outside.empty() || !outside[i]); ++it)
               candidates.push_back({first + i, it->second});
      }
      return candidates;
   }

   TableCore& core_;
   Transaction& transaction_;
   const KeyFilter& filter_;
   std::shared_ptr<ScanState> state_;
   size_t committed_ = 0; ///< so many sources hold committed rows, those behind them rows of the transaction
};

} // namespace

std::vector<Value> Table::newKey(Transaction& transaction, const NewKeys& keys, size_t i) {
   const SegmentPtr segment = transaction.writesOf(*this).findSegment(segmentOf(keys.rows[i]));
   CHECK(segment != nullptr);
   return readKey(segment, columns(), keys.columns, rowOf(keys.rows[i]), keys.computed.get());
}

std::optional<Table::KeyConflict> Table::findKeyConflict(Transaction& transaction, const Snapshot& snapshot,
                                                         const NewKeys& keys) {
   if (keys.rows.empty()) return std::nullopt;
   const KeyFilter filter{keys.columns, keys.hashes, keys.computed};
   std::optional<KeyConflict> conflict;
   KeySearch(*core_, transaction, transaction.writesOf(*this), columns(), filter, keys.zones)
       .run([&](const KeySearch::Found& found) {
          const RowId row = makeRowId(found.segment->id, found.row);
          if (row == keys.rows[found.key]) return true;
          std::vector<Value> key = newKey(transaction, keys, found.key);
          const ComputedKey* computed = keys.computed.get();
          if (!haveEqualKeys(*columns(), keys.columns, computed, key,
                             readKey(found.segment, columns(), keys.columns, found.row, computed)))
             return true;
          const bool isLate =
              found.isCommitted && found.row >= found.segment->versions->visibleRows(snapshot.commitTimestamp);
          conflict = KeyConflict{std::move(key), found.deleter, isLate};
          return false;
       });
   return conflict;
}

namespace {

/// Zones of one key, whose values may be another type's than the columns'.
std::vector<ZoneRange> zonesOf(const std::vector<ColumnDefinition>& definitions, const std::vector<uint32_t>& columns,
                               const std::vector<Value>& key) {
   std::vector<ZoneRange> zones(key.size());
   for (size_t c = 0; c < key.size(); ++c) {
      const SqlType& type = definitions[columns[c]].type;
      if (hasOrderKey(type)) // equal values may lie in different zones
         zones[c] = {zoneKeyMin, zoneKeyMax};
      else if (type.oid == oid::bpchar && !key[c].isNull) // stored without blanks, unlike the key of a child
         zones[c].add(zoneKeyOf(Value::string(std::string(trimTrailingBlanks(key[c].bytes)))));
      else
         zones[c].add(zoneKeyOf(key[c]));
   }
   return zones;
}

/// Adds a KeyShare at `place` unless the mark of the row found is in the way; `seen`: that mark.
DeleteMarks::Outcome shareFound(TableCore& core, Transaction& transaction, LocalWrites& writes,
                                const RowShares::Place& place, const KeySearch::Found& found, DeleteWord& seen) {
   const Snapshot newest{UINT64_MAX, transaction.id(), 0};
   const DeleteMarks& marks = found.segment->versions->deletes;
   DeleteMarks::Outcome outcome = DeleteMarks::Outcome::Gone;
   bool isNew = false, isAdded = false;
   TransactionId marker = 0;
   uint32_t looks = 0;
   do {
      isAdded = core.shares.add(place, transaction.id(), LockStrength::KeyShare, isNew, [&] {
         outcome = marks.share(found.row, newest, LockStrength::KeyShare, seen);
         return outcome == DeleteMarks::Outcome::Marked ? std::optional(DeleteMarks::holderOf(seen)) : std::nullopt;
      });
      if (!isAdded && outcome == DeleteMarks::Outcome::Marked)
         outcome = DeleteMarks::Outcome::Conflict; // the mark lets it, but the row is claimed
      marker = outcome == DeleteMarks::Outcome::Conflict ? DeleteMarks::holderOf(seen) : 0;
   } while (marker != 0 && core.shares.lookAgain(place, marker, LockStrength::Update, looks));
   if (isAdded && isNew) writes.addShares({place}, transaction.commandId(), LockStrength::KeyShare);
   return outcome;
}

[[noreturn]] void failToShare(TableCore& core, const Transaction& transaction, const RowShares::Place& place, RowId row,
                              DeleteWord seen) {
   RowShares::Found own;
   for (const RowShares::Place& at : {place, RowShares::Place{0, row}})
      core.shares.find(at, transaction.id(), LockStrength::KeyShare, own);
   WriteConflict conflict(core.id, row, seen, LockStrength::KeyShare);
   conflict.isShared = own.isShared;
   throw conflict;
}

} // namespace

bool Table::shareKey(Transaction& transaction, const std::vector<uint32_t>& keyColumns, uint64_t hash,
                     const std::vector<Value>& key) {
   core_->requireSound();
   const KeyFilter filter{keyColumns, {hash}};
   const std::vector<ZoneRange> zones = zonesOf(*columns(), keyColumns, key);
   LocalWrites& writes = transaction.writesOf(*this);
   const RowShares::Place place{core_->shares.keyOf(keyColumns), hash};
   TransactionManager& transactions = core_->context.transactions;
   while (true) {
      const Timestamp began = transactions.lastCommitted();
      bool isPresent = false, hasMoved = false;
      KeySearch search(*core_, transaction, writes, columns(), filter, zones);
      search.run([&](const KeySearch::Found& found) {
         if (!haveEqualKeys(*columns(), keyColumns, nullptr, key,
                            readKey(found.segment, columns(), keyColumns, found.row)))
            return true;
         isPresent = !found.isCommitted; // no other transaction knows the row then
         if (isPresent) return false;
         DeleteWord seen = 0;
         const DeleteMarks::Outcome outcome = shareFound(*core_, transaction, writes, place, found, seen);
         if (outcome == DeleteMarks::Outcome::Conflict)
            failToShare(*core_, transaction, place, makeRowId(found.segment->id, found.row), seen);
         if (outcome == DeleteMarks::Outcome::Gone) {
            if (DeleteMarks::holderOf(seen) == 0) search.latestDelete = std::max(search.latestDelete, seen);
            return true;
         }
         hasMoved = outcome == DeleteMarks::Outcome::Moved;
         if (hasMoved) found.segment->versions->deletes.awaitMove();
         isPresent = !hasMoved;
         return false;
      });
      if (isPresent) return true;
      if (!hasMoved && search.latestDelete <= began) return false;
      // A row with the key has moved, or a commit has been met half-way: its new version may lie where the search did
      // not look.
      while (transactions.lastCommitted() < search.latestDelete)
         std::this_thread::yield();
   }
}

std::optional<std::vector<std::vector<Value>>> Table::deletedKeys(Transaction& transaction, uint32_t sinceCommand,
                                                                  const std::vector<uint32_t>& keyColumns,
                                                                  size_t rowsMax) {
   const auto deleted = transaction.writesOf(*this).deletedSince(sinceCommand);
   size_t rowCount = 0;
   for (const auto& [segment, rows] : deleted)
      rowCount += rows.size();
   if (rowCount > rowsMax) return std::nullopt;
   std::vector<std::vector<Value>> keys;
   for (const auto& [segment, rows] : deleted)
      for (const uint32_t row : rows)
         keys.push_back(readKey(segment, columns(), keyColumns, row));
   return keys;
}

} // namespace ouzel::storage
