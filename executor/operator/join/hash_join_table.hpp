#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/materialize/tuple_buffer.hpp"
#include "executor/pipeline/key_lookup.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "executor/pipeline/runtime_filter.hpp"

namespace ouzel::executor {

/// The layout of a hash join's built rows: the columns of the keys, then those of the payload. Shared by the table of
/// all rows in memory and the tables of spilled partitions. Immutable, except for the layout's notes about NULLs.
class HashJoinRows {
public:
   struct Key {
      PhysicalType type;
      bool nullsEqual;
      /// The filter to publish for scans of the probe side, or null.
      RuntimeFilter* filter;
   };

   /// `types`: types of the keys, then of the payload.
   HashJoinRows(std::vector<Key> keys, const std::vector<PhysicalType>& types, bool hasMatchFlags);

   const RowLayout& layout() const { return layout_; }
   const std::vector<Key>& keys() const { return keys_; }
   bool hasMatchFlags() const { return hasMatchFlags_; }
   /// One integer-like key without NULL = NULL: the directory may be an array over its range.
   bool hasSimpleKey() const { return simpleKey_; }
   /// Whether the bounds of this key are collected while rows are stored.
   bool wantsBounds(uint32_t key) const { return wantsBounds_[key]; }

   void setMatched(const std::byte* row) const {
      std::atomic_ref<uint8_t> flag(*reinterpret_cast<uint8_t*>(const_cast<std::byte*>(row) + flagOffset_));
      // Load before storing, so that cache lines of rows with many matches stay shared.
      if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
   }
   bool isMatched(const std::byte* row) const {
      const std::atomic_ref<uint8_t> flag(*reinterpret_cast<uint8_t*>(const_cast<std::byte*>(row) + flagOffset_));
      return flag.load(std::memory_order_relaxed) != 0;
   }

private:
   std::vector<Key> keys_;
   RowLayout layout_;
   bool hasMatchFlags_ = false, simpleKey_ = false;
   std::vector<bool> wantsBounds_;
   uint32_t flagOffset_ = 0;
};

/// Rows of a hash join in pages, and a directory that finds them by key.
///
/// The directory is an array of 64-bit entries, one per slot:
///
///    bits  0..47   address of the first row of a chain; each row's header is the link to the next row
///    bits 48..63   tag: a Bloom filter over the chain's hashes, so that most misses end at the directory
///
/// A hashed table takes the slot from the top bits of the hash. A direct table has one integer key over a dense range,
/// and needs no hash: the slot is key - lower, its chain has all rows with that key, and there are no tags.
///
/// The table of all rows in memory goes through phases, with a barrier of the scheduler between them:
///
///    lanes fill pages --> merge() per lane, then setPages() and openDirectory(): one thread --> insert() by all
///    workers --> publish(): one thread --> read-only, except for match flags, which are set atomically
///
/// The table of a spilled partition: openPartition(): one thread --> insertPartition() by workers --> read-only.
class HashJoinTable {
public:
   /// Bounds of an integer-like key.
   struct KeyBounds {
      int64_t lower = INT64_MAX, upper = INT64_MIN;
      void add(const LiveColumn& column, uint32_t count);
      void add(const KeyBounds& other);
   };
   using Pages = std::vector<std::unique_ptr<TuplePage>>;

   HashJoinTable(const HashJoinRows& rows, MemoryGrant& grant) : rows_(rows), grant_(grant), memory_(grant.memory()) {}

   const HashJoinRows& rows() const { return rows_; }
   const RowLayout& layout() const { return rows_.layout(); }
   Reservation& memory() { return memory_; }

   // BUILD of all rows
   /// publish() is to give the hashes of these keys to a scan of the probe side, if the keys are few.
   void lookUp(KeyLookup& lookup, std::vector<uint32_t> keys) {
      lookup_ = &lookup;
      lookupKeys_ = std::move(keys);
   }
   void reset();
   /// A lane has stored `joinable` rows, and `unjoinable` rows with a NULL key, which match no row.
   void merge(uint64_t joinable, uint64_t unjoinable, const std::vector<KeyBounds>& bounds, bool sawNullKey);
   /// After the last merge: take the pages that are in memory. Unless `hasAllRows`, other pages are on disk; `spilled`
   /// then has the hashes of their rows, or is null.
   void setPages(Pages pages, Pages unjoinable, bool hasAllRows, std::shared_ptr<HashFilter> spilled = nullptr);
   /// Make the directory. Returns the number of insert() tasks.
   uint32_t openDirectory(QueryContext& context);
   void insert(QueryContext& context, uint32_t task);
   void publish(QueryContext& context);
   /// Free pages and directory. rowCount() and sawNullKey() stay.
   void releaseRows();
   /// After the last row of the probe side: free the bits of the scans' filters.
   void releaseFilters();

