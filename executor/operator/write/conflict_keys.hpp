#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/batch.hpp"

namespace ouzel::executor {

/// The keys of rows that one INSERT ... ON CONFLICT has inserted so far: its rows do not see each other in the table.
/// One set per unique key. Shared by workers: sharded, a lock per shard. Memory is charged; it does not spill.
class ConflictKeys {
public:
   struct Key {
      std::vector<uint32_t> slots; ///< columns of the batch
      bool nullsNotDistinct = false;
   };
   ConflictKeys(std::vector<Key> keys, Reservation& memory);

   /// Rows of `rows` whose keys nobody has inserted yet, ascending, to `out`; their keys count as inserted from now on.
   /// A row that shares any key with an earlier one is left out and leaves nothing behind.
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
   /// Those of one row's keys, locked as long as it lives; in order of address, since two rows may want each other's.
   /// How many there are is known at run time only, which the analysis cannot follow.
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
