#include "storage/table/key_index.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "common/error/check.hpp"
#include "common/hash/vector_hash.hpp"
#include "common/type/order_key.hpp"
#include "storage/table/scan_state.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::storage {

namespace {

/// An index is made when lookups have read so many times the number of the segment's rows.
constexpr uint64_t scansBeforeIndex = 8;
/// In chains longer than this, rows that no snapshot sees any more are removed.
constexpr uint32_t longChain = 16;

} // namespace

KeyIndexPool::KeyIndexPool(MemoryGovernor& governor, const TransactionManager& transactions)
   : governor_(governor), transactions_(transactions), memory_(governor.ledger()) {
   governor_.addReclaimer(*this);
}

KeyIndexPool::~KeyIndexPool() {
   governor_.removeReclaimer(*this);
}

Timestamp KeyIndexPool::horizon() const {
   return transactions_.horizon();
}

void KeyIndexPool::add(SegmentKeys& keys) {
   const MutexLock lock(mutex_);
   members_.push_back(&keys);
}

void KeyIndexPool::remove(SegmentKeys& keys) {
   const MutexLock lock(mutex_);
   std::erase(members_, &keys);
}

/// One key index of one segment: chains of rows by hash, newest row first. An entry is 11 bits of the hash << 21 | row
/// + 1; 0 ends a chain. Because of the hash bits a chain is walked without touching rows of other keys.
class SegmentKeys {
public:
   SegmentKeys(KeyIndexPool& pool, std::vector<uint32_t> columns, std::shared_ptr<const ComputedKey> computed)
      : pool_(pool), columns_(std::move(columns)), text_(computed ? computed->text() : std::string()),
        isComputed_(computed != nullptr) {
      pool_.add(*this);
   }
   ~SegmentKeys() {
      pool_.remove(*this);
      drop();
   }

   const std::vector<uint32_t>& columns() const { return columns_; }
   bool isComputed() const { return isComputed_; }
   bool isOver(const std::vector<uint32_t>& columns, const ComputedKey* computed) const {
      return columns_ == columns && isComputed_ == (computed != nullptr) && (!computed || computed->text() == text_);
   }

   std::optional<std::vector<KeyIndexes::Candidate>>
   find(const Segment& segment, const std::shared_ptr<const std::vector<ColumnDefinition>>& definitions,
        const KeyFilter& filter, uint32_t rowCount, uint64_t scanCost) {
      const MutexLock lock(mutex_);
      if (!heads_) {
         paid_ += scanCost;
         if (paid_ < scansBeforeIndex * rowCount) return std::nullopt;
      }
      if (indexedRows_ < rowCount && !addRows(segment, definitions, filter.computed.get(), rowCount))
         return std::nullopt;
      std::vector<KeyIndexes::Candidate> candidates;
      for (uint32_t key = 0; key < filter.hashes.size(); ++key)
         walk(segment.versions->deletes, filter.hashes[key], key, rowCount, candidates);
      return candidates;
   }

   void forget() {
      const MutexLock lock(mutex_);
      drop();
   }

   bool isMade() {
      const MutexLock lock(mutex_);
      return heads_ != nullptr;
   }
   /// The next lookup makes the index.
   void setPaid() {
      const MutexLock lock(mutex_);
      paid_ = uint64_t{scansBeforeIndex} * blockRowsMax;
   }

   /// Drop the index, for the pool; returns the bytes freed. Does not wait for the mutex: its holder may wait for
   /// memory.
   size_t tryDrop() {
      if (isReserving_) return 0; // perhaps on this very thread
      if (!mutex_.try_lock()) return 0;
      const MutexLock lock(mutex_, std::adopt_lock);
      const size_t bytes = charged_;
      drop();
      return bytes;
   }

private:
   static constexpr uint32_t rowBits = 21;
   static uint32_t entryOf(uint64_t hash, uint32_t row) { return static_cast<uint32_t>(hash) << rowBits | (row + 1); }
   static uint32_t rowOfEntry(uint32_t entry) { return (entry & ((1u << rowBits) - 1)) - 1; }
   uint32_t bucketOf(uint64_t hash) const REQUIRES(mutex_) { return static_cast<uint32_t>(hash >> shift_); }

   void drop() REQUIRES(mutex_) {
      heads_ = nullptr;
      next_ = nullptr;
      indexedRows_ = capacity_ = 0;
      paid_ = 0;
      pool_.memory().shrink(std::exchange(charged_, 0));
   }

