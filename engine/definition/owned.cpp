#include "engine/definition/owned.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/collation/collation.hpp"
#include "engine/definition/event_trigger/event_trigger.hpp"
#include "engine/definition/extension/extension.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/language/language.hpp"
#include "engine/definition/operator/operator.hpp"
#include "engine/definition/publication/publication.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/definition/text_search/text_search.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/role/actor.hpp"
#include "engine/role/default_privileges.hpp"
#include "engine/role/grant.hpp"
#include "engine/role/large_object.hpp"
#include "engine/role/policy.hpp"
#include "sql/parse/node_access.hpp"

// REASSIGN OWNED and DROP OWNED: all that roles own in the session's database. Databases change their owner, too, but
// are not dropped.

namespace ouzel::engine {

namespace {

/// Throws 42501 unless who acts has the privileges of the roles.
void requireActsFor(SessionCore& core, const std::vector<catalog::RolePtr>& roles, const char* message) {
   for (const catalog::RolePtr& role : roles)
      requireRight(actsFor(core, role->oid), message);
}

/// Throws 2BP01 for the roles that every cluster has.
void requireNotPinned(const catalog::Role& role, const std::string& action) {
   if (role.oid < firstUserOid)
      throw SqlError(sqlstate::dependentObjectsStillExist, "cannot " + action + " objects owned by role " + role.name +
                                                               " because they are required by the database system");
}

void reassign(SessionCore& core, Oid from, Oid to) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::Snapshot snapshot = editor.snapshot();
   for (const auto& schema : snapshot.schemas()) {
      if (schema->owner != from) continue;
      requireDatabasePrivilege(core, catalog::privilege::create);
      setOwner(editor, *schema, to);
   }
   for (const catalog::RelationPtr& relation : snapshot.relations()) {
      if (relation->owner != from || relation->isBuiltin()) continue;
      core.transaction.lock(relation->oid, LockMode::AccessExclusive);
      setOwner(editor, *relation, to);
   }
   reassignWrappers(core, from, to);
   reassignServers(core, from, to);
   reassignStatistics(core, from, to);
   reassignCollations(core, from, to);
   reassignTextSearch(core, from, to);
   reassignFunctions(core, from, to);
   reassignOperators(core, from, to);
   reassignEventTriggers(core, from, to);
   reassignPublications(core, from, to);
   reassignLanguages(core, from, to);
   reassignExtensions(core, from, to);
   reassignLargeObjects(core, from, to);
   for (const auto& database : editor.snapshot().databases()) {
      if (database->owner != from) continue;
      catalog::Database changed = *database;
      changed.owner = to;
      changed.acl = catalog::handedOver(changed.acl, from, to);
      editor.replaceDatabase(std::move(changed));
   }
}

/// Adds what a role owns, without the parts of tables.
void addOwned(SessionCore& core, Oid role, catalog::DropTargets& owned) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const auto& schema : snapshot.schemas())
      if (schema->owner == role) owned.schemas.push_back(schema->oid);
   for (const catalog::RelationPtr& relation : snapshot.relations()) {
      const bool isPart = relation->index || (relation->sequence && relation->sequence->ownerRelation != invalidOid) ||
                          relation->relationKind == catalog::RelationKind::Multirange;
      if (relation->owner == role && !relation->isBuiltin() && !isPart) owned.relations.push_back(relation->oid);
   }
   for (const catalog::CollationPtr& collation : snapshot.collations())
      if (collation->owner == role) owned.collations.push_back(collation->oid);
   for (const catalog::ObjectKind kind :
        {catalog::ObjectKind::TextSearchConfiguration, catalog::ObjectKind::TextSearchDictionary})
      for (const catalog::TextSearchPtr& object : snapshot.textSearchObjects(kind))
         if (object->owner == role) owned.textSearch.push_back(object);
   for (const catalog::FunctionPtr& function : snapshot.functions())
      if (function->owner == role) owned.functions.push_back(function->oid);
   for (const catalog::Language& language : snapshot.database(snapshot.database())->languages)
      if (language.owner == role) owned.languages.push_back(language.oid);
   for (const catalog::OperatorPtr& op : snapshot.operators())
      if (op->owner == role) owned.operators.push_back(op->oid);
   for (const catalog::ExtensionPtr& extension : snapshot.extensions())
      if (extension->owner == role) owned.extensions.push_back(extension->oid);
   for (const catalog::ForeignWrapperPtr& wrapper : snapshot.wrappers())
      if (wrapper->owner == role) owned.wrappers.push_back(wrapper->oid);
   for (const catalog::ServerPtr& server : snapshot.servers())
      if (server->owner == role) owned.servers.push_back(server->oid);
}

/// Locks what falls. Throws 0A000 for types whose names may stand in texts.
void lockOwned(SessionCore& core, const catalog::DropTargets& owned) {
   const auto has = [](const std::vector<Oid>& oids, Oid oid) {
      return std::find(oids.begin(), oids.end(), oid) != oids.end();
   };
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& relation : snapshot.relations()) {
      const bool isOwned = has(owned.relations, relation->oid);
      if (!isOwned && !has(owned.schemas, relation->schema)) continue;
      core.transaction.lock(relation->oid, LockMode::AccessExclusive);
      if (isOwned && catalog::isUserType(*relation)) requireNotInTexts(core, relation->name, false, "dropping a type");
   }
   for (const catalog::CollationPtr& collation : snapshot.collations())
      if (has(owned.collations, collation->oid) || has(owned.schemas, collation->schema)) lockUsers(core, *collation);
}

} // namespace

std::string reassignOwned(CommandContext& context, const ::ReassignOwnedStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "REASSIGN OWNED");
   constexpr const char* denied = "permission denied to reassign objects";
   const std::vector<catalog::RolePtr> roles = existingRoles(core, statement.roles);
   requireActsFor(core, roles, denied);
   const catalog::RolePtr to = existingRole(core, *statement.newrole);
   requireActsFor(core, {to}, denied);
   for (const catalog::RolePtr& role : roles) {
      requireNotPinned(*role, "reassign ownership of");
      if (role->oid != to->oid) reassign(core, role->oid, to->oid);
   }
   return "REASSIGN OWNED";
}

std::string dropOwned(CommandContext& context, const ::DropOwnedStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP OWNED");
   const std::vector<catalog::RolePtr> roles = existingRoles(core, statement.roles);
   requireActsFor(core, roles, "permission denied to drop objects");
   catalog::DropTargets owned;
   std::set<Oid> seen; // DROP OWNED BY a, a
   for (const catalog::RolePtr& role : roles) {
      requireNotPinned(*role, "drop");
      if (!seen.insert(role->oid).second) continue;
      revokeEverything(core, role->oid);
      removeFromPolicies(core, role->oid);
      removeDefaultPrivileges(core, role->oid);
      dropMappingsOf(core, role->oid);
      dropStatisticsOf(core, role->oid);
      dropEventTriggersOf(core, role->oid);
      dropPublicationsOf(core, role->oid);
      dropLargeObjectsOf(core, role->oid);
      addOwned(core, role->oid, owned);
   }
   if (owned.count() == 0) return "DROP OWNED";
   lockOwned(core, owned);
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   announceAndFree(core, core.transaction.editor().dropTogether(owned, behavior));
   return "DROP OWNED";
}

} // namespace ouzel::engine
