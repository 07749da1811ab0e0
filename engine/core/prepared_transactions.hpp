#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "catalog/object/prepared_transaction.hpp"
#include "common/sync/mutex.hpp"
#include "engine/lock/lock_manager.hpp"
#include "storage/database/database.hpp"

namespace ouzel::engine {

/// The transactions of PREPARE TRANSACTION that nobody has finished: their rows and their locks, which belong to no
/// session. Each is an object of the catalog as well; what the object keeps of it makes the transaction anew when a
/// server starts. One per process; thread-safe.
///
///    PREPARE TRANSACTION   reserve --> (catalog has the object) --> keep
///    COMMIT PREPARED       claim   --> (rows and the object's removal are one commit) --> forget
///    a start               restore, before there are sessions
///
/// Between reserve and keep, and between claim and forget, an entry is busy: no other session may claim it.
class PreparedTransactions {
public:
   struct Entry {
      std::unique_ptr<storage::Transaction> storage; ///< null: it could not be made again
      std::unique_ptr<LockOwner> locks;              ///< null: as well
   };

   PreparedTransactions(storage::Database& storage, LockManager& locks) : storage_(storage), locks_(locks) {}
   /// Drops the rows from memory. The catalog keeps them.
   ~PreparedTransactions();

   /// Throws 42710 if there is one of this name, 55000 if `most` is 0, and 53200 if there are that many.
   void reserve(const std::string& name, size_t most);
   /// Ends the reservation with what is to be kept.
   void keep(const std::string& name, Entry entry);
   /// Takes an entry to finish it. Throws 55000 if another session has it, 42704 if there is none.
   Entry claim(const std::string& name);
   /// Ends a reservation or a claim: the transaction is finished, or was never prepared.
   void forget(const std::string& name);
   /// Makes the transaction of a catalog object again, with its locks. `before`: who has had them so far, and loses
   /// them; those who wait go on waiting. Throws 55P03 and XX001.
   Entry made(const catalog::PreparedTransaction& prepared, LockOwner* before = nullptr);
   /// Keeps a transaction that the catalog has, at the start of the server. One that cannot be made again is logged.
   void restore(const catalog::PreparedTransaction& prepared);

   /// The number that pg_locks shows of it; empty: there is none, or a session is about to finish it.
   std::optional<uint32_t> numberOf(const std::string& name);

private:
   struct Slot {
      Entry entry;
      bool isBusy = true;
   };

   storage::Database& storage_;
   LockManager& locks_;
   Mutex mutex_;
   std::map<std::string, Slot> slots_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
