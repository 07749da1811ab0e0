#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"
#include "storage/block/zone_key.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/table/computed_key.hpp"
#include "storage/version/snapshot.hpp"

// Key indexes find rows by the values of some columns without reading the other rows. A key index belongs to one
// segment and maps the hash of a key to row numbers.
//
// Lifecycle: lookups that must read all rows pay for an index; when they have paid enough, the next lookup makes the
// index in memory. The index grows with a delta and stays when a checkpoint turns the delta into a block, since rows
// keep their numbers. It is dropped when memory is short.
//
// The rows found are candidates: the caller compares the keys. The catalog decides which columns are worth an index
// (keys, CREATE INDEX).

namespace ouzel::storage {

struct Segment;
class SegmentKeys;
class SegmentVersions;
class TransactionManager;

/// The rows whose key columns hash like one of `hashes`: hashVector of the first column, hashCombineVector of the
/// others.
struct KeyFilter {
   std::vector<uint32_t> columns; ///< storage columns (attnum - 1); of a computed key: its inputs
   std::vector<uint64_t> hashes;
   std::shared_ptr<const ComputedKey> computed = nullptr; ///< null: the key is the columns
};

/// The memory of a database's key indexes: their common reservation, and the list of indexes to drop when memory is
/// short. Thread-safe; outlives every index.
class KeyIndexPool final : private MemoryReclaimer {
public:
   KeyIndexPool(MemoryGovernor& governor, const TransactionManager& transactions);
   ~KeyIndexPool() override;

   Reservation& memory() { return memory_; }
   /// No open or later snapshot sees a row that was deleted up to this time.
   Timestamp horizon() const;

private:
   friend class SegmentKeys;
   void add(SegmentKeys& keys);
   void remove(SegmentKeys& keys);
   size_t reclaim(size_t bytes) override;

   MemoryGovernor& governor_;
   const TransactionManager& transactions_;
   Reservation memory_;
   Mutex mutex_; ///< guards the members below
   std::vector<SegmentKeys*> members_ GUARDED_BY(mutex_);
};

/// The key indexes of one segment, by key columns. Thread-safe.
class KeyIndexes {
public:
   KeyIndexes();
   ~KeyIndexes();

   /// A candidate: filter.hashes[key] may be the hash of this row.
   struct Candidate {
      uint32_t row, key;
   };
   /// Candidates among the segment's first `rowCount` rows. Empty optional: there is no index yet, and all rows must be
   /// read; the `scanCost` rows that this lookup is about to read count towards making the index.
   std::optional<std::vector<Candidate>> find(KeyIndexPool& pool, const Segment& segment,
                                              const std::shared_ptr<const std::vector<ColumnDefinition>>& columns,
                                              const KeyFilter& filter, uint32_t rowCount, uint64_t scanCost);
   /// The rows were copied from a segment with the indexes of `others`: make the same indexes with their first lookups.
   void expect(KeyIndexPool& pool, KeyIndexes& others);
   /// Drop the indexes: rows were taken back, and their numbers may be given to other rows.
   void forget();

private:
   SegmentKeys& keysOf(KeyIndexPool& pool, const std::vector<uint32_t>& columns,
                       const std::shared_ptr<const ComputedKey>& computed);

   Mutex mutex_; ///< guards the members below
   std::vector<std::unique_ptr<SegmentKeys>> indexes_ GUARDED_BY(mutex_);
};

/// Further results of hashKeys().
struct KeyNotes {
   std::vector<uint8_t> hasNull; ///< 1 for rows with a NULL among the key columns
   std::vector<ZoneRange> zones; ///< of the values that are not NULL, by key column; only widened
   bool mayRaise = false;        ///< set by the caller: an error of a computed key is raised
};

/// Hashes of the keys of rows [first, first + count) of a segment, computed as those of KeyFilter. `outside`: set to 1
/// for the rows that a computed key leaves out, whose hashes say nothing; empty if there are none.
std::vector<uint64_t> hashKeys(const Segment& segment,
                               const std::shared_ptr<const std::vector<ColumnDefinition>>& definitions,
                               const std::vector<uint32_t>& columns, const ComputedKey* computed, uint32_t first,
                               uint32_t count, std::vector<uint8_t>& outside, KeyNotes* notes = nullptr);

} // namespace ouzel::storage
