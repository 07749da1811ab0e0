#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/materialize/live_column.hpp"
#include "executor/materialize/row_layout.hpp"
#include "executor/materialize/tuple_buffer.hpp"
#include "executor/pipeline/memory_grant.hpp"

namespace ouzel::executor {

/// Initialises the extra part (aggregate states) of rows that were just made.
class GroupInitializer {
public:
   virtual ~GroupInitializer() = default;
   virtual void initialize(std::byte* const* rows, uint32_t count) const = 0;
};

/// A worker's pre-aggregation: a hash table of salted pointers over rows in a TupleBuffer, small enough for a cache.
/// When the table is full it is emptied, so that a group may have several rows; MergedGroups unites them. If hardly any
/// row had found its group by then, the next rows bypass the table for a while: each makes a group of its own. Not
/// thread-safe.
class GroupTable {
public:
   /// What a call works with and leaves nothing in: a worker's tables share one.
   struct Scratch {
      std::vector<RowIndex> pending = std::vector<RowIndex>(batchRowsMax), fresh = pending, candidates = pending,
                            rejected = pending;
      std::vector<uint32_t> slots = std::vector<uint32_t>(batchRowsMax), heapSizes = slots;
      std::vector<uint64_t> hashesOfFresh = std::vector<uint64_t>(batchRowsMax);
      std::vector<std::byte*> rowsOfFresh = std::vector<std::byte*>(batchRowsMax);
      std::vector<char*> heaps = std::vector<char*>(batchRowsMax), heapByLive = heaps;
   };
   struct Options {
      size_t pageSize = 64 * 1024; ///< bytes of a partition's page
      size_t tableBytesMax = tableBytesUsual;
   };
   /// A table of this size stays in a core's second cache, or mostly so.
   static constexpr size_t tableBytesUsual = size_t{2} << 20;

   /// The first `keyCount` columns of the layout are the keys, which determine the others. The referenced objects
   /// outlive the table.
   GroupTable(const RowLayout& layout, uint32_t keyCount, const GroupInitializer& initializer, MemoryGrant& grant,
              SpilledPartitions& partitions, Scratch& scratch, const Options& options);

   /// Set rows[i] to the group of live row i, for `count` rows with these columns and hashes of the keys. Makes missing
   /// groups.
   void findOrCreate(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows);
   /// True when no group can have two rows in this table's buffer.
   bool isUnique() const { return isUnique_; }
   /// Memory is short: call relieve() as soon as no group's row is in use.
   bool wantsRelief() const { return buffer_.wantsRelief(); }
   /// The arena of the states' strings has `bytes` bytes now.
   void expectOutside(size_t bytes) { buffer_.expectOutside(bytes); }
   /// Empty the table, and spill some groups. Afterwards the states' strings lie in the rows' pages, so that their
   /// arena may be freed.
   void relieve();
   TuplePages takePages() { return buffer_.finish(); }
   uint64_t groupCount() const { return groups_; } ///< since the table was last empty

private:
   void createRows(const LiveColumn* keys, const uint64_t* hashes, const RowIndex* live, uint32_t count,
                   std::byte** rows);
   void makeRoom(uint32_t coming);
   void resize(size_t slots);
   void forget();

   // PROPERTIES
   const RowLayout& layout_;
   const uint32_t keyCount_;
   const GroupInitializer& initializer_;
   const size_t slotsMax_;
   Scratch& scratch_;
   // STATE
   Reservation memory_; ///< of entries_
   TupleBuffer buffer_;
   std::vector<uint64_t> entries_; ///< salt << 48 | address of the row; 0: free. Empty before the first row.
   uint32_t groups_ = 0;           ///< number of groups in the table
   bool isUnique_ = true;
   uint64_t rowsSeen_ = 0;    ///< since the table was last empty
   uint64_t passThrough_ = 0; ///< number of coming rows that bypass the table
};

/// A list of groups (one row each), and a hash table that finds a group by its keys. The list has room for all rows
/// that may be added. The table begins smaller, since many rows may share a group, and a table that fits into a cache
/// is much faster. The rows belong to the caller. find() is thread-safe after the last add().
class GroupSet {
public:
   /// Combine the states of from[i] into into[i].
   using Combine = std::function<void(std::byte* const* into, const std::byte* const* from, uint32_t count)>;
   /// Most bytes that the set takes per row of `rowsMax`, when it does not grow just now.
   static constexpr uint32_t bytesPerRow = 40;

   GroupSet() = default;
   GroupSet(uint64_t rowsMax, Reservation& memory);

