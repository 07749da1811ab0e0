#include <algorithm>

#include "engine/core/privileges.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/foreign/options.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// CREATE, ALTER and DROP USER MAPPING. Mappings are parts of their server.

namespace ouzel::engine {

using catalog::ForeignServer;

namespace {

/// Whose mapping a statement means, and how messages call it.
struct MappedUser {
   Oid role = invalidOid;
   std::string name = "public";
};
MappedUser userOf(SessionCore& core, const ::RoleSpec& spec) {
   if (spec.roletype == ROLESPEC_PUBLIC) return {};
   const catalog::RolePtr role = existingRole(core, spec);
   return {role->oid, role->name};
}

/// The owner of a server maps everybody to it; who may use it maps himself.
void requireMayMap(SessionCore& core, const ForeignServer& server, Oid role) {
   if (actsFor(core, server.owner)) return;
   if (role != core.role()) requireOwner(core, server);
   requireUsage(core, server);
}

std::string missingMapping(const MappedUser& user, const ForeignServer& server) {
   return "user mapping for \"" + user.name + "\" does not exist for server \"" + server.name + "\"";
}

void eraseMapping(ForeignServer& server, Oid role) {
   std::erase_if(server.mappings, [role](const ForeignServer::Mapping& mapping) { return mapping.role == role; });
}

} // namespace

std::string createUserMapping(CommandContext& context, const ::CreateUserMappingStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE USER MAPPING");
   const MappedUser user = userOf(core, *statement.user);
   ForeignServer server = *catalog::requireServer(core.transaction.catalog(), statement.servername);
   requireMayMap(core, server, user.role);
   if (server.mappingOf(user.role)) {
      const std::string message =
          "user mapping for \"" + user.name + "\" already exists for server \"" + server.name + "\"";
      if (!statement.if_not_exists) throw SqlError(sqlstate::duplicateObject, message);
      core.notice(message + ", skipping", {}, sqlstate::duplicateObject);
      return "CREATE USER MAPPING";
   }
   ForeignServer::Mapping mapping;
   mapping.role = user.role;
   mapping.options = validatedOptions(core, *core.transaction.catalog().wrapper(server.wrapper),
                                      catalog::class_oid::pgUserMapping, {}, statement.options);
   mapping.oid = core.transaction.editor().allocateOid();
   server.mappings.push_back(std::move(mapping));
   core.transaction.editor().replaceServer(std::move(server));
   return "CREATE USER MAPPING";
}

std::string alterUserMapping(CommandContext& context, const ::AlterUserMappingStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER USER MAPPING");
   const MappedUser user = userOf(core, *statement.user);
   ForeignServer server = *catalog::requireServer(core.transaction.catalog(), statement.servername);
   if (!server.mappingOf(user.role)) throw SqlError(sqlstate::undefinedObject, missingMapping(user, server));
   requireMayMap(core, server, user.role);
   const catalog::ForeignWrapperPtr wrapper = core.transaction.catalog().wrapper(server.wrapper);
   for (ForeignServer::Mapping& mapping : server.mappings)
      if (mapping.role == user.role)
         mapping.options = validatedOptions(core, *wrapper, catalog::class_oid::pgUserMapping,
                                            std::move(mapping.options), statement.options);
   core.transaction.editor().replaceServer(std::move(server));
   return "ALTER USER MAPPING";
}

std::string dropUserMapping(CommandContext& context, const ::DropUserMappingStmt& statement) {
   SessionCore& core = context.core;
   constexpr const char* tag = "DROP USER MAPPING";
   requireWritable(core, tag);
   const ::RoleSpec& spec = *statement.user;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (statement.missing_ok && spec.roletype == ROLESPEC_CSTRING && !snapshot.findRole(spec.rolename)) {
      core.notice("role \"" + std::string(spec.rolename) + "\" does not exist, skipping");
      return tag;
   }
   const MappedUser user = userOf(core, spec);
   if (statement.missing_ok && !snapshot.findServer(statement.servername)) {
      core.notice("server \"" + std::string(statement.servername) + "\" does not exist, skipping");
      return tag;
   }
   ForeignServer server = *catalog::requireServer(snapshot, statement.servername);
   if (!server.mappingOf(user.role)) {
      const std::string message = missingMapping(user, server);
      if (!statement.missing_ok) throw SqlError(sqlstate::undefinedObject, message);
      core.notice(message + ", skipping");
      return tag;
   }
   requireMayMap(core, server, user.role);
   eraseMapping(server, user.role);
   core.transaction.editor().replaceServer(std::move(server));
   return tag;
}

void dropMappingsOf(SessionCore& core, Oid role) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const catalog::ServerPtr& server : snapshot.servers()) {
      if (!server->mappingOf(role)) continue;
      ForeignServer changed = *server;
      eraseMapping(changed, role);
      core.transaction.editor().replaceServer(std::move(changed));
   }
}

} // namespace ouzel::engine
