#include "engine/constraint/deferred_constraints.hpp"

#include <algorithm>

#include "engine/constraint/foreign_keys.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/core/session_services.hpp"

namespace ouzel::engine {

namespace {

void run(SessionCore& core, const TransactionContext::DeferredCheck& check) {
   if (check.trigger) return core.services.fireDeferred(*check.trigger);
   const catalog::Snapshot snapshot = core.transaction.catalog();
   const auto table = snapshot.relation(check.relation);
   const catalog::Constraint* constraint = snapshot.constraint(check.constraint).second;
   if (!table || !constraint) return; // the constraint was dropped after the check was deferred
   if (constraint->kind == catalog::ConstraintKind::ForeignKey)
      checkDeferredForeignKey(core, table, *constraint, check.sinceCommand);
   else
      checkDeferredUniqueKey(core, table, *constraint, check.sinceCommand);
}

} // namespace

void runDeferredChecks(SessionCore& core) {
   core.transaction.storage().nextCommand();
   auto& checks = core.transaction.deferredChecks();
   // A check may run SQL that defers further checks.
   while (!checks.empty()) {
      const TransactionContext::DeferredCheck check = checks.front();
      checks.erase(checks.begin());
      run(core, check);
   }
}

void runDeferredChecks(SessionCore& core, std::span<const Oid> chosen) {
   TransactionContext& transaction = core.transaction;
   transaction.storage().nextCommand();
   auto& checks = transaction.deferredChecks();
   std::vector<TransactionContext::DeferredCheck> due;
   std::erase_if(checks, [&](const auto& check) {
      if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), check.constraint) == chosen.end()) return false;
      due.push_back(check);
      return true;
   });
   for (size_t i = 0; i < due.size(); ++i)
      try {
         run(core, due[i]);
      } catch (...) {
         checks.insert(checks.end(), due.begin() + static_cast<ptrdiff_t>(i), due.end());
         throw;
      }
}

} // namespace ouzel::engine
