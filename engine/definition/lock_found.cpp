#include "engine/definition/lock_found.hpp"

namespace ouzel::engine {

catalog::RelationPtr lockFound(SessionCore& core, LockMode mode, bool withHeirs,
                               const std::function<catalog::RelationPtr()>& find) {
   TransactionContext& transaction = core.transaction;
   const auto heirsOf = [&](Oid relation) {
      return withHeirs ? transaction.catalog().allHeirOids(relation) : std::vector<Oid>();
   };
   catalog::RelationPtr found = find();
   while (found) {
      const std::vector<Oid> heirs = heirsOf(found->oid);
      const uint64_t before = transaction.editor().base().version();
      transaction.lock(found->oid, mode);
      for (const Oid heir : heirs)
         transaction.lock(heir, mode);
      transaction.startStatement();
      if (transaction.editor().base().version() == before) return found;
      const catalog::RelationPtr now = find();
      if (!now || (now->oid == found->oid && heirsOf(now->oid) == heirs)) return now;
      found = now;
   }
   return found;
}

} // namespace ouzel::engine