   /// Make room for `rows` rows. Forgets all indexed rows when the arrays must grow. False: no memory.
   bool reserve(uint32_t rows) REQUIRES(mutex_) {
      if (rows <= capacity_) return true;
      drop();
      const uint32_t capacity = std::min(std::bit_ceil(std::max(rows + rows / 2, 4096u)), std::bit_ceil(blockRowsMax));
      const size_t bytes = size_t{capacity} * 2 * sizeof(uint32_t);
      isReserving_ = true;
      const bool isGranted = pool_.memory().tryGrow(bytes);
      isReserving_ = false;
      if (!isGranted) return false;
      charged_ = bytes;
      capacity_ = capacity;
      shift_ = 64 - static_cast<uint32_t>(std::countr_zero(capacity));
      heads_ = std::make_unique<uint32_t[]>(capacity);
      next_ = std::make_unique_for_overwrite<uint32_t[]>(capacity);
      return true;
   }

   bool addRows(const Segment& segment, const std::shared_ptr<const std::vector<ColumnDefinition>>& definitions,
                const ComputedKey* computed, uint32_t rowCount) REQUIRES(mutex_) {
      if (!reserve(rowCount)) return false;
      while (indexedRows_ < rowCount) {
         const uint32_t first = indexedRows_, count = std::min(rowGroupRows, rowCount - first);
         std::vector<uint8_t> outside;
         const std::vector<uint64_t> hashes = hashKeys(segment, definitions, columns_, computed, first, count, outside);
         for (uint32_t i = 0; i < count; ++i) {
            if (!outside.empty() && outside[i]) continue;
            uint32_t& head = heads_[bucketOf(hashes[i])];
            next_[first + i] = head;
            head = entryOf(hashes[i], first + i);
         }
         indexedRows_ = first + count;
      }
      return true;
   }

   void walk(const DeleteMarks& deletes, uint64_t hash, uint32_t key, uint32_t rowCount,
             std::vector<KeyIndexes::Candidate>& candidates) REQUIRES(mutex_) {
      const uint32_t tag = static_cast<uint32_t>(hash) << rowBits;
      uint32_t* link = &heads_[bucketOf(hash)];
      std::optional<Timestamp> horizon;
      for (uint32_t length = 0; *link != 0; ++length) {
         const uint32_t entry = *link, row = rowOfEntry(entry);
         if (length >= longChain) {
            if (!horizon) horizon = pool_.horizon();
            const DeleteWord word = deletes.word(row);
            if (word != 0 && (word & DeleteMarks::openBit) == 0 && word <= *horizon) {
               *link = next_[row];
               continue;
            }
         }
         if ((entry >> rowBits) == (tag >> rowBits) && row < rowCount) candidates.push_back({row, key});
         link = &next_[row];
      }
   }

   KeyIndexPool& pool_;
   const std::vector<uint32_t> columns_;
   const std::string text_; // of a computed key, which itself belongs to a session
   const bool isComputed_;
   std::atomic<bool> isReserving_{false};
   Mutex mutex_; ///< guards the members below
   std::unique_ptr<uint32_t[]> heads_ GUARDED_BY(mutex_);
   std::unique_ptr<uint32_t[]> next_ GUARDED_BY(mutex_);
   uint32_t capacity_ GUARDED_BY(mutex_) = 0;
   uint32_t shift_ GUARDED_BY(mutex_) = 0;
   uint32_t indexedRows_ GUARDED_BY(mutex_) = 0;
   uint64_t paid_ GUARDED_BY(mutex_) = 0; ///< rows read by lookups while there was no index
   size_t charged_ GUARDED_BY(mutex_) = 0;
};

size_t KeyIndexPool::reclaim(size_t bytes) {
   if (!mutex_.try_lock()) return 0;
   const MutexLock lock(mutex_, std::adopt_lock);
   size_t freed = 0;
   for (size_t i = 0; i < members_.size() && freed < bytes; ++i)
      freed += members_[i]->tryDrop();
   return freed;
}

KeyIndexes::KeyIndexes() = default;
KeyIndexes::~KeyIndexes() = default;

SegmentKeys& KeyIndexes::keysOf(KeyIndexPool& pool, const std::vector<uint32_t>& columns,
                                const std::shared_ptr<const ComputedKey>& computed) {
   const MutexLock lock(mutex_);
   for (const auto& index : indexes_)
      if (index->isOver(columns, computed.get())) return *index;
   return *indexes_.emplace_back(std::make_unique<SegmentKeys>(pool, columns, computed));
}

std::optional<std::vector<KeyIndexes::Candidate>>
KeyIndexes::find(KeyIndexPool& pool, const Segment& segment,
                 const std::shared_ptr<const std::vector<ColumnDefinition>>& columns, const KeyFilter& filter,
                 uint32_t rowCount, uint64_t scanCost) {
   return keysOf(pool, filter.columns, filter.computed).find(segment, columns, filter, rowCount, scanCost);
}

