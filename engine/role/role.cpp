#include "engine/role/role.hpp"

#include <map>
#include <optional>

#include "common/password/md5_password.hpp"
#include "common/type/date_time.hpp"
#include "engine/role/role_members.hpp"
#include "engine/role/role_password.hpp"
#include "sql/parse/node_access.hpp"

// CREATE, ALTER, DROP and RENAME of roles.

namespace ouzel::engine {

using sql::as;
using sql::ListOf;

namespace {

constexpr const char* reservedPrefix = "Role names starting with \"pg_\" are reserved.";

/// The options of one statement, each given once at most.
class RoleOptions {
public:
   /// Throws 42601 for an option that is given twice.
   RoleOptions(CommandContext& context, const ::List* options) {
      for (const ::DefElem* option : ListOf<::DefElem>(options)) {
         const std::string_view name = option->defname;
         if (name == "sysid")
            context.core.notice("SYSID can no longer be specified");
         else if (!options_.emplace(name, option).second)
            throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
                .at(context.position(option->location));
      }
      if (const auto limit = connectionLimit(); limit && *limit < -1)
         throw SqlError(sqlstate::invalidParameterValue, "invalid connection limit: " + std::to_string(*limit));
   }

   bool has(std::string_view name) const { return options_.contains(name); }
   /// Whether there are options besides this one.
   bool hasOtherThan(std::string_view name) const { return options_.size() > (has(name) ? 1 : 0); }
   bool isTrue(std::string_view name) const {
      const auto found = options_.find(name);
      return found != options_.end() && as<::Boolean>(found->second->arg)->boolval;
   }
   const ::List* roles(std::string_view name) const {
      const auto found = options_.find(name);
      return found == options_.end() ? nullptr : as<::List>(found->second->arg);
   }

   /// Changes what the options say, but for memberships. Throws 22007 for VALID UNTIL.
   void applyTo(catalog::Role& role, SessionCore& core) const {
      const auto flag = [&](std::string_view name, bool& target) {
         if (has(name)) target = isTrue(name);
      };
      flag("superuser", role.isSuperuser);
      flag("inherit", role.inherits);
      flag("createrole", role.createsRoles);
      flag("createdb", role.createsDatabases);
      flag("canlogin", role.canLogin);
      flag("isreplication", role.canReplicate);
      flag("bypassrls", role.bypassesRls);
      if (const auto limit = connectionLimit()) role.connectionLimit = *limit;
      if (const auto until = options_.find("validUntil"); until != options_.end())
         role.validUntil = parseTimestampTz(sql::stringOf(until->second->arg), core.format());
      if (const auto password = options_.find("password"); password != options_.end())
         role.verifier = password->second->arg
                             ? storedPassword(core, role.name, std::string(sql::stringOf(password->second->arg)))
                             : std::string(); // PASSWORD NULL
   }

private:
   std::optional<int32_t> connectionLimit() const {
      const auto found = options_.find("connectionlimit");
      if (found == options_.end()) return std::nullopt;
      return as<::Integer>(found->second->arg)->ival;
   }

