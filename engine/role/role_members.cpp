#include "engine/role/role_members.hpp"

#include <algorithm>

#include "catalog/object/membership.hpp"
#include "engine/role/role.hpp"
#include "sql/parse/node_access.hpp"

// GRANT role TO role, REVOKE role FROM role.

namespace ouzel::engine {

using sql::ListOf;

namespace {

void requireMayChangeMembers(SessionCore& core, const Actor& actor, const catalog::Role& role, Oid grantor) {
   if (role.isSuperuser) return requireRight(actor.isSuperuser, "must be superuser to alter superusers");
   const bool isAdmin = actor.createsRoles || catalog::isAdminOf(core.transaction.catalog(), grantor, role.oid);
   requireRight(isAdmin, "must have admin option on role \"" + role.name + "\"");
}

void refuseDatabaseOwner(const catalog::Role& role, const catalog::Role& member) {
   if (member.oid == catalog::databaseOwnerRole)
      throw SqlError(sqlstate::internalError, "role \"" + member.name + "\" cannot be a member of any role");
   if (role.oid == catalog::databaseOwnerRole)
      throw SqlError(sqlstate::internalError, "role \"" + role.name + "\" cannot have explicit members");
}

auto findMembership(catalog::Role& member, Oid role) {
   return std::find_if(member.memberOf.begin(), member.memberOf.end(),
                       [&](const catalog::Role::Membership& membership) { return membership.role == role; });
}

} // namespace

void addMembers(SessionCore& core, const catalog::Role& role, const std::vector<catalog::RolePtr>& members, Oid grantor,
                bool withAdmin) {
   if (members.empty()) return;
   const Actor actor = actorOf(core);
   requireMayChangeMembers(core, actor, role, grantor);
   requireRight(grantor == actor.current || actor.isSuperuser, "must be superuser to set grantor");
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const catalog::RolePtr& listed : members) {
      refuseDatabaseOwner(role, *listed);
      if (catalog::isMemberOf(snapshot, role.oid, listed->oid))
         throw SqlError(sqlstate::invalidGrantOperation,
                        "role \"" + role.name + "\" is a member of role \"" + listed->name + "\"");
      catalog::Role member = *snapshot.role(listed->oid);
      const auto known = findMembership(member, role.oid);
      if (known == member.memberOf.end()) {
         member.memberOf.push_back({role.oid, withAdmin, grantor});
      } else if (withAdmin && !known->isAdmin) {
         *known = {role.oid, true, grantor};
      } else {
         core.notice("role \"" + member.name + "\" is already a member of role \"" + role.name + "\"");
         continue;
      }
      core.transaction.editor().replaceRole(std::move(member));
   }
}

void removeMembers(SessionCore& core, const catalog::Role& role, const std::vector<catalog::RolePtr>& members,
                   bool onlyAdmin) {
   if (members.empty()) return;
   const Actor actor = actorOf(core);
   requireMayChangeMembers(core, actor, role, actor.current);
   for (const catalog::RolePtr& listed : members) {
      catalog::Role member = *core.transaction.catalog().role(listed->oid);
      const auto known = findMembership(member, role.oid);
      if (known == member.memberOf.end()) {
         core.warn(sqlstate::warning, "role \"" + member.name + "\" is not a member of role \"" + role.name + "\"");
         continue;
      }
      if (onlyAdmin)
         known->isAdmin = false;
      else
         member.memberOf.erase(known);
      core.transaction.editor().replaceRole(std::move(member));
   }
}

std::string grantRole(CommandContext& context, const ::GrantRoleStmt& statement) {
   SessionCore& core = context.core;
   std::string tag = statement.is_grant ? "GRANT ROLE" : "REVOKE ROLE";
   requireWritable(core, tag);
   const Oid grantor = statement.grantor ? existingRole(core, *statement.grantor)->oid : actorOf(core).current;
   const std::vector<catalog::RolePtr> members = existingRoles(core, statement.grantee_roles);
   for (const ::AccessPriv* granted : ListOf<::AccessPriv>(statement.granted_roles)) {
      if (!granted->priv_name || granted->cols)
         throw SqlError(sqlstate::invalidGrantOperation, "column names cannot be included in GRANT/REVOKE ROLE");
      const catalog::RolePtr role = existingRole(core.transaction.catalog(), granted->priv_name);
      if (statement.is_grant)
         addMembers(core, *role, members, grantor, statement.admin_opt);
      else
         removeMembers(core, *role, members, statement.admin_opt);
   }
   return tag;
}

} // namespace ouzel::engine