void KeyIndexes::expect(KeyIndexPool& pool, KeyIndexes& others) {
   std::vector<std::vector<uint32_t>> made;
   {
      const MutexLock lock(others.mutex_);
      for (const auto& index : others.indexes_)
         if (!index->isComputed() && index->isMade()) made.push_back(index->columns());
   }
   for (const std::vector<uint32_t>& columns : made)
      keysOf(pool, columns, nullptr).setPaid();
}

void KeyIndexes::forget() {
   const MutexLock lock(mutex_);
   for (const auto& index : indexes_)
      index->forget();
}

namespace {

/// The values of `rows` side by side. REQUIRES: strings.
Vector gathered(const Vector& strings, const Selection& rows, Arena& arena) {
   auto* values = arena.allocateArray<StringView>(rows.count());
   auto* validity = arena.allocateArray<ValidityWord>(validityWords(rows.count()));
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const bool isNull = strings.isNull(rows.row(i));
      setValidBit(validity, i, !isNull);
      values[i] = isNull ? StringView() : strings.value<StringView>(rows.row(i));
   }
   return Vector::flat(PhysicalType::String, values, validity);
}

/// Adds a key column of `rows` to their hashes, one after the other, and to the notes.
void hashColumn(size_t number, const SqlType& type, const Vector& column, Selection rows, Arena& arena,
                uint64_t* hashes, uint8_t* hasNull, ZoneRange* zone) {
   const bool isKeyed = hasOrderKey(type);
   Vector keys = column;
   if (isKeyed) {
      const uint32_t count = rows.count();
      keys = orderKeys(type, rows.isDense() ? column : gathered(column, rows, arena), count, arena);
      rows = Selection::dense(count);
   }
   if (number == 0)
      hashVector(keys, rows, hashes);
   else
      hashCombineVector(keys, rows, hashes);
   for (uint32_t i = 0; hasNull && i < rows.count(); ++i) {
      const uint32_t row = rows.row(i);
      if (keys.isNull(row))
         hasNull[i] = 1;
      else if (zone && isKeyed) // equal values may lie in different zones
         *zone = {zoneKeyMin, zoneKeyMax};
      else if (zone)
         zone->add(zoneKeyOf(Value::fromVector(keys, row)));
   }
}

} // namespace

std::vector<uint64_t> hashKeys(const Segment& segment,
                               const std::shared_ptr<const std::vector<ColumnDefinition>>& definitions,
                               const std::vector<uint32_t>& columns, const ComputedKey* computed, uint32_t first,
                               uint32_t count, std::vector<uint8_t>& outside, KeyNotes* notes) {
   auto state = std::make_shared<ScanState>();
   state->columns = definitions;
   state->spec.columns = columns;
   state->sources.push_back({std::shared_ptr<const Segment>(std::shared_ptr<void>(), &segment), first + count});
   RowGroupReader reader(state);
   std::vector<uint64_t> hashes(count);
   outside.assign(computed ? count : 0, 1);
   if (notes) {
      notes->hasNull.assign(count, 0);
      if (!computed) notes->zones.resize(columns.size());
   }
   std::vector<Vector> inputs(columns.size());
   for (uint32_t done = 0; done < count;) {
      const uint32_t row = first + done, group = row / rowGroupRows;
      reader.open(
          {.segment = 0, .rowGroup = group, .rowCount = std::min(rowGroupRows, first + count - group * rowGroupRows)});
      // Whole vectors decode fastest. Reading may begin inside a vector: at the new rows of a delta.
      const uint32_t inGroup = row % rowGroupRows;
      const uint32_t part = std::min(vectorRows - inGroup % vectorRows, count - done);
      Arena arena; // of order keys
      const Selection all = Selection::dense(part);
      for (uint32_t i = 0; i < columns.size(); ++i) {
         inputs[i] = reader.read(i, inGroup, part, all);
         if (!computed)
            hashColumn(i, (*definitions)[columns[i]].type, inputs[i], all, arena, hashes.data() + done,
                       notes ? notes->hasNull.data() + done : nullptr, notes ? &notes->zones[i] : nullptr);
      }
      const auto use = [&](std::span<const Vector> key, const Selection& rows) {
         std::vector<uint64_t> found(rows.count());
         std::vector<uint8_t> hasNull(rows.count());
         for (size_t i = 0; i < key.size(); ++i)
            hashColumn(i, computed->types()[i], key[i], rows, arena, found.data(), hasNull.data(), nullptr);
         for (uint32_t i = 0; i < rows.count(); ++i) {
            const uint32_t place = done + rows.row(i);
            hashes[place] = found[i];
            outside[place] = 0;
            if (notes) notes->hasNull[place] = hasNull[i];
         }
      };
      if (computed && notes && notes->mayRaise)
         computed->compute(inputs, part, all, use);
      else if (computed)
         computed->computeSound(inputs, part, all, use);
      done += part;
   }
   return hashes;
}

} // namespace ouzel::storage
