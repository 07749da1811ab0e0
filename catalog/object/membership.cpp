#include "catalog/object/membership.hpp"

#include <algorithm>
#include <string>

#include "catalog/builtin/text_table.hpp"

namespace ouzel::catalog {

namespace {

/// Goes through all that the role is a member of, each once: memberships of a damaged catalog might have cycles.
bool reaches(const Snapshot& snapshot, Oid role, Oid of, bool inheriting) {
   const DatabasePtr database = snapshot.database(snapshot.database());
   std::vector<Oid> reached{role};
   const auto reach = [&](Oid next) {
      if (std::find(reached.begin(), reached.end(), next) == reached.end()) reached.push_back(next);
   };
   for (size_t i = 0; i < reached.size(); ++i) {
      if (reached[i] == of) return true;
      const RolePtr found = snapshot.role(reached[i]);
      if (!found || (inheriting && !found->inherits)) continue;
      for (const Role::Membership& membership : found->memberOf)
         reach(membership.role);
      if (database && database->owner == found->oid) reach(databaseOwnerRole);
   }
   return false;
}

} // namespace

std::vector<Role::Membership> predefinedMemberships(Oid role) {
   const TextTable& table = *builtins().rows("pg_auth_members");
   std::vector<Role::Membership> memberships;
   for (uint32_t row = 0; row < table.rowCount(); ++row) {
      const auto oid = [&](std::string_view column) {
         return static_cast<Oid>(std::stoul(std::string(*table.at(row, table.column(column)))));
      };
      if (oid("member") == role) memberships.push_back({oid("roleid"), false, oid("grantor")});
   }
   return memberships;
}

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
