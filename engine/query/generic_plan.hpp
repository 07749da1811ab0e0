#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/query/query_execution.hpp"

namespace ouzel::engine {

/// A plan of a prepared statement that serves all its executions, whatever the parameters: for statements that look
/// rows up by key or only write what they are given, where parsing, binding and planning would be most of the work. All
/// others are planned anew with the values at hand. One execution at a time; belongs to a session.
class GenericPlan {
public:
   /// Plan a bound query whose parameters are left open. Null when its plan should depend on their values.
   static std::shared_ptr<GenericPlan> make(SessionCore& core, sql::BoundQuery query);

   /// Objects and settings are what they were, and small tables have stayed small.
   bool isCurrent(SessionCore& core) const;
   /// No execution is at it.
   bool isFree() const { return planned_.use_count() == 1; }
   /// Take the locks it needs and a snapshot. False: an object moved meanwhile, plan anew. Throws 25006.
   bool lock(SessionCore& core) const;
   /// REQUIRES: current, free, locked; one value per parameter.
   std::unique_ptr<QueryExecution> start(SessionCore& core, std::span<const BoundParameter> parameters);

private:
   struct LockedRelation {
      Oid relation;
      LockMode mode;
   };
   std::shared_ptr<PlannedQuery> planned_; // its use count tells whether an execution is at it
   std::vector<sql::Expr*> parameters_;    // in the plan: constants while it runs
   std::vector<LockedRelation> locks_;
   std::vector<storage::StorageId> readWhole_; // tables read without a lookup, since they are small
   bool isReadOnly_ = true;
   uint64_t catalogVersion_ = 0, settingsVersion_ = 0;
};

} // namespace ouzel::engine
