#include <algorithm>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/foreign/options.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// CREATE, ALTER and DROP SERVER.

namespace ouzel::engine {

using catalog::ForeignServer;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

void giveTo(SessionCore& core, const ForeignServer& server, Oid owner) {
   ForeignServer changed = server;
   changed.acl = catalog::handedOver(changed.acl, server.owner, owner);
   changed.owner = owner;
   core.transaction.editor().replaceServer(std::move(changed));
}

} // namespace

void requireOwner(SessionCore& core, const ForeignServer& server) {
   requireRight(actsFor(core, server.owner), "must be owner of foreign server " + server.name);
}

void requireUsage(SessionCore& core, const ForeignServer& server) {
   constexpr uint32_t usage = catalog::privilege::usage;
   requireRight(catalog::held(core.transaction.catalog(), core.role(), server.owner, server.acl,
                              catalog::AclKind::Server, usage) == usage,
                "permission denied for foreign server " + server.name);
}

std::string createServer(CommandContext& context, const ::CreateForeignServerStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE SERVER");
   ForeignServer server;
   server.name = statement.servername;
   if (core.transaction.catalog().findServer(server.name)) {
      const std::string message = "server \"" + server.name + "\" already exists";
      if (!statement.if_not_exists) throw SqlError(sqlstate::duplicateObject, message);
      core.notice(message + ", skipping", {}, sqlstate::duplicateObject);
      return "CREATE SERVER";
   }
   const catalog::ForeignWrapperPtr wrapper = catalog::requireWrapper(core.transaction.catalog(), statement.fdwname);
   requireUsage(core, *wrapper, core.role());
   server.wrapper = wrapper->oid;
   server.database = core.transaction.catalog().database();
   server.owner = core.role();
   server.type = textOf(statement.servertype);
   server.version = textOf(statement.version);
   server.options = validatedOptions(core, *wrapper, catalog::class_oid::pgForeignServer, {}, statement.options);
   server.oid = core.transaction.editor().allocateOid();
   core.transaction.editor().replaceServer(std::move(server));
   return "CREATE SERVER";
}

std::string alterServer(CommandContext& context, const ::AlterForeignServerStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER SERVER");
   ForeignServer server = *catalog::requireServer(core.transaction.catalog(), statement.servername);
   requireOwner(core, server);
   const catalog::ForeignWrapperPtr wrapper = core.transaction.catalog().wrapper(server.wrapper);
   // Where a server of s3 is decides to whom the objects of other roles go.
   if (statement.options && wrapper->isBuiltin()) requireUsage(core, *wrapper, core.role());
   if (statement.has_version) server.version = textOf(statement.version);
   if (statement.options)
      server.options = validatedOptions(core, *wrapper, catalog::class_oid::pgForeignServer, std::move(server.options),
                                        statement.options);
   core.transaction.editor().replaceServer(std::move(server));
   return "ALTER SERVER";
}

std::string dropServers(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP SERVER");
   catalog::DropTargets targets;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      if (statement.missing_ok && !core.transaction.catalog().findServer(name)) {
         core.notice("server \"" + name + "\" does not exist, skipping");
         continue;
      }
      const catalog::ServerPtr server = catalog::requireServer(core.transaction.catalog(), name);
      requireOwner(core, *server);
      targets.servers.push_back(server->oid);
   }
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (targets.count() > 0) announceAndFree(core, core.transaction.editor().dropTogether(targets, behavior));
   return "DROP SERVER";
}

void renameServer(SessionCore& core, std::string_view name, std::string newName) {
   ForeignServer server = *catalog::requireServer(core.transaction.catalog(), name);
   requireOwner(core, server);
   server.name = std::move(newName);
   core.transaction.editor().replaceServer(std::move(server));
}

void changeServerOwner(SessionCore& core, std::string_view name, Oid owner) {
   const catalog::ServerPtr server = catalog::requireServer(core.transaction.catalog(), name);
   if (server->owner == owner) return;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (!catalog::isSuperuser(snapshot, core.role())) {
      requireOwner(core, *server);
      requireRight(catalog::isMemberOf(snapshot, core.role(), owner),
                   "must be member of role \"" + snapshot.role(owner)->name + "\"");
      requireUsage(core, *snapshot.wrapper(server->wrapper), owner);
   }
   giveTo(core, *server, owner);
}

void commentOnServer(SessionCore& core, std::string_view name, const std::string& text) {
   const catalog::ServerPtr server = catalog::requireServer(core.transaction.catalog(), name);
   requireOwner(core, *server);
   core.transaction.editor().setComment(catalog::class_oid::pgForeignServer, server->oid, 0, text);
}

void reassignServers(SessionCore& core, Oid from, Oid to) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const catalog::ServerPtr& server : snapshot.servers())
      if (server->owner == from) giveTo(core, *server, to);
}

} // namespace ouzel::engine