   // BUILD of a partition
   /// Take `pages`, whose rows share the top `bits` bits of their hash, and make their directory. `all`: the table of
   /// the whole build side. Returns the number of insertPartition() tasks: one, unless workers share the work.
   uint32_t openPartition(Pages pages, uint32_t bits, const HashJoinTable& all, bool isShared);
   void insertPartition(QueryContext& context, uint32_t task);
   /// Bytes of the directory for so many rows.
   static size_t directoryBytes(uint64_t rows);

   // PROBE
   /// Rows of the whole build side, spilled and unjoinable rows included. After openPartition(): rows of its pages.
   uint64_t rowCount() const { return rowCount_; }
   bool sawNullKey() const { return sawNullKey_; }
   bool isDirect() const { return direct_; }
   /// The table is direct, and no key occurs twice.
   bool isUnique() const { return direct_ && !hasDuplicates_.load(std::memory_order_relaxed); }
   /// Hashed table: for live rows live[0..count) (null: 0..count-1), write the chain that may hold the row's key to
   /// rows[live], and list the live rows with a chain in `candidates`. Returns their number.
   uint32_t lookup(const uint64_t* hashes, const RowIndex* live, uint32_t count, const std::byte** rows,
                   RowIndex* candidates) const;
   /// Direct table: the same with the key in place of the hash. All rows of the chains match.
   uint32_t lookupDirect(const LiveColumn& key, const RowIndex* live, uint32_t count, const std::byte** rows,
                         RowIndex* candidates) const;
   static const std::byte* next(const std::byte* row) { return *reinterpret_cast<const std::byte* const*>(row); }
   /// The table does not fit the caches near a core, so that prefetching pays.
   bool isLarge() const { return bytes_ > (size_t{1} << 20); }
   const Pages& pages() const { return pages_; }
   const Pages& unjoinablePages() const { return unjoinable_; }
   void describe(OperatorProfile& profile) const;

private:
   void allocateDirectory(uint64_t rows, uint32_t prefixBits, uint64_t prefix);
   /// Consecutive rows of a page.
   struct Piece {
      std::byte *begin, *end;
      uint32_t rowCount(uint32_t rowSize) const { return static_cast<uint32_t>((end - begin) / rowSize); }
   };
   template <bool exclusive>
   void insertHashed(const Piece& piece);
   template <bool exclusive, typename T>
   void insertDirect(const Piece& piece);
   void cutPieces();
   void addToFilters(const Piece& piece);
   void publishLookup();

   // PROPERTIES
   const HashJoinRows& rows_;
   MemoryGrant& grant_;
   Reservation& memory_; ///< the grant's
   KeyLookup* lookup_ = nullptr;
   std::vector<uint32_t> lookupKeys_;
   // STATE
   Pages pages_, unjoinable_;
   std::vector<Piece> pieces_;
   std::vector<KeyBounds> bounds_;
   bool sawNullKey_ = false, hasAllRows_ = true;
   /// Unless hasAllRows_: the filter that scans of the probe side share, once insert() has added the rows in memory.
   std::shared_ptr<HashFilter> hashes_;
   uint64_t rowCount_ = 0;
   uint64_t joinableCount_ = 0; ///< rows without NULL key, spilled rows included
   uint64_t residentCount_ = 0; ///< rows in the directory
   LargeMemory memoryOfDirectory_;
   /// Entry of hash h: directory_[h >> shift_]. All hashes of a partition share a prefix, so that h >> shift_ begins at
   /// prefix * slots_; this pointer lies as many entries before the memory.
   uint64_t* directory_ = nullptr;
   uint64_t slots_ = 0; ///< of a direct table: size of the range
   uint32_t shift_ = 63;
   size_t bytes_ = 0;
   bool direct_ = false;
   int64_t lower_ = 0;
   std::atomic<bool> hasDuplicates_{false};
   uint32_t tasks_ = 0;
};

} // namespace ouzel::executor
