#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/query/query_execution.hpp"

namespace ouzel::engine {

/// A plan of a prepared statement that is good for all parameter values: for statements that look rows up by key or
/// only write given rows, where parsing, binding and planning would be most of the work. Other statements are planned
/// for each execution's values. Belongs to a session's thread; an execution writes its parameters into the plan, so
/// that only one runs at a time.
class GenericPlan {
public:
   /// Plan a bound query with open parameters. Null when the best plan depends on their values.
   static std::shared_ptr<GenericPlan> make(SessionCore& core, sql::BoundQuery query);
   /// The plan's memory, charged as long as the plan lives.
   void keep(MemoryCharge memory) { memory_ = std::move(memory); }

   /// True while objects and settings are unchanged and small tables have stayed small.
   bool isCurrent(SessionCore& core) const;
   /// True while no execution uses the plan.
   bool isFree() const { return planned_.use_count() == 1; }
   /// Take the plan's locks and a new snapshot. False: an object changed meanwhile, plan anew. Throws 25006.
   bool lock(SessionCore& core) const;
   /// REQUIRES: current, free, locked; one value per parameter.
   std::unique_ptr<QueryExecution> start(SessionCore& core, std::span<const BoundParameter> parameters);

private:
   struct LockedRelation {
      Oid relation;
      LockMode mode;
   };
   MemoryCharge memory_;
   std::shared_ptr<PlannedQuery> planned_; // a use count above 1: an execution uses it
   /// Each Parameter of the plan with its number. The nodes are Constants once the plan has run.
   std::vector<std::pair<sql::Expr*, uint32_t>> parameters_;
   std::vector<LockedRelation> locks_;
   std::vector<sql::RelationAccess> access_;   // for the audit: the privileges were checked when the plan was made
   std::vector<storage::StorageId> readWhole_; // tables read without a lookup, since they are small
   bool isReadOnly_ = true;
   double rowsMax_ = 0; ///< of a table that is read without a lookup
   uint64_t catalogVersion_ = 0, settingsVersion_ = 0;
};

} // namespace ouzel::engine