   /// Add those of `rows` whose keys are new, and combine the other rows into their groups. `combine` null: the other
   /// rows are dropped. Returns the number of rows added.
   uint32_t add(const RowLayout& layout, uint32_t keyCount, std::byte* const* rows, size_t count,
                const Combine* combine);
   /// The same with all rows of a page.
   uint32_t addPage(const RowLayout& layout, uint32_t keyCount, const TuplePage& page, const Combine* combine);
   /// For k < count, set rows[live[k]] to the group of live row live[k], or to null.
   void find(const RowLayout& layout, uint32_t keyCount, const LiveColumn* keys, const uint64_t* hashes,
             const RowIndex* live, uint32_t count, std::byte** rows) const;
   std::span<std::byte* const> groups() const { return {groups_.as<std::byte*>(), count_}; }
   bool hasTable() const { return slots_ != 0; }
   void dropTable();

   /// Add a row that is known to be a new group. REQUIRES: the set has no table.
   void append(std::byte* row) { groups_.as<std::byte*>()[count_++] = row; }
   static GroupSet listOnly(uint64_t rows, Reservation& memory);
   void makeTable();

private:
   void grow();
   void fillTable();

   Reservation* memory_ = nullptr;
   LargeMemory groups_, entries_; ///< entries as in GroupTable; at least twice as many as groups
   uint64_t count_ = 0, slots_ = 0;
   uint64_t rowsMax_ = 0, rowsSeen_ = 0;
};

/// The groups of all workers, united by partitions of the hash.
///
///    add() per worker --> start() --> scatter() per page --> unite() per partition --> endMerge() --> find(), groups()
///
/// scatter() and unite() are called only if mergesHere(). Calls for different pages, or for different partitions, may
/// run at the same time; all other steps are one thread's. Pages whose rows are of one partition are not scattered. If
/// some groups were spilled, the pages are taken away again instead (takePages()), and united partition by partition.
class MergedGroups {
public:
   /// `keepsIndex`: keep the hash tables for find().
   void init(const RowLayout& layout, uint32_t keyCount, bool keepsIndex) {
      layout_ = &layout;
      keyCount_ = keyCount;
      keepsIndex_ = keepsIndex;
   }
   /// Add a worker's pages; `isUnique`: no group occurs twice in them.
   void add(TuplePages&& pages, bool isUnique);
   /// `pageBits`: log2 of the number of partitions among which the workers have divided their pages.
   void start(Reservation& memory, uint32_t pageBits);
   uint32_t pageCount() const { return static_cast<uint32_t>(pages_.pages().size()); }
   uint32_t partitionCountUsed() const { return 1u << bits_; }
   /// scatter() and unite() have to be called: groups may have several rows, and all are in memory.
   bool mergesHere() const { return needsMerge_ && !isSpilled(); }
   bool isSpilled() const { return !pages_.spilled().empty(); }
   TuplePages takePages() { return std::move(pages_); }
   /// Whether the page has rows of several partitions, so that scatter() of it has to be called.
   bool needsScatter(uint32_t page) const { return !isWhole(*pages_.pages()[page]); }
   /// After start(): add the only group of a set without keys that got no rows.
   void addOnly(TuplePages&& pages);
   void scatter(uint32_t page);
   void unite(uint32_t partition, const GroupSet::Combine& combine);
   /// After the last unite(): frees what only these calls need.
   void endMerge();

   /// Make the hash tables that are missing since no merge was needed.
   void index();
   /// Set rows[i] to the group with the keys of row i, or to null. After unite() or index(); thread-safe.
   void find(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) const;

   /// Rows of the groups of one partition.
   std::span<std::byte* const> groups(uint32_t partition) const { return partitions_[partition].groups(); }

private:
   uint32_t partitionOf(uint64_t hash) const { return bits_ ? static_cast<uint32_t>(hash >> (64 - bits_)) : 0; }

   /// Whether all rows of the page are of one partition.
   bool isWhole(const TuplePage& page) const { return page.partition != TuplePage::anyPartition && bits_ <= pageBits_; }

   const RowLayout* layout_ = nullptr;
   uint32_t keyCount_ = 0;
   Reservation* memory_ = nullptr;
   TuplePages pages_;
   uint32_t sources_ = 0, bits_ = 0, pageBits_ = 0;
   bool needsMerge_ = false, keepsIndex_ = false;
   /// The rows of a page with several partitions, in the order of partitions; those of partition p are
   /// [begins[p], begins[p + 1]). Without rows if the page has one partition.
   struct ScatteredPage {
      LargeMemory rows;
      std::vector<uint32_t> begins;
   };
   std::vector<ScatteredPage> scattered_;                  ///< by page
   std::vector<std::vector<const TuplePage*>> wholePages_; ///< by partition: pages with no other rows
   std::vector<GroupSet> partitions_;
};

} // namespace ouzel::executor
