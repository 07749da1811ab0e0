#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::engine {

/// The snapshots that pg_export_snapshot() has given names, until the transactions that have them end. Thread-safe.
class ExportedSnapshots {
public:
   struct Entry {
      Oid database = invalidOid;
      storage::TransactionId owner = 0;
      storage::Timestamp timestamp = 0;
   };
   /// `session`: the process id of its client's session, which is a part of the name.
   std::string add(int32_t session, const Entry& entry);
   std::optional<Entry> find(std::string_view name) const;
   /// The transaction ends.
   void forget(storage::TransactionId owner);

private:
   mutable Mutex mutex_;
   std::map<std::string, Entry, std::less<>> entries_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
