#include "catalog/object/row_security.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/membership.hpp"

namespace ouzel::catalog {

bool isRestricted(const Snapshot& snapshot, Oid role, const Relation& table) {
   if (!table.hasRowSecurity) return false;
   const RolePtr who = snapshot.role(role);
   if (who && (who->isSuperuser || who->bypassesRls)) return false;
   return table.forcesRowSecurity || !ownsObject(snapshot, role, table.owner);
}

Policies policiesFor(const Snapshot& snapshot, Oid role, const Relation& table, PolicyCommand command) {
   Policies found;
   for (const Policy& policy : table.policies) {
      if (policy.command != PolicyCommand::All && policy.command != command) continue;
      const bool isMeant = std::any_of(policy.roles.begin(), policy.roles.end(), [&](Oid named) {
         return named == invalidOid || inheritsFrom(snapshot, role, named);
      });
      if (isMeant) (policy.isPermissive ? found.permissive : found.restrictive).push_back(&policy);
   }
   return found;
}

} // namespace ouzel::catalog
