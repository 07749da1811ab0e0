#include "catalog/object/membership.hpp"

#include <algorithm>

namespace ouzel::catalog {

namespace {

/// Memberships have no cycles, which GRANT sees to; a damaged catalog must not end in endless recursion.
constexpr int depthMax = 64;

constexpr Oid databaseOwnerRole = 6171; ///< pg_database_owner

bool reaches(const Snapshot& snapshot, Oid role, Oid of, bool inheriting, int depth = 0) {
   if (role == of) return true;
   if (of == databaseOwnerRole)
      if (const DatabasePtr database = snapshot.database(snapshot.database()); database && database->owner == role)
         return true;
   const RolePtr found = snapshot.role(role);
   if (!found || depth > depthMax || (inheriting && !found->inherits)) return false;
   return std::any_of(found->memberOf.begin(), found->memberOf.end(), [&](const Role::Membership& membership) {
      return reaches(snapshot, membership.role, of, inheriting, depth + 1);
   });
}

} // namespace

bool isSuperuser(const Snapshot& snapshot, Oid role) {
   const RolePtr found = snapshot.role(role);
   return found && found->isSuperuser;
}

bool isMemberOf(const Snapshot& snapshot, Oid role, Oid of) {
   return reaches(snapshot, role, of, false);
}

bool inheritsFrom(const Snapshot& snapshot, Oid role, Oid of) {
   return reaches(snapshot, role, of, true);
}

bool isAdminOf(const Snapshot& snapshot, Oid role, Oid of) {
   if (isSuperuser(snapshot, role)) return true;
   const std::vector<RolePtr> roles = snapshot.roles();
   return std::any_of(roles.begin(), roles.end(), [&](const RolePtr& member) {
      const bool isAdmin =
          std::any_of(member->memberOf.begin(), member->memberOf.end(),
                      [&](const Role::Membership& membership) { return membership.role == of && membership.isAdmin; });
      return isAdmin && isMemberOf(snapshot, role, member->oid);
   });
}

bool maySetRole(const Snapshot& snapshot, Oid role, Oid of) {
   return isSuperuser(snapshot, role) || isMemberOf(snapshot, role, of);
}

} // namespace ouzel::catalog
