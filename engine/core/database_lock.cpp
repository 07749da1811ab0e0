#include "engine/core/database_lock.hpp"

namespace ouzel::engine {

catalog::DatabasePtr lockDatabase(SessionCore& core, std::string_view name, LockMode mode) {
   TransactionContext& transaction = core.transaction;
   catalog::DatabasePtr found = transaction.catalog().findDatabase(name);
   while (found) {
      transaction.lockDatabase(found->oid, mode);
      transaction.startStatement();
      const catalog::DatabasePtr now = transaction.catalog().findDatabase(name);
      if (!now || now->oid == found->oid) return now;
      found = now;
   }
   return found;
}

catalog::DatabasePtr requireDatabase(SessionCore& core, std::string_view name, LockMode mode) {
   if (auto database = lockDatabase(core, name, mode)) return database;
   throw SqlError(sqlstate::undefinedDatabase, "database \"" + std::string(name) + "\" does not exist");
}

catalog::Database draftOfDatabase(SessionCore& core) {
   const Oid database = core.transaction.catalog().database();
   core.transaction.lockDatabase(database, LockMode::ShareUpdateExclusive);
   core.transaction.startStatement(); // what another one has changed meanwhile
   return *core.transaction.catalog().database(database);
}

} // namespace ouzel::engine
