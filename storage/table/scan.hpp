#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/json/path_access.hpp"
#include "common/value/batch.hpp"
#include "storage/base/ids.hpp"
#include "storage/base/table_use.hpp"
#include "storage/block/value_range.hpp"
#include "storage/block/zone_key.hpp"
#include "storage/table/key_index.hpp"
#include "storage/version/snapshot.hpp"

// Reading rows of a table. A ScanSource belongs to one scan with one snapshot and hands out morsels (row groups) to
// workers. Each worker owns a RowGroupReader. The executor's scan operator decides in which order columns are read:
// zone maps, then predicates on encoded values, then late decoding of the selected rows.
//
//    auto source = table.scan(snapshot, spec);                      // once
//    auto reader = source->makeReader();                            // per worker
//    while (source->next(morsel)) {                                 // skips what zone maps and filters exclude
//       reader->open(morsel);
//       for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows) {
//          uint32_t count = min(vectorRows, reader->rowCount() - first);
//          if (reader->canSkip(first, count)) continue;
//          Selection rows = reader->visible(first, count);
//          rows = Selection::list(out, reader->filterRange(0, first, count, {low, high}, rows, out));
//          Vector v = reader->read(1, first, count, rows);
//       }
//    }

namespace ouzel::storage {

class Table;
struct ScanState;

/// A condition of a scan that zone maps can refute for whole row groups and vectors. It does not filter rows: the
/// executor evaluates the predicate on the rows that are not skipped.
struct ZonePredicate {
   enum class Kind : uint8_t { Range, IsNull, IsNotNull };
   uint32_t column = 0; ///< storage column (attnum - 1); need not be in ScanSpec::columns
   Kind kind = Kind::Range;
   ZoneKey lower = zoneKeyMin, upper = zoneKeyMax; ///< Range: value not NULL and key in [lower, upper]
};

/// A list of wanted values of a column, which zone maps and Bloom filters can refute for whole row groups. Like
/// ZonePredicate it does not filter rows.
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

/// What a scan gives of the documents of a column instead of the documents.
struct ScanPath {
   uint32_t column = 0; ///< storage column, of jsonb
   json::PathAccess access;
};

/// The values of a path that are wanted: not NULL and, if they are integers, in a range. As a ZonePredicate for
/// columns.
struct PathPredicate {
   uint32_t path = 0; ///< index in ScanSpec::paths
   ZoneKey lower = zoneKeyMin, upper = zoneKeyMax;
};

/// The integers that a scan's reader keeps of a column.
struct ColumnRange {
   uint32_t column = 0; ///< position in ScanSpec::columns, then paths
   ValueRange range;
};

/// In which order the rows of a scan are wanted: row groups with the first values come first, as zone maps tell.
struct ScanOrder {
   uint32_t column = 0; ///< storage column
   bool isDescending = false, nullsFirst = false;
};

/// The columns and conditions of a scan.
struct ScanSpec {
   static constexpr uint32_t rowIdColumn = UINT32_MAX;
   /// Storage columns (attnum - 1) or rowIdColumn (read as I64); readers number them by position here.
   std::vector<uint32_t> columns;
   std::vector<ZonePredicate> zonePredicates;
   /// The scan gives all rows whose keys hash like these; it may give others, too.
   std::optional<KeyFilter> keys = std::nullopt;
   std::vector<ValuePredicate> valuePredicates = {};
   std::vector<ScanPath> paths = {}; ///< readers number them after `columns`
   std::vector<PathPredicate> pathPredicates = {};
   std::optional<ScanOrder> order = std::nullopt; ///< empty: the order of the table
   std::shared_ptr<TableUse> use = nullptr;       ///< counts the blocks that are read; null: nobody does
};

/// One unit of scan work: a row group of one segment. Opaque to the executor.
struct Morsel {
   uint32_t segment = 0;  ///< index in the scan's list of segments
   uint32_t rowGroup = 0; ///< inside the segment
   uint32_t rowCount = 0; ///< rows that exist for the snapshot, deleted ones included
   /// Range in ScanState::candidates when a key index has found the rows; both 0: all rows.
   uint32_t candidateFirst = 0, candidateEnd = 0;
};

/// Reads one row group at a time. Owned by one worker; not thread-safe.
///
/// Returned vectors point into pinned frames, delta segments or the reader's scratch. A column's vector stays valid
/// until the same column is read again or another morsel is opened; then the pages of the rows before are let go, so
/// that a reader has few of them pinned. Positions outside the selection given to read()
/// hold unspecified but readable values.
class RowGroupReader {
public:
   explicit RowGroupReader(std::shared_ptr<const ScanState> state);
   ~RowGroupReader();

