#include "engine/role/actor.hpp"

#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

namespace {

Oid oidOf(const catalog::RolePtr& role) {
   return role ? role->oid : invalidOid;
}

} // namespace

Actor actorOf(SessionCore& core) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const catalog::RolePtr current = snapshot.findRole(core.user());
   Actor actor;
   actor.current = oidOf(current);
   actor.session = oidOf(snapshot.findRole(core.sessionUser()));
   actor.isSuperuser = current && current->isSuperuser;
   actor.createsRoles = current && (current->isSuperuser || current->createsRoles);
   return actor;
}

void requireRight(bool isHeld, const std::string& message) {
   if (!isHeld) throw SqlError(sqlstate::insufficientPrivilege, message);
}

catalog::RolePtr existingRole(const catalog::Snapshot& snapshot, const std::string& name) {
   if (auto role = snapshot.findRole(name)) return role;
   throw SqlError(sqlstate::undefinedObject, "role \"" + name + "\" does not exist");
}

catalog::RolePtr existingRole(SessionCore& core, const ::RoleSpec& role) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   switch (role.roletype) {
   case ROLESPEC_CSTRING: return existingRole(snapshot, role.rolename);
   case ROLESPEC_SESSION_USER: return existingRole(snapshot, core.sessionUser());
   case ROLESPEC_PUBLIC: return existingRole(snapshot, "public"); // no role has this name
   case ROLESPEC_CURRENT_ROLE:
   case ROLESPEC_CURRENT_USER: break;
   }
   return existingRole(snapshot, core.user());
}

std::vector<catalog::RolePtr> existingRoles(SessionCore& core, const ::List* roles) {
   std::vector<catalog::RolePtr> found;
   for (const ::RoleSpec* role : sql::ListOf<::RoleSpec>(roles))
      found.push_back(existingRole(core, *role));
   return found;
}

void requireNotReserved(const std::string& name, const std::string& detail) {
   if (name.starts_with("pg_"))
      throw SqlError(sqlstate::reservedName, "role name \"" + name + "\" is reserved").detail(detail);
}

} // namespace ouzel::engine
