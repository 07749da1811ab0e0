#include "engine/core/privileges.hpp"

#include <algorithm>

#include "catalog/object/function_text.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "engine/core/touched_relations.hpp"

namespace ouzel::engine {

namespace {

namespace p = catalog::privilege;

[[noreturn]] void deny(const std::string& what) {
   throw SqlError(sqlstate::insufficientPrivilege, "permission denied for " + what);
}

std::string nameOf(const catalog::Relation& relation) {
   return std::string(catalog::relationKindName(relation)) + " " + relation.name;
}

/// Whether `role` holds a privilege on all these columns; of none on any column.
bool holdsOnColumns(const catalog::Snapshot& snapshot, Oid role, const catalog::Relation& relation,
                    std::vector<int16_t> attributes, uint32_t privilege) {
   const auto isHeld = [&](const catalog::Column& column) {
      return column.acl && catalog::held(snapshot, role, relation.owner, column.acl, catalog::AclKind::Column,
                                         privilege) == privilege;
   };
   if (attributes.empty())
      return std::any_of(relation.columns.begin(), relation.columns.end(),
                         [&](const catalog::Column& column) { return !column.isDropped && isHeld(column); });
   std::sort(attributes.begin(), attributes.end());
   attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
   return std::all_of(attributes.begin(), attributes.end(), [&](int16_t attribute) {
      const catalog::Column* column = relation.column(attribute);
      return column && isHeld(*column);
   });
}

bool isAllowed(const catalog::Snapshot& snapshot, Oid role, const catalog::Relation& relation,
               const sql::RelationAccess& access) {
   if (catalog::mayUse(snapshot, role, relation, access.privileges)) return true;
   for (uint32_t bit = 1; bit <= access.privileges; bit <<= 1) {
      if ((access.privileges & bit) == 0 || catalog::mayUse(snapshot, role, relation, bit)) continue;
      const std::vector<int16_t>* attributes = bit == p::select   ? &access.selected
                                               : bit == p::insert ? &access.inserted
                                               : bit == p::update ? &access.updated
                                                                  : nullptr;
      if (!attributes || !holdsOnColumns(snapshot, role, relation, *attributes, bit)) return false;
   }
   return true;
}

} // namespace

void requireExecute(const catalog::Snapshot& snapshot, Oid role, Oid function) {
   if (const catalog::FunctionPtr own = snapshot.function(function)) {
      if (!catalog::mayUse(snapshot, role, *own))
         deny(std::string(catalog::routineNoun(own->functionKind)) + " " + own->name);
      return;
   }
   const catalog::FunctionInfo* builtin = catalog::builtins().function(function);
   if (!builtin) return;
   const catalog::Acl acl = catalog::systemAcl(snapshot, catalog::class_oid::pgProc, function);
   if (catalog::held(snapshot, role, catalog::bootstrapRole, acl, catalog::AclKind::Function, p::execute) == 0)
      deny("function " + std::string(builtin->name));
}

void requireLanguage(SessionCore& core, Oid language) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (core.isServer() || core.madeExtension) return;
   if (const catalog::Language* made = catalog::userLanguage(snapshot, language)) {
      if (made->isTrusted
              ? catalog::held(snapshot, core.role(), made->owner, made->acl, catalog::AclKind::Language, p::usage) == 0
              : !catalog::isSuperuser(snapshot, core.role()))
         deny("language " + made->name);
      return;
   }
   const catalog::Acl acl = catalog::systemAcl(snapshot, catalog::class_oid::pgLanguage, language);
   const bool isTrusted = language != catalog::language_oid::internal && language != catalog::language_oid::c;
   if (isTrusted ? catalog::held(snapshot, core.role(), catalog::bootstrapRole, acl, catalog::AclKind::Language,
                                 p::usage) == 0
                 : !catalog::isSuperuser(snapshot, core.role()))
      deny("language " + std::string(catalog::languageName(language)));
}

void requireAccess(SessionCore& core, const std::vector<sql::RelationAccess>& accesses) {
   if (core.isServer()) return;
   if (core.touched) core.touched->note(core, accesses);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const Oid user = core.role();
   for (const sql::RelationAccess& access : accesses) {
      if ((access.privileges & p::execute) != 0) {
         requireExecute(snapshot, access.role == invalidOid ? user : access.role, access.relation);
         continue;
      }
      const catalog::RelationPtr relation = snapshot.relation(access.relation);
      if (!relation || access.privileges == 0) continue;
      if (!isAllowed(snapshot, access.role == invalidOid ? user : access.role, *relation, access))
         deny(nameOf(*relation));
   }
}

void requirePrivilege(SessionCore& core, const catalog::Relation& relation, uint32_t wanted) {
   if (core.touched && !core.isServer()) core.touched->note(core, relation, wanted);
   if (!catalog::mayUse(core.transaction.catalog(), core.role(), relation, wanted)) deny(nameOf(relation));
}

bool mayExamineSettings(SessionCore& core) {
   constexpr Oid readAllSettings = 3374; // pg_authid.dat
   return catalog::hasRole(core.transaction.catalog(), core.role(), readAllSettings, "USAGE");
}

