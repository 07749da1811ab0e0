#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/storage/database_fixture.hpp"

// A random but repeatable sequence of transactions on tables of one worker, what they do to a database, and what the
// database must hold after the first n of them. Workers share the database but no table.

namespace ouzel::storage::test {

/// What transaction n of a worker does. Follows from seed, worker, n and the tables there are.
struct Step {
   enum class Kind : uint8_t {
      Create,
      Drop,
      AddColumn,
      InsertFew,
      InsertMany,
      InsertBulk,
      Delete,
      Update,
      Everywhere,
      Abort
   };
   Kind kind{};
   uint64_t table = 0; ///< number of the table, given by the worker
   int64_t first = 0;  ///< of the rows to insert
   size_t count = 0;
   int64_t modulus = 1, remainder = 0; ///< rows to delete
   bool isSynchronous = true;
   bool rollsBack = false; ///< inserts something else first, up to a savepoint it goes back to
   bool setsCounter = false;
   bool checkpoints = false; ///< afterwards
};

/// Tables of one worker: number -> numbers of the rows, ascending.
struct Model {
   uint64_t seed = 0;
   uint64_t worker = 0;
   uint64_t done = 0; ///< transactions
   std::map<uint64_t, std::vector<int64_t>> tables;

   Step next() const;
   /// Do transaction `done`, or count it as one that left nothing.
   void apply(bool hasEffect);
   bool operator==(const Model&) const = default;
};

/// A database on the disk in use, whose catalog is text: "+worker.table=storage;" and "-worker.table;".
class ModelDatabase {
public:
   ModelDatabase(TaskRunner& tasks, uint64_t checkpointWalBytes, io::StoreOptions store = {});
   Database& database() { return *database_; }
   std::map<uint64_t, StorageId> tablesOf(uint64_t worker) const;

   /// Run transaction `model.done` of a worker; `beforeCommit` is called when COMMIT is sent. Throws SqlError when it
   /// failed. A checkpoint of the step is left to the caller.
   void run(const Model& model, const Step& step, const std::function<void()>& beforeCommit);
   /// What is there. Throws std::runtime_error when rows are not as the model writes them.
   Model read(const Model& like) const;

private:
   void insert(Transaction& transaction, StorageId table, int64_t first, size_t count, AppendMode mode);
   void remove(Transaction& transaction, StorageId table, const Step& step);

   MemoryGovernor governor_{size_t{1} << 30};
   mutable std::mutex mutex_; ///< guards catalog_
   std::string catalog_;
   std::unique_ptr<Database> database_;
};

/// The counter of a worker in a ModelDatabase.
inline Oid counterOf(uint64_t worker) {
   return static_cast<Oid>(100 + worker);
}

} // namespace ouzel::storage::test
