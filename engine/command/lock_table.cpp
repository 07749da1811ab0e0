#include <set>

#include "common/thread/stack.hpp"
#include "engine/command/command.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/touched_relations.hpp"
#include "sql/parse/node_access.hpp"

// LOCK TABLE.

namespace ouzel::engine {

namespace {

/// Who may read takes the weakest lock; any other one needs a privilege to write.
void requireLockable(SessionCore& core, Oid role, const catalog::Relation& relation, LockMode mode) {
   namespace p = catalog::privilege;
   uint32_t enough = mode == LockMode::AccessShare ? p::select : p::update | p::del | p::truncate;
   if (mode == LockMode::RowExclusive) enough |= p::insert;
   for (uint32_t bit = 1; bit <= enough; bit <<= 1)
      if ((enough & bit) != 0 && catalog::mayUse(core.transaction.catalog(), role, relation, bit)) return;
   throw SqlError(sqlstate::insufficientPrivilege,
                  "permission denied for " + std::string(catalog::relationKindName(relation)) + " " + relation.name);
}

/// Locks a relation, and below a view those that it reads. `seen`: relations that this call or a caller has locked. A
/// view may read itself through other views.
void lockRelation(SessionCore& core, const catalog::RelationPtr& relation, LockMode mode, bool noWait, bool withHeirs,
                  std::set<Oid>& seen) {
   checkStack();
   if (!seen.insert(relation->oid).second) return;
   if (!core.transaction.tryLock(relation->oid, mode, noWait))
      throw SqlError(sqlstate::lockNotAvailable, "could not obtain lock on relation \"" + relation->name + "\"");
   if (withHeirs)
      for (const Oid heir : core.transaction.catalog().allHeirOids(relation->oid))
         if (seen.insert(heir).second && !core.transaction.tryLock(heir, mode, noWait))
            throw SqlError(sqlstate::lockNotAvailable, "could not obtain lock on relation \"" +
                                                           core.transaction.catalog().relation(heir)->name + "\"");
   if (relation->relationKind != catalog::RelationKind::View) return;
   for (const catalog::Dependency& dependency : relation->dependsOn)
      if (const auto below = core.transaction.catalog().relation(dependency.relation);
          below && !below->index && !below->sequence) {
         requireLockable(core, relation->owner, *below, mode);
         lockRelation(core, below, mode, noWait, true, seen);
      }
}

/// The relation that the name means now: it may have changed while another transaction's lock was awaited.
catalog::RelationPtr findRelation(CommandContext& context, const ::RangeVar& name) {
   const catalog::SearchPath path = context.core.searchPath();
   return requireTarget(context, path, name);
}

} // namespace

std::string lockTables(CommandContext& context, const ::LockStmt& statement) {
   SessionCore& core = context.core;
   if (context.isTopLevel && !core.transaction.inBlock())
      throw SqlError(sqlstate::noActiveSqlTransaction, "LOCK TABLE can only be used in transaction blocks");
   const auto mode = static_cast<LockMode>(statement.mode); // PostgreSQL numbers the modes alike
   for (const ::RangeVar* name : sql::ListOf<::RangeVar>(statement.relations)) {
      auto relation = findRelation(context, *name);
      if (relation->foreign)
         throw SqlError(sqlstate::wrongObjectType, "cannot lock relation \"" + relation->name + "\"")
             .detail("This operation is not supported for foreign tables.");
      if (relation->relationKind != catalog::RelationKind::Table &&
          relation->relationKind != catalog::RelationKind::View) {
         if (relation->oid < firstUserOid) { // system tables do not change
            requireLockable(core, core.role(), *relation, mode);
            continue;
         }
         throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is not a table or view");
      }
      if (core.touched) core.touched->note(core, *relation, "LOCK");
      requireLockable(core, core.role(), *relation, mode);
      for (bool isCurrent = false; !isCurrent;) {
         std::set<Oid> seen;
         lockRelation(core, relation, mode, statement.nowait, name->inh, seen);
         core.transaction.startCommand();
         const auto now = findRelation(context, *name);
         isCurrent = now == relation; // a view may have got another query
         relation = now;
      }
   }
   return "LOCK TABLE";
}

} // namespace ouzel::engine