   void open(const Morsel& morsel);
   uint32_t rowCount() const;

   /// True when zone maps prove that no row of [firstRow, firstRow + count) can satisfy all zone predicates.
   /// In all calls the range lies inside one aligned vector of 2,048 rows, and selections count from firstRow.
   bool canSkip(uint32_t firstRow, uint32_t count);
   /// How many of these rows to read at once so that they pin pages of about `bytes` bytes, if their strings are long:
   /// at least one, at most `count`.
   uint32_t rowsWithin(uint32_t firstRow, uint32_t count, size_t bytes) const;
   /// The rows that the snapshot sees. Dense when it sees all; takes constant time without deletes.
   Selection visible(uint32_t firstRow, uint32_t count);
   /// Decode a column for the selected rows. Dictionary-encoded strings come as Dictionary vectors whose dictionaryId
   /// is the same for the whole row group (and in later scans): evaluate once per entry.
   Vector read(uint32_t column, uint32_t firstRow, uint32_t count, const Selection& rows);

   /// True when filterRange works on this column: Bool, I16, I32, I64.
   bool canFilterRange(uint32_t column) const;
   /// Write those of `rows` whose value is not NULL and which the range contains to `out`, and return their number.
   /// `out` has room for rows.count() and may be the list of `rows` itself. Works on packed data without decoding it.
   uint32_t filterRange(uint32_t column, uint32_t firstRow, uint32_t count, const ValueRange& range,
                        const Selection& rows, RowIndex* out);
   /// Those that all ranges contain, of columns for which filterRange works. Packed columns are compared with each
   /// other as bit masks before rows are listed. `out` has room for 8 more; it may not have been written if all of
   /// `rows` are left.
   uint32_t filterRanges(std::span<const ColumnRange> ranges, uint32_t firstRow, uint32_t count, const Selection& rows,
                         RowIndex* out);
   /// The same with the bytes of strings, a NULL having none. Nothing where the lengths are not known without decoding
   /// the strings: then no row is left out.
   std::optional<uint32_t> filterLength(uint32_t column, uint32_t firstRow, uint32_t count, uint32_t lower,
                                        uint32_t upper, const Selection& rows, RowIndex* out);

private:
   struct State;
   std::unique_ptr<State> state_;
};

/// A scan in progress: hands out its morsels. Thread-safe; keeps the segments it reads alive.
class ScanSource {
public:
   explicit ScanSource(std::shared_ptr<ScanState> state);
   ~ScanSource();

   /// The next morsel that neither zone maps nor filters exclude; false at the end. `bound`: values behind it in the
   /// order of the spec are not wanted.
   bool next(Morsel& morsel, std::optional<ZoneKey> bound = std::nullopt);
   std::unique_ptr<RowGroupReader> makeReader() const;

   /// Start the first reads from a store over a network, before the first morsel is taken.
   void readAhead();
   /// Reads from the network remain to be started.
   bool isReadingAhead() const;
   /// Add conditions, on columns of the spec. REQUIRES: no morsel was handed out, no reader made.
   void narrow(std::span<const ZonePredicate> predicates);

   uint64_t rowCount() const; ///< rows in all morsels, deleted ones included
   uint32_t morselCount() const;
   uint32_t morselsPassed() const; ///< handed out or skipped; any thread may ask
   // For EXPLAIN ANALYZE:
   uint32_t morselsSkipped() const;
   uint32_t morselsSkippedByFilter() const; ///< those of morselsSkipped() that zone maps did not exclude
   uint32_t morselsSkippedByOrder() const;  ///< those of morselsSkipped() that lie behind the bound
   struct NetworkReads {
      uint64_t reads = 0, bytes = 0;
      uint64_t sharedBytes = 0; ///< further bytes, from reads that other scans started
      uint64_t waits = 0;       ///< for bytes that had not arrived
      // Of these reads and of pages that were read one by one:
      uint64_t requests = 0, receivedBytes = 0, retries = 0, hedges = 0; ///< answered by the bucket so far
      uint64_t cacheHits = 0, cacheBytes = 0;                            ///< regions of the cache on a local disk
      double cost = 0;                                                   ///< of the requests, in dollars

      NetworkReads& operator+=(const NetworkReads& other);
   };
   NetworkReads networkReads() const; ///< reads ahead of the workers, cached pages excepted
   /// Start again, for a second pass over the same rows. REQUIRES: no reader is in use.
   void rewind();

private:
   std::shared_ptr<ScanState> state_;
   std::atomic<uint32_t> next_{0}, skipped_{0}, skippedByFilter_{0}, skippedByOrder_{0};
};

} // namespace ouzel::storage
