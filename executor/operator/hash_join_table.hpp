#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/operator/join_rows.hpp"
#include "executor/operator/key_lookup.hpp"
#include "executor/operator/plan_builder.hpp"
#include "executor/operator/runtime_filter.hpp"

namespace ouzel::executor {

/// What a hash join has built: rows in pages, and a directory that finds them by key.
///
/// The directory has one 64-bit entry per slot: 48 bits point at the first row of a chain (linked through the rows'
/// headers), 16 tag bits are a small Bloom filter over the chain's hashes, so that most misses end at the directory. A
/// single integer key over a dense range needs no hash: the entry at key - lower is the chain of the rows with that
/// key.
///
/// Phases, with a barrier of the scheduler between them: lanes fill rows of their own; merge() one after the other;
/// insert tasks in parallel; read-only afterwards, but for the rows' match flags, which are set atomically.
class HashJoinTable {
public:
   struct Key {
      PhysicalType type;
      bool nullsEqual;
      /// Told to scans of the probe side, or null.
      RuntimeFilter* filter;
   };
   /// Bounds of an integer-like key.
   struct KeyBounds {
      int64_t lower = INT64_MAX, upper = INT64_MIN;
      void add(const LiveColumn& column, uint32_t count);
      void add(const KeyBounds& other);
   };

   /// `types`: the keys' first, then the payload's.
   HashJoinTable(std::vector<Key> keys, const std::vector<PhysicalType>& types, bool hasMatchFlags,
                 Reservation& memory);

   // PROPERTIES
   const RowLayout& layout() const { return layout_; }
   const std::vector<Key>& keys() const { return keys_; }
   bool hasMatchFlags() const { return hasMatchFlags_; }
   uint32_t flagOffset() const { return flagOffset_; }
   /// One integer-like key without NULL = NULL: rows carry no hash until the table is built.
   bool hasSimpleKey() const { return simpleKey_; }
   /// Bounds of this key are wanted.
   bool wantsBounds(uint32_t key) const { return wantsBounds_[key]; }
   Reservation& memory() { return memory_; }

   // BUILD
   /// The scan of the probe side wants the hashes of these keys, if they are few.
   void lookUp(KeyLookup& lookup, std::vector<uint32_t> keys) {
      lookup_ = &lookup;
      lookupKeys_ = std::move(keys);
   }
   void reset();
   /// Take over a lane's rows: `rows` go into the directory, `unjoinable` ones have a NULL key and match nothing.
   void merge(JoinRows& rows, JoinRows& unjoinable, const std::vector<KeyBounds>& bounds, bool sawNullKey);
   /// After the last merge: make the directory, and say in how many pieces to insert.
   uint32_t openDirectory(QueryContext& context);
   void insert(QueryContext& context, uint32_t task);
   void publish(QueryContext& context);

   // PROBE
   bool isEmpty() const { return rowCount_ == 0; }
   bool sawNullKey() const { return sawNullKey_; }
   uint64_t rowCount() const { return rowCount_; }
   bool isDirect() const { return direct_; }
   /// Of a direct table: no key occurs twice.
   bool isUnique() const { return direct_ && !hasDuplicates_.load(std::memory_order_relaxed); }
   /// Hashed table: chains that may hold the key of live rows live[0..count) (null: 0..count-1) go to rows[live], the
   /// live rows that have one to `candidates`; returns how many.
   uint32_t lookup(const uint64_t* hashes, const RowIndex* live, uint32_t count, const std::byte** rows,
                   RowIndex* candidates) const;
   /// Direct table: the same by key; all rows of the chains match.
   uint32_t lookupDirect(const LiveColumn& key, const RowIndex* live, uint32_t count, const std::byte** rows,
                         RowIndex* candidates) const;
   static const std::byte* next(const std::byte* row) { return *reinterpret_cast<const std::byte* const*>(row); }
   /// Worth prefetching: does not fit the caches near the core.
   bool isLarge() const { return bytes_ > (size_t{1} << 20); }

   void setMatched(const std::byte* row) const {
      std::atomic_ref<uint8_t> flag(*reinterpret_cast<uint8_t*>(const_cast<std::byte*>(row) + flagOffset_));
      // Look first: popular rows' cache lines stay shared.
      if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
   }
   bool isMatched(const std::byte* row) const { return static_cast<uint8_t>(row[flagOffset_]) != 0; }
   std::vector<JoinRows::Page>& pages() { return rows_.pages(); }
   std::vector<JoinRows::Page>& unjoinablePages() { return unjoinable_.pages(); }
   void describe(OperatorProfile& profile) const;

private:
   template <bool exclusive>
   void insertHashed(QueryContext& context, JoinRows::Page& page);
   template <bool exclusive, typename T>
   void insertDirect(JoinRows::Page& page);
   template <typename T>
   void hashSimpleKeys(std::byte* row, uint32_t count, uint64_t* hashes) const;
   void addToFilters(JoinRows::Page& page);
   void publishLookup();

   // PROPERTIES
   const std::vector<Key> keys_;
   RowLayout layout_;
   Reservation memory_;
   const bool hasMatchFlags_;
   bool simpleKey_ = false;
   KeyLookup* lookup_ = nullptr;
   std::vector<uint32_t> lookupKeys_;
   std::vector<bool> wantsBounds_;
   uint32_t flagOffset_ = 0;
   // STATE
   JoinRows rows_, unjoinable_;
   std::vector<KeyBounds> bounds_;
   bool sawNullKey_ = false;
   uint64_t rowCount_ = 0; ///< with the unjoinable ones
   LargeMemory directory_;
   uint64_t slots_ = 0; ///< of a direct table: size of the range
   uint32_t shift_ = 63;
   size_t bytes_ = 0;
   bool direct_ = false;
   int64_t lower_ = 0;
   std::atomic<bool> hasDuplicates_{false};
   uint32_t tasks_ = 0;
};

} // namespace ouzel::executor