std::string examineSetting(SessionCore& core, std::string_view name) {
   const SettingInfo* info = findSetting(name);
   if (info && info->isPrivileged && !mayExamineSettings(core))
      throw SqlError(sqlstate::insufficientPrivilege,
                     "must be superuser or have privileges of pg_read_all_settings to examine \"" +
                         std::string(info->name) + "\"");
   return core.settings.show(name);
}

bool actsFor(SessionCore& core, Oid owner) {
   return catalog::ownsObject(core.transaction.catalog(), core.role(), owner);
}

void requireOwner(SessionCore& core, const catalog::Relation& relation) {
   if (core.touched && !core.isServer()) core.touched->note(core, relation, "OWNER");
   if (!actsFor(core, relation.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of " + nameOf(relation));
}

void requireOwner(SessionCore& core, const catalog::Schema& schema) {
   if (!actsFor(core, schema.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of schema " + schema.name);
}

void requireOwner(SessionCore& core, const catalog::Database& database) {
   if (!actsFor(core, database.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of database " + database.name);
}

void requireDroppable(SessionCore& core, const catalog::Relation& relation) {
   if (core.touched && !core.isServer()) core.touched->note(core, relation, "OWNER");
   const auto schema = core.transaction.catalog().schema(relation.schema);
   if (!schema || !actsFor(core, schema->owner)) requireOwner(core, relation);
}

void requirePrivilege(SessionCore& core, const catalog::Schema& schema, uint32_t wanted) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (schema.oid == core.temporarySchema()) { // belongs to the session, whoever acts
      const auto database = snapshot.database(snapshot.database());
      if (wanted == p::usage || !database || catalog::mayUse(snapshot, core.role(), *database, p::createTemp)) return;
   }
   if (!catalog::mayUse(snapshot, core.role(), schema, wanted)) deny("schema " + schema.name);
}

void requireDatabasePrivilege(SessionCore& core, uint32_t wanted) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const auto database = snapshot.database(snapshot.database());
   if (!database || catalog::mayUse(snapshot, core.role(), *database, wanted)) return;
   if (wanted == p::createTemp)
      throw SqlError(sqlstate::insufficientPrivilege,
                     "permission denied to create temporary tables in database \"" + database->name + "\"");
   deny("database " + database->name);
}

// ---- who acts ----

namespace {

/// Settings are set outside of transactions, too.
catalog::Snapshot catalogOf(SessionCore& core) {
   return core.transaction.isOpen() ? core.transaction.catalog()
                                    : core.database.catalog->newest().inDatabase(core.options.databaseOid);
}

bool isSuperuser(SessionCore& core, const catalog::Snapshot& snapshot, const std::string& name) {
   return catalog::isSuperuser(snapshot, core.roleNamed(snapshot, name));
}

} // namespace

void noteRole(SessionCore& core) {
   core.settings.force("is_superuser", isSuperuser(core, catalogOf(core), core.user()) ? "on" : "off");
}

void requireSettable(SessionCore& core, std::string_view setting) {
   const SettingInfo* info = findSetting(setting);
   if (!info || info->context != "superuser" || isSuperuser(core, catalogOf(core), core.user())) return;
   throw SqlError(sqlstate::insufficientPrivilege,
                  "permission denied to set parameter \"" + std::string(info->name) + "\"");
}

namespace {

/// Throws 22023 for a role that does not exist.
void requireMayBecome(SessionCore& core, const catalog::Snapshot& snapshot, std::string_view setting,
                      const std::string& name) {
   const bool isRole = setting == "role";
   if (isRole && name == "none") return;
   const auto wanted = snapshot.findRole(name);
   if (!wanted) throw SqlError(sqlstate::invalidParameterValue, "role \"" + name + "\" does not exist");
   if (isRole && !catalog::maySetRole(snapshot, core.roleNamed(snapshot, core.sessionUser()), wanted->oid))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied to set role \"" + name + "\"");
   // Who logged in as a superuser may become anybody, and others only themselves.
   if (!isRole && name != core.options.user && !isSuperuser(core, snapshot, core.options.user))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied to set session authorization");
}

} // namespace

bool setRole(SessionCore& core, std::string_view setting, const std::string& name, bool isLocal) {
   const bool isRole = setting == "role";
   if (!isRole && setting != "session_authorization") return false;
   if (core.definers > 0)
      throw SqlError(sqlstate::insufficientPrivilege,
                     "cannot set parameter \"" + std::string(setting) + "\" within security-definer function");
   const catalog::Snapshot snapshot = catalogOf(core);
   requireMayBecome(core, snapshot, setting, name);
   core.noteRoleName(snapshot, name);
   core.settings.set(setting, name, isLocal);
   if (!isRole) core.settings.set("role", "none", isLocal);
   noteRole(core);
   return true;
}

void actAs(SessionCore& core, const std::string& role) {
   core.noteRoleName(catalogOf(core), role);
   core.settings.set("role", role, true);
}

void requireSuperuser(SessionCore& core, const std::string& message) {
   if (!catalog::isSuperuser(core.transaction.catalog(), core.role()))
      throw SqlError(sqlstate::insufficientPrivilege, message);
}

} // namespace ouzel::engine
