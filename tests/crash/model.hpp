#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/storage/database_fixture.hpp"

// The model of the crash tests: a random but repeatable sequence of transactions on the tables of one worker, and the
// content of these tables after the first n transactions. Workers share the database but no table.

namespace ouzel::storage::test {

/// One transaction of a worker. Determined by seed, worker, number, and the tables that exist.
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
   int64_t first = 0;  ///< first number of the rows to insert
   size_t count = 0;
   int64_t modulus = 1, remainder = 0; ///< rows to delete
   bool isSynchronous = true;
   bool rollsBack = false; ///< first inserts other rows and rolls back to a savepoint
   bool setsCounter = false;
   bool checkpoints = false; ///< after the commit
};

/// The tables of one worker: number of the table -> numbers of its rows, ascending.
struct Model {
   uint64_t seed = 0;
   uint64_t worker = 0;
   uint64_t done = 0; ///< number of transactions applied
   std::map<uint64_t, std::vector<int64_t>> tables;

   Step next() const;
   /// Applies transaction `done`, or counts it as one without effect.
   void apply(bool hasEffect);
   bool operator==(const Model&) const = default;
};

/// A database on the current FileSystem. Its catalog is text: "+worker.table=storage;" and "-worker.table;".
class ModelDatabase {
public:
   ModelDatabase(TaskRunner& tasks, uint64_t checkpointWalBytes, io::StoreOptions store = {});
   Database& database() { return *database_; }
   std::map<uint64_t, StorageId> tablesOf(uint64_t worker) const;

   /// Runs transaction `model.done` of a worker. `beforeCommit` is called before COMMIT is sent. Throws SqlError when
   /// the transaction fails. The caller runs the step's checkpoint.
   void run(const Model& model, const Step& step, const std::function<void()>& beforeCommit);
   /// Reads the worker's tables. Throws std::runtime_error when a row differs from what the model writes.
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