   std::map<std::string_view, const ::DefElem*> options_;
};

void requireMayCreate(const Actor& actor, const RoleOptions& options) {
   if (options.isTrue("superuser"))
      requireRight(actor.isSuperuser, "must be superuser to create superusers");
   else if (options.isTrue("isreplication"))
      requireRight(actor.isSuperuser, "must be superuser to create replication users");
   else if (options.isTrue("bypassrls"))
      requireRight(actor.isSuperuser, "must be superuser to create bypassrls users");
   else
      requireRight(actor.createsRoles, "permission denied to create role");
}

void requireMayAlter(const Actor& actor, const catalog::Role& role, const RoleOptions& options) {
   if (role.isSuperuser || options.has("superuser"))
      requireRight(actor.isSuperuser, "must be superuser to alter superuser roles or change superuser attribute");
   else if (role.canReplicate || options.has("isreplication"))
      requireRight(actor.isSuperuser, "must be superuser to alter replication roles or change replication attribute");
   else if (options.has("bypassrls"))
      requireRight(actor.isSuperuser, "must be superuser to change bypassrls attribute");
   else if (!actor.createsRoles) // everybody may change the own password, and nothing else
      requireRight(role.oid == actor.current && options.has("password") && !options.hasOtherThan("password"),
                   "permission denied");
}

} // namespace

std::string createRole(CommandContext& context, const ::CreateRoleStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE ROLE");
   const RoleOptions options(context, statement.options);
   const Actor actor = actorOf(core);
   requireMayCreate(actor, options);
   catalog::Role role;
   role.name = statement.role;
   role.canLogin = statement.stmt_type == ROLESTMT_USER;
   requireNotReserved(role.name, reservedPrefix);
   if (core.transaction.catalog().findRole(role.name))
      throw SqlError(sqlstate::duplicateObject, "role \"" + role.name + "\" already exists");
   options.applyTo(role, core);
   const catalog::RolePtr created =
       core.transaction.catalog().role(core.transaction.editor().createRole(std::move(role)));
   for (const ::RoleSpec* group : ListOf<::RoleSpec>(options.roles("addroleto")))
      addMembers(core, *existingRole(core, *group), {created}, actor.current, false);
   addMembers(core, *created, existingRoles(core, options.roles("adminmembers")), actor.current, true);
   addMembers(core, *created, existingRoles(core, options.roles("rolemembers")), actor.current, false);
   return "CREATE ROLE";
}

std::string alterRole(CommandContext& context, const ::AlterRoleStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER ROLE");
   if (statement.role->roletype == ROLESPEC_CSTRING)
      requireNotReserved(statement.role->rolename, "Cannot alter reserved roles.");
   const RoleOptions options(context, statement.options);
   catalog::Role role = *existingRole(core, *statement.role);
   const Actor actor = actorOf(core);
   requireMayAlter(actor, role, options);
   const Oid oid = role.oid;
   if (options.hasOtherThan("rolemembers")) {
      options.applyTo(role, core);
      core.transaction.editor().replaceRole(std::move(role));
   }
   if (options.has("rolemembers")) { // ALTER GROUP ... ADD USER, DROP USER
      const catalog::RolePtr group = core.transaction.catalog().role(oid);
      const auto members = existingRoles(core, options.roles("rolemembers"));
      if (statement.action > 0)
         addMembers(core, *group, members, actor.current, false);
      else
         removeMembers(core, *group, members, false);
   }
   return "ALTER ROLE";
}

namespace {

/// What the audit watches goes by the name of a role.
void requireNotAuditRole(SessionCore& core, const Actor& actor, const std::string& name) {
   requireRight(actor.isSuperuser || core.settings.value("ouzel.audit_role") != name,
                "must be superuser to rename or drop the role of ouzel.audit_role");
}

} // namespace

std::string dropRole(CommandContext& context, const ::DropRoleStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP ROLE");
   const Actor actor = actorOf(core);
   requireRight(actor.createsRoles, "permission denied to drop role");
   for (const ::RoleSpec* listed : ListOf<::RoleSpec>(statement.roles)) {
      if (listed->roletype != ROLESPEC_CSTRING)
         throw SqlError(sqlstate::invalidParameterValue, "cannot use special role specifier in DROP ROLE");
      const std::string name = listed->rolename;
      if (statement.missing_ok && !core.transaction.catalog().findRole(name)) {
         core.notice("role \"" + name + "\" does not exist, skipping");
         continue;
      }
      const catalog::RolePtr role = existingRole(core.transaction.catalog(), name);
      if (role->oid == actor.current) throw SqlError(sqlstate::objectInUse, "current user cannot be dropped");
      if (role->oid == actor.session) throw SqlError(sqlstate::objectInUse, "session user cannot be dropped");
      requireRight(!role->isSuperuser || actor.isSuperuser, "must be superuser to drop superusers");
      requireNotAuditRole(core, actor, name);
      core.transaction.editor().dropRole(name, false);
   }
   return "DROP ROLE";
}

std::string renameRole(CommandContext& context, const ::RenameStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER ROLE");
   catalog::Role role = *existingRole(core.transaction.catalog(), statement.subname);
   const Actor actor = actorOf(core);
   if (role.oid == actor.session) throw SqlError(sqlstate::featureNotSupported, "session user cannot be renamed");
   if (role.oid == actor.current) throw SqlError(sqlstate::featureNotSupported, "current user cannot be renamed");
   requireNotReserved(role.name, reservedPrefix);
   requireNotReserved(statement.newname, reservedPrefix);
   if (core.transaction.catalog().findRole(statement.newname))
      throw SqlError(sqlstate::duplicateObject, "role \"" + std::string(statement.newname) + "\" already exists");
   requireRight(!role.isSuperuser || actor.isSuperuser, "must be superuser to rename superusers");
   requireRight(actor.createsRoles, "permission denied to rename role");
   requireNotAuditRole(core, actor, role.name);
   role.name = statement.newname;
   if (isMd5Password(role.verifier)) { // its salt is the role's name
      core.notice("MD5 password cleared because of role rename");
      role.verifier.clear();
   }
   core.transaction.editor().replaceRole(std::move(role));
   return "ALTER ROLE";
}

void requireMayComment(SessionCore& core, const catalog::Role& role) {
   const Actor actor = actorOf(core);
   requireRight(!role.isSuperuser || actor.isSuperuser, "must be superuser");
   requireRight(actor.createsRoles, "must have CREATEROLE privilege");
}

} // namespace ouzel::engine
