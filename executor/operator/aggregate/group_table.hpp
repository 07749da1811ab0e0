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

/// Called for rows that have just been made, to initialise what follows their keys.
class GroupInitializer {
public:
   virtual ~GroupInitializer() = default;
   virtual void initialize(std::byte* const* rows, uint32_t count) const = 0;
};

/// A worker's pre-aggregation (FACTS A and B): a cache-sized table of salted pointers over rows that lie in a
/// TupleBuffer. When the table is full it is forgotten and starts anew, so that a group may have several rows;
/// MergedGroups unites them. When that happens with hardly any row finding its group, the table is left out for a while
/// and every row becomes its own group. Not thread-safe.
class GroupTable {
public:
   /// The first `keyCount` columns of the layout are the keys. `pageSize`: bytes of a partition's page. All arguments
   /// outlive this.
   GroupTable(const RowLayout& layout, uint32_t keyCount, const GroupInitializer& initializer, MemoryGrant& grant,
              SpilledPartitions& partitions, size_t pageSize);

   /// rows[i] = the group of live row i, for count rows with these key columns and hashes.
   void findOrCreate(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows);
   /// True when no group can have two rows here.
   bool isUnique() const { return isUnique_; }
   /// Memory is short: relieve() should be called when no group's row is in use.
   bool wantsRelief() const { return buffer_.wantsRelief(); }
   /// The arena of the states' strings has so many bytes now.
   void expectOutside(size_t bytes) { buffer_.expectOutside(bytes); }
   /// Forget all groups, and spill some. The states' strings lie in the rows' pages afterwards, so that the arena they
   /// were made in can go.
   void relieve();
   TuplePages takePages() { return buffer_.finish(); }

private:
   static constexpr uint32_t slotsMin = 1u << 12, slotsMax = 1u << 17;

   void createRows(const LiveColumn* keys, const uint64_t* hashes, const RowIndex* live, uint32_t count,
                   std::byte** rows);
   void makeRoom(uint32_t coming);
   void grow();
   void forget();

   // PROPERTIES
   const RowLayout& layout_;
   const uint32_t keyCount_;
   const GroupInitializer& initializer_;
   // STATE
   TupleBuffer buffer_;
   std::vector<uint64_t> entries_; ///< salt << 48 | pointer; 0: free
   uint32_t groups_ = 0;           ///< in the table
   bool isUnique_ = true;
   uint64_t rowsSeen_ = 0;    ///< since the table was last empty
   uint64_t passThrough_ = 0; ///< rows still to be stored without looking
   std::vector<RowIndex> pending_, fresh_, candidates_, rejected_;
   std::vector<uint32_t> slots_, heapSizes_, heapSizesOfFresh_;
   std::vector<uint64_t> hashesOfFresh_;
   std::vector<std::byte*> rowsOfFresh_;
   std::vector<char*> heaps_, heapByLive_;
};

/// Rows of which each stands for a group; a hash table that finds rows with equal keys among them. Sized for all rows
/// that may come, so that it never grows.
class GroupSet {
public:
   /// Combine the states of from[i] into into[i].
   using Combine = std::function<void(std::byte* const* into, const std::byte* const* from, uint32_t count)>;
   /// Memory for so many rows.
   static constexpr uint32_t bytesPerRow = 40;

   GroupSet() = default;
   GroupSet(uint64_t rowsMax, Reservation& memory);

   /// Add those of `rows` whose keys are new; the others are combined into their groups. `combine` null: there are none
   /// of those. Returns how many were added.
   uint32_t add(const RowLayout& layout, uint32_t keyCount, std::byte* const* rows, size_t count,
                const Combine* combine);
   /// The same with all rows of a page.
   uint32_t addPage(const RowLayout& layout, uint32_t keyCount, const TuplePage& page, const Combine* combine);
   /// rows[k] = the group of row live[k] of the keys, or null.
   void find(const RowLayout& layout, uint32_t keyCount, const LiveColumn* keys, const uint64_t* hashes,
             const RowIndex* live, uint32_t count, std::byte** rows) const;
   std::span<std::byte* const> groups() const { return {groups_.as<std::byte*>(), count_}; }
   bool hasTable() const { return slots_ != 0; }
   void dropTable();

   /// Without a table: rows that are groups already.
   void append(std::byte* row) { groups_.as<std::byte*>()[count_++] = row; }
   static GroupSet listOnly(uint64_t rows, Reservation& memory);
   void makeTable(Reservation& memory);

private:
   LargeMemory groups_, entries_; ///< as GroupTable's; twice as many as rows
   uint64_t count_ = 0, slots_ = 0;
};

/// The groups of all workers, united by partitions of the hash. Made in rounds: start(), scatter() each page, unite()
/// each partition; pages and partitions are independent of each other. Where something was spilled none of that is
/// done: the partitions are taken one by one.
class MergedGroups {
public:
   /// `keepsIndex`: find() will be used.
   void init(const RowLayout& layout, uint32_t keyCount, bool keepsIndex) {
      layout_ = &layout;
      keyCount_ = keyCount;
      keepsIndex_ = keepsIndex;
   }
   /// Thread-safe only among themselves in the order given above.
   void add(TuplePages&& pages, bool isUnique);
   void start(Reservation& memory);
   uint32_t pageCount() const { return static_cast<uint32_t>(pages_.pages().size()); }
   uint32_t partitionCountUsed() const { return 1u << bits_; }
   /// scatter() and unite() are to be called.
   bool mergesHere() const { return needsMerge_ && !isSpilled(); }
   bool isSpilled() const { return !pages_.spilled().empty(); }
   TuplePages takePages() { return std::move(pages_); }
   /// After start(): the one group of a set that read nothing.
   void addOnly(TuplePages&& pages);
   void scatter(uint32_t page);
   void unite(uint32_t partition, const GroupSet::Combine& combine);

   /// Make the index of what needed no merge.
   void index();
   /// rows[i] = the group with these keys, or null. After the merge or index(); thread-safe.
   void find(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) const;

   /// Rows of the groups of one partition.
   std::span<std::byte* const> groups(uint32_t partition) const { return partitions_[partition].groups(); }

private:
   uint32_t partitionOf(uint64_t hash) const { return bits_ ? static_cast<uint32_t>(hash >> (64 - bits_)) : 0; }

   const RowLayout* layout_ = nullptr;
   uint32_t keyCount_ = 0;
   Reservation* memory_ = nullptr;
   TuplePages pages_;
   uint32_t sources_ = 0, bits_ = 0;
   bool needsMerge_ = false, keepsIndex_ = false;
   std::unique_ptr<Reservation> scatteredMemory_;
   std::vector<std::vector<std::vector<std::byte*>>> scattered_; ///< [page][partition]
   std::vector<GroupSet> partitions_;
};

} // namespace ouzel::executor
