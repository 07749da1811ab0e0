#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/value/batch.hpp"
#include "storage/base/ids.hpp"
#include "storage/block/zone_key.hpp"
#include "storage/table/key_index.hpp"
#include "storage/version/snapshot.hpp"

// How rows leave a table. A ScanSource belongs to one scan of one snapshot and hands out morsels (row groups) to
// workers; each worker owns a RowGroupReader, with which the executor's scan operator decides itself in which order
// columns are looked at: zone maps, then encoded predicates, then late decoding of what survived.
//
//    auto source = table.scan(snapshot, spec);                      // once
//    auto reader = source->makeReader();                            // per worker
//    while (source->next(morsel)) {                                 // skips what zone maps and filters exclude
//       reader->open(morsel);
//       for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows) {
//          uint32_t count = min(vectorRows, reader->rowCount() - first);
//          if (reader->canSkip(first, count)) continue;
//          Selection rows = reader->visible(first, count);
//          rows = Selection::list(out, reader->filterRange(0, first, count, low, high, rows, out));
//          Vector v = reader->read(1, first, count, rows);
//       }
//    }

namespace ouzel::storage {

class Table;
struct ScanState;

/// A necessary condition that zone maps can refute. Rows are not filtered by it: the executor evaluates the predicate
/// itself on what is not skipped.
struct ZonePredicate {
   enum class Kind : uint8_t { Range, IsNull, IsNotNull };
   uint32_t column = 0; ///< storage column (attnum - 1); need not be in ScanSpec::columns
   Kind kind = Kind::Range;
   ZoneKey lower = zoneKeyMin, upper = zoneKeyMax; ///< Range: value not NULL and key in [lower, upper]
};

/// The values of a column that are wanted, for zone maps and Bloom filters to refute. As with zone predicates, rows are
/// not filtered by it.
struct ValuePredicate {
   struct Wanted {
      ZoneKey key;
      uint64_t hash; ///< common/hash/vector_hash.hpp's hashValue
   };
   uint32_t column = 0;        ///< storage column, as ZonePredicate's
   std::vector<Wanted> values; ///< ascending by key

   /// The wanted values that lie in the zone.
   std::span<const Wanted> within(const ZoneRange& zone) const;
};

/// What to read.
struct ScanSpec {
   static constexpr uint32_t rowIdColumn = UINT32_MAX;
   /// Storage columns (attnum - 1) or rowIdColumn (read as I64); readers number them by position here.
   std::vector<uint32_t> columns;
   std::vector<ZonePredicate> zonePredicates;
   /// Only rows whose keys hash like these are wanted, and all of them: others may be given too.
   std::optional<KeyFilter> keys = std::nullopt;
   std::vector<ValuePredicate> valuePredicates = {};
};

/// One unit of scan work: a row group of one segment. Opaque to the executor.
struct Morsel {
   uint32_t segment = 0;  ///< index in the scan's list of segments
   uint32_t rowGroup = 0; ///< inside the segment
   uint32_t rowCount = 0; ///< rows that exist for the snapshot, deleted ones included
   /// Of the scan's list of candidates, where a key index has found some; both 0: all rows.
   uint32_t candidateFirst = 0, candidateEnd = 0;
};

/// Reads one row group at a time. One worker's own; not thread-safe.
///
/// Vectors it returns point into pinned frames, delta segments or its scratch. Those of one column stay valid until the
/// same column is read again or another morsel is opened. Positions outside the selection given to read() hold
/// unspecified but readable values.
class RowGroupReader {
public:
   explicit RowGroupReader(std::shared_ptr<const ScanState> state);
   ~RowGroupReader();

   void open(const Morsel& morsel);
   uint32_t rowCount() const;

   /// True when zone maps prove that no row of [firstRow, firstRow + count) can satisfy all zone predicates.
   /// In all calls the range lies inside one aligned vector of 2,048 rows, and selections count from firstRow.
   bool canSkip(uint32_t firstRow, uint32_t count);
   /// Rows the snapshot sees. Dense when all are: constant time without deletes.
   Selection visible(uint32_t firstRow, uint32_t count);
   /// Decode a column for the selected rows. Dictionary-encoded strings come as Dictionary vectors whose dictionaryId
   /// is the same for the whole row group (and in later scans): evaluate once per entry.
   Vector read(uint32_t column, uint32_t firstRow, uint32_t count, const Selection& rows);

   /// True when filterRange works on this column: Bool, I16, I32, I64.
   bool canFilterRange(uint32_t column) const;
   /// Write those of `rows` whose value is not NULL and in [lower, upper] to `out` (room for rows.count(); may be the
   /// list `rows` points at) and return how many. Works on packed data without decoding it.
   uint32_t filterRange(uint32_t column, uint32_t firstRow, uint32_t count, int64_t lower, int64_t upper,
                        const Selection& rows, RowIndex* out);

private:
   struct State;
   std::unique_ptr<State> state_;
};

/// A scan in progress: which morsels are left. Thread-safe; keeps the segments it reads alive.
class ScanSource {
public:
   explicit ScanSource(std::shared_ptr<ScanState> state);
   ~ScanSource();

   /// The next morsel that neither zone maps nor filters exclude; false at the end.
   bool next(Morsel& morsel);
   std::unique_ptr<RowGroupReader> makeReader() const;

   /// Begin to read from a store over a network, before the first morsel is asked for.
   void readAhead();
   /// Not all that will be needed from a network has been asked for.
   bool isReadingAhead() const;
   /// More conditions, on columns of the spec. REQUIRES: no morsel was given out, no reader made.
   void narrow(std::span<const ZonePredicate> predicates);

   uint64_t rowCount() const; ///< rows in all morsels, deleted ones included
   uint32_t morselCount() const;
   // For EXPLAIN ANALYZE:
   uint32_t morselsSkipped() const;
   uint32_t morselsSkippedByFilter() const; ///< of these, where zone maps did not exclude them
   struct NetworkReads {
      uint64_t reads = 0, bytes = 0;
      uint64_t sharedBytes = 0; ///< besides, of reads of other scans
      uint64_t waits = 0;       ///< for bytes that were not here yet
      // Of these and of pages that were read one by one:
      uint64_t requests = 0, receivedBytes = 0, retries = 0, hedges = 0; ///< answered by the bucket so far
      uint64_t cacheHits = 0, cacheBytes = 0;                            ///< regions of the cache on a local disk
      double cost = 0;                                                   ///< of the requests, in dollars
   };
   NetworkReads networkReads() const; ///< for EXPLAIN ANALYZE; reads ahead of the workers, cached pages excepted
   /// Start over, for a second scan of the same rows. No reader may be in use.
   void rewind();

private:
   std::shared_ptr<ScanState> state_;
   std::atomic<uint32_t> next_{0}, skipped_{0}, skippedByFilter_{0};
};

} // namespace ouzel::storage
