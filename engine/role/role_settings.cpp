#include <algorithm>

#include "catalog/object/acl.hpp"
#include "common/text/ascii.hpp"
#include "engine/core/database_lock.hpp"
#include "engine/core/privileges.hpp"
#include "engine/role/actor.hpp"
#include "engine/role/role.hpp"
#include "engine/setting/set_statement.hpp"
#include "sql/parse/node_access.hpp"

// ALTER ROLE ... SET and ALTER DATABASE ... SET: settings with which sessions begin (SessionCore::adoptStoredSettings).

namespace ouzel::engine {

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

/// Whether the actor may store the setting for others: custom ones only as a superuser, for nobody knows who reads
/// them.
bool mayStore(const Actor& actor, std::string_view name) {
   const SettingInfo* info = findSetting(name);
   return actor.isSuperuser || (info && info->context == "user");
}

/// The table's spelling of a name; custom names stay as they are written.
std::string spelled(std::string_view name) {
   const SettingInfo* info = findSetting(name);
   return std::string(info ? info->name : name);
}

/// The new value of SET; nullopt: RESET. Throws what SET and RESET would throw.
std::optional<std::string> checkedValue(SessionCore& core, const Actor& actor, const ::VariableSetStmt& statement) {
   // ALTER ROLE ... SET TRANSACTION has a word of the grammar where others have a name.
   const std::string name = spelled(statement.name);
   core.settings.check(name, std::nullopt);
   if (!mayStore(actor, name))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied to set parameter \"" + name + "\"");
   std::optional<std::string> value;
   if (statement.kind == VAR_SET_CURRENT) value = core.settings.show(name);
   if (statement.kind == VAR_SET_VALUE) value = valueOf(statement);
   if (!value) return value;
   if (name == "session_authorization") throwNotSupported("ALTER ROLE ... SET session_authorization");
   if (name == "transaction_isolation")
      throw SqlError(sqlstate::activeSqlTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query");
   if (name == "transaction_deferrable")
      throw SqlError(sqlstate::activeSqlTransaction,
                     "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
   // Whether the role may become the other one is seen when a session begins.
   if (name == "role" && *value != "none" && !core.transaction.catalog().findRole(*value))
      core.notice("role \"" + *value + "\" does not exist", {}, sqlstate::undefinedObject);
   core.settings.check(name, value);
   return value;
}

void changeSettings(SessionCore& core, const Actor& actor, Oid database, Oid role, const ::VariableSetStmt& statement) {
   Values values = core.transaction.catalog().settingsFor(database, role);
   const bool sets = statement.kind == VAR_SET_VALUE || statement.kind == VAR_SET_CURRENT;
   if (!sets && values.empty()) return; // RESET does not even ask for the name then
   if (statement.kind == VAR_RESET_ALL) {
      std::erase_if(values, [&](const auto& value) { return mayStore(actor, value.first); });
   } else {
      const std::optional<std::string> value = checkedValue(core, actor, statement);
      const std::string name = spelled(statement.name);
      const auto known = std::find_if(values.begin(), values.end(),
                                      [&](const auto& v) { return lowerCase(v.first) == lowerCase(name); });
      if (value && known != values.end())
         known->second = *value;
      else if (value)
         values.emplace_back(name, *value);
      else if (known != values.end())
         values.erase(known);
   }
   core.transaction.editor().setSettings(database, role, std::move(values));
}

} // namespace

std::string alterRoleSettings(CommandContext& context, const ::AlterRoleSetStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER ROLE");
   const Actor actor = actorOf(core);
   Oid role = invalidOid, database = invalidOid; // of ALTER ROLE ALL, and without IN DATABASE
   if (statement.role) {
      if (statement.role->roletype == ROLESPEC_CSTRING)
         requireNotReserved(statement.role->rolename, "Cannot alter reserved roles.");
      const catalog::RolePtr found = existingRole(core, *statement.role);
      role = found->oid;
      requireRight(!found->isSuperuser || actor.isSuperuser, "must be superuser to alter superusers");
      requireRight(actor.createsRoles || role == actor.current, "permission denied");
   }
   if (statement.database) {
      const catalog::DatabasePtr found = requireDatabase(core, statement.database, LockMode::AccessShare);
      database = found->oid;
      if (!statement.role) requireOwner(core, *found);
   }
   if (!statement.role && !statement.database)
      requireRight(actor.isSuperuser, "must be superuser to alter settings globally");
   changeSettings(core, actor, database, role, *statement.setstmt);
   return "ALTER ROLE";
}

std::string alterDatabaseSettings(CommandContext& context, const ::AlterDatabaseSetStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER DATABASE");
   const Actor actor = actorOf(core);
   const catalog::DatabasePtr database = requireDatabase(core, statement.dbname, LockMode::AccessShare);
   requireOwner(core, *database);
   changeSettings(core, actor, database->oid, invalidOid, *statement.setstmt);
   return "ALTER DATABASE";
}

} // namespace ouzel::engine
