#pragma once
#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

/// A transaction that PREPARE TRANSACTION has ended and COMMIT PREPARED or ROLLBACK PREPARED will finish: with what a
/// server that starts meanwhile needs to have it again. Its name is one in the whole cluster.
struct PreparedTransaction : CatalogObject {
   /// A lock as LockTag and LockMode have it.
   struct Lock {
      uint8_t kind = 0, mode = 0;
      uint64_t object = 0, detail = 0;
   };

   Oid oid = invalidOid, database = invalidOid, owner = invalidOid;
   std::string name;
   int64_t preparedAt = 0; ///< microseconds since 2000-01-01
   std::vector<Lock> locks;
   std::string writes;  ///< storage::Database::describe()
   std::string objects; ///< encodeChanges() of what it has made, changed and dropped: large objects and their comments
   PreparedTransaction() : CatalogObject(ObjectKind::PreparedTransaction) {}
};

} // namespace ouzel::catalog
