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
#include "storage/version/snapshot.hpp"

// Finding rows by the values of some columns without reading the others. A key index belongs to one segment and maps
// the hash of a key to row numbers; it is made in memory when lookups have paid for it, grows with a delta, survives
// the delta's way into a block (rows keep their numbers), and is dropped when memory is short. What it finds are
// candidates: whoever asked compares the keys. Which columns are worth an index the catalog knows (keys, CREATE INDEX).

namespace ouzel::storage {

struct Segment;
class SegmentKeys;
class SegmentVersions;
class TransactionManager;

/// Rows whose key columns hash like one of `hashes`: hashVector of the first column, hashCombineVector of the others.
struct KeyFilter {
   std::vector<uint32_t> columns; ///< storage columns (attnum - 1)
   std::vector<uint64_t> hashes;
};

/// What the key indexes of a database share: whom memory is charged to, and who has some when it must come back.
/// Thread-safe; outlives every index.
class KeyIndexPool final : private MemoryReclaimer {
public:
   KeyIndexPool(MemoryGovernor& governor, const TransactionManager& transactions);
   ~KeyIndexPool() override;

   Reservation& memory() { return memory_; }
   /// Rows deleted before it are seen by nobody, now or later.
   Timestamp horizon() const;

private:
   friend class SegmentKeys;
   void add(SegmentKeys& keys);
   void remove(SegmentKeys& keys);
   size_t reclaim(size_t bytes) override;

   MemoryGovernor& governor_;
   const TransactionManager& transactions_;
   Reservation memory_;
   Mutex mutex_; ///< guards what follows
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
   /// Candidates among the segment's first `rowCount` rows; nothing when there is no index (yet) and all rows must be
   /// looked at, which is taken note of: `scanCost` rows are about to be read for this lookup.
   std::optional<std::vector<Candidate>> find(KeyIndexPool& pool, const Segment& segment,
                                              const std::shared_ptr<const std::vector<ColumnDefinition>>& columns,
                                              const KeyFilter& filter, uint32_t rowCount, uint64_t scanCost);
   /// Rows come from a segment with these indexes: have the same ones as soon as somebody looks.
   void expect(KeyIndexPool& pool, KeyIndexes& others);
   /// Rows were taken back: numbers may come to name other rows.
   void forget();

private:
   SegmentKeys& keysOf(KeyIndexPool& pool, const std::vector<uint32_t>& columns);

   Mutex mutex_; ///< guards what follows
   std::vector<std::unique_ptr<SegmentKeys>> indexes_ GUARDED_BY(mutex_);
};

/// What hashKeys finds out besides.
struct KeyNotes {
   std::vector<uint8_t> hasNull; ///< 1 for rows with a NULL among the key columns
   std::vector<ZoneRange> zones; ///< of the other values, by key column; widened
};

/// Hashes of the keys of rows [first, first + count) of a segment, as KeyFilter has them.
std::vector<uint64_t> hashKeys(const Segment& segment,
                               const std::shared_ptr<const std::vector<ColumnDefinition>>& definitions,
                               const std::vector<uint32_t>& columns, uint32_t first, uint32_t count,
                               KeyNotes* notes = nullptr);

} // namespace ouzel::storage
