#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "common/type/sql_type.hpp"

namespace ouzel::engine {

/// How a statement uses a relation. Readers and writers go together; a change of the relation itself goes alone;
/// writers that must see each other's rows (unique keys) go one transaction at a time.
enum class LockMode : uint8_t { Read = 0, Write = 1, WriteAlone = 2, Exclusive = 3 };

/// Locks on relations, held until the transaction ends. Thread-safe; waiting is bounded by the waiter's own check.
class RelationLocks {
public:
   using Owner = const void*;
   /// Wait until `owner` holds `mode` (or a stronger one it already has). `interrupted` is called a few times a second
   /// while waiting and throws to give up. Throws 40P01 when waiting would close a cycle, 55P03 after `millisMax` (0:
   /// no limit).
   void acquire(Owner owner, Oid relation, LockMode mode, int64_t millisMax, const std::function<void()>& interrupted);
   void releaseAll(Owner owner);

private:
   struct Entry {
      std::map<Owner, LockMode> holders;
   };
   bool conflicts(const Entry& entry, Owner owner, LockMode mode) const;
   bool waitsFor(Owner from, Owner target) const;

   mutable std::mutex mutex_;
   std::condition_variable changed_;
   std::map<Oid, Entry> entries_;
   struct Wait {
      Oid relation;
      LockMode mode;
   };
   std::map<Owner, Wait> waiting_;
};

} // namespace ouzel::engine
