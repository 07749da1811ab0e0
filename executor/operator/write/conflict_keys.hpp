#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/batch.hpp"
#include "common/value/sql_type.hpp"

namespace ouzel::executor {

/// The keys of rows that one INSERT ... ON CONFLICT has inserted so far. Needed since the statement does not see its
/// own rows in the table. Shared by workers: keys are divided among shards by hash, with a mutex per shard. Memory is
/// charged; keys are not spilled.
class ConflictKeys {
public:
   struct Key {
      std::vector<uint32_t> slots; ///< columns of the batch
      bool nullsNotDistinct = false;
      std::vector<SqlType> types{};    ///< by slot; empty: all compare by their bytes
      std::optional<uint32_t> guard{}; ///< a boolean column that is true for the rows that have the key; none: all rows
   };
   ConflictKeys(std::vector<Key> keys, Reservation& memory);

   /// Write the rows of `rows` whose keys were not inserted yet to `out`, ascending; their keys count as inserted from
   /// now on. A row that shares any key with an earlier row is left out, and none of its keys is inserted. Thread-safe.
   uint32_t claim(const Batch& in, Selection rows, RowIndex* out);

private:
   static constexpr uint32_t shardCount = 64;
   struct Shard {
      explicit Shard(Reservation& query) : bytes(&query), memory(query) {}
      Mutex mutex;
      Arena bytes GUARDED_BY(mutex);
      struct Entry {
         uint64_t hash = 0;
         const char* data = nullptr; ///< null: free
         size_t size = 0;
      };
      std::vector<Entry> entries GUARDED_BY(mutex);
      size_t used GUARDED_BY(mutex) = 0;
      Reservation memory GUARDED_BY(mutex);

      bool contains(uint64_t hash, std::string_view key) const REQUIRES(mutex);
      void add(uint64_t hash, std::string_view key) REQUIRES(mutex);
      void grow() REQUIRES(mutex);
   };
   /// Holds the mutexes of the shards of one row's keys. They are locked in order of address, so that two workers
   /// cannot deadlock. The number of mutexes is known at run time only, so clang's thread safety analysis cannot
   /// follow.
   class ShardLocks {
   public:
      explicit ShardLocks(std::vector<Shard*> shards) NO_THREAD_SAFETY_ANALYSIS;
      ~ShardLocks() NO_THREAD_SAFETY_ANALYSIS;
      ShardLocks(const ShardLocks&) = delete;
      ShardLocks& operator=(const ShardLocks&) = delete;

   private:
      std::vector<Shard*> shards_;
   };

   std::vector<Key> keys_;
   std::vector<std::unique_ptr<Shard>> shards_;
};

} // namespace ouzel::executor
