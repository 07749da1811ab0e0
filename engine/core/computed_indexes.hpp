#pragma once
#include <map>
#include <memory>

#include "catalog/object/snapshot.hpp"
#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "common/type/user_types.hpp"
#include "executor/function/context.hpp"
#include "sql/plan/computed_index.hpp"

namespace ouzel::engine {

/// The indexes over expressions, and over a part of the rows, as a session computes their keys. An index is bound and
/// compiled when the session first needs it, and again when it or its table has changed. Thread-safe.
class ComputedIndexes {
public:
   /// `functions` and `types`: of the session, and as long-lived. `memory`: where evaluation is charged.
   ComputedIndexes(executor::SessionFunctions* functions, const UserTypes* types, MemoryLedger& memory)
      : functions_(functions), types_(types), memory_(memory) {}

   /// Null for an index over columns of all rows.
   sql::plan::ComputedIndexPtr of(const catalog::Snapshot& snapshot, const catalog::RelationPtr& index);

private:
   struct Known {
      catalog::RelationPtr index, table;
      sql::plan::ComputedIndexPtr computed;
   };
   sql::plan::ComputedIndexPtr make(const catalog::Snapshot& snapshot, const catalog::Relation& index,
                                    const catalog::Relation& table) const;

   executor::SessionFunctions* const functions_;
   const UserTypes* const types_;
   MemoryLedger& memory_;
   Mutex mutex_;
   std::map<Oid, Known> known_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
