#include "engine/role/foreign_server.hpp"

#include <algorithm>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/query/external_files.hpp"
#include "engine/role/actor.hpp"
#include "io/format/file_set.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::ForeignServer;
using sql::as;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

constexpr std::string_view serverOptions[] = {"endpoint", "path_style", "region", "url"};
constexpr std::string_view mappingOptions[] = {"access_key_id", "secret_access_key", "session_token"};

void requireKnown(std::string_view name, std::span<const std::string_view> known) {
   if (std::find(known.begin(), known.end(), name) != known.end()) return;
   std::string list;
   for (const std::string_view one : known)
      list += (list.empty() ? "" : ", ") + std::string(one);
   throw SqlError(sqlstate::fdwInvalidOptionName, "invalid option \"" + std::string(name) + "\"")
       .hint("Valid options in this context are: " + list);
}

/// What OPTIONS (...) makes of a list: ADD, SET, DROP.
void changeOptions(ForeignServer::Options& options, const ::List* list, std::span<const std::string_view> known) {
   for (const ::DefElem* element : ListOf<::DefElem>(list)) {
      const std::string name = element->defname;
      const auto at = std::find_if(options.begin(), options.end(), [&](const auto& one) { return one.first == name; });
      const bool isThere = at != options.end();
      if (element->defaction == DEFELEM_SET || element->defaction == DEFELEM_DROP) {
         if (!isThere) throw SqlError(sqlstate::undefinedObject, "option \"" + name + "\" not found");
         if (element->defaction == DEFELEM_DROP)
            options.erase(at);
         else
            at->second = std::string(stringOf(element->arg));
         continue;
      }
      if (isThere) throw SqlError(sqlstate::duplicateObject, "option \"" + name + "\" provided more than once");
      options.emplace_back(name, std::string(stringOf(element->arg)));
   }
   for (const auto& [name, value] : options)
      requireKnown(name, known);
}

/// Options go into requests, whose lines they must not break.
bool isPrintable(std::string_view text) {
   return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

/// Throws 22023 or HV00J unless the options say where the server is.
void checkAddress(const ForeignServer& server) {
   const auto url =
       std::find_if(server.options.begin(), server.options.end(), [](const auto& one) { return one.first == "url"; });
   if (url == server.options.end())
      throw SqlError(sqlstate::fdwOptionNameNotFound, "a server of the wrapper s3 needs the option \"url\"");
   if (!io::isObjectUrl(url->second) || url->second.find('?') != std::string::npos)
      throw SqlError(sqlstate::invalidParameterValue, "the option \"url\" must be \"s3://bucket/prefix\"")
          .hint("The options endpoint, region and path_style are apart from it.");
   for (const auto& [name, value] : server.options)
      if (!isPrintable(value) || (name != "url" && value.find_first_of("?&=#%") != std::string::npos))
         throw SqlError(sqlstate::invalidParameterValue, "invalid value of option \"" + name + "\"");
   if (io::depthBelow(url->second + "/x", url->second + parametersOf(server)) < 0)
      throw SqlError(sqlstate::invalidParameterValue, "no object can lie below the option \"url\"")
          .hint("It is no pattern, and has no parts \".\" and \"..\".");
}

void requireKeys(const ForeignServer::Mapping& mapping) {
   for (const std::string_view needed : {mappingOptions[0], mappingOptions[1]})
      if (std::none_of(mapping.options.begin(), mapping.options.end(),
                       [&](const auto& one) { return one.first == needed && !one.second.empty(); }))
         throw SqlError(sqlstate::fdwOptionNameNotFound,
                        "a user mapping of the wrapper s3 needs the option \"" + std::string(needed) + "\"");
   for (const auto& [name, value] : mapping.options)
      if (!isPrintable(value))
         throw SqlError(sqlstate::invalidParameterValue, "invalid value of option \"" + name + "\"");
}

/// The wrapper is the superusers' to use, as one that an extension brings.
void requireWrapper(SessionCore& core, Oid role) {
   if (!catalog::isSuperuser(core.transaction.catalog(), role))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied for foreign-data wrapper s3");
}

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
   constexpr uint32_t usage = catalog::privilege::usage;
   if (catalog::held(core.transaction.catalog(), core.role(), server.owner, server.acl, catalog::AclKind::Server,
                     usage) != usage)
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied for foreign server " + server.name);
}

std::string missingMapping(const MappedUser& user, const ForeignServer& server) {
   return "user mapping for \"" + user.name + "\" does not exist for server \"" + server.name + "\"";
}

/// What CREATE says of an object that exists: an error, or with IF NOT EXISTS a notice.
void refuseExisting(SessionCore& core, const std::string& message, bool ifNotExists) {
   if (!ifNotExists) throw SqlError(sqlstate::duplicateObject, message);
   core.notice(message + ", skipping", {}, sqlstate::duplicateObject);
}

void eraseMapping(ForeignServer& server, Oid role) {
   std::erase_if(server.mappings, [role](const ForeignServer::Mapping& mapping) { return mapping.role == role; });
}

} // namespace

catalog::ServerPtr requireServer(SessionCore& core, std::string_view name) {
   auto server = core.transaction.catalog().findServer(name);
   if (!server) throw SqlError(sqlstate::undefinedObject, "server \"" + std::string(name) + "\" does not exist");
   return server;
}

void requireOwner(SessionCore& core, const ForeignServer& server) {
   if (!actsFor(core, server.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of foreign server " + server.name);
}

std::string createServer(CommandContext& context, const ::CreateForeignServerStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE SERVER");
   const std::string name = statement.servername;
   if (core.transaction.catalog().findServer(name)) {
      refuseExisting(core, "server \"" + name + "\" already exists", statement.if_not_exists);
      return "CREATE SERVER";
   }
   if (std::string_view(statement.fdwname) != "s3")
      throw SqlError(sqlstate::undefinedObject,
                     "foreign-data wrapper \"" + std::string(statement.fdwname) + "\" does not exist")
          .hint("There is the wrapper \"s3\", for objects in buckets.");
   requireWrapper(core, core.role());
   ForeignServer server;
   server.oid = core.transaction.editor().allocateOid();
   server.database = core.transaction.catalog().database();
   server.name = name;
   server.owner = core.role();
   server.type = textOf(statement.servertype);
   server.version = textOf(statement.version);
   changeOptions(server.options, statement.options, serverOptions);
   checkAddress(server);
   core.transaction.editor().replaceServer(std::move(server));
   return "CREATE SERVER";
}

std::string alterServer(CommandContext& context, const ::AlterForeignServerStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER SERVER");
   ForeignServer server = *requireServer(core, statement.servername);
   requireOwner(core, server);
   // Where the server is decides to whom the objects of other roles go.
   if (statement.options) requireWrapper(core, core.role());
   if (statement.has_version) server.version = textOf(statement.version);
   changeOptions(server.options, statement.options, serverOptions);
   checkAddress(server);
   core.transaction.editor().replaceServer(std::move(server));
   return "ALTER SERVER";
}

namespace {

/// Drops servers, and with CASCADE the mappings of others than `role` on them. Throws 2BP01 for those without CASCADE.
void dropAll(SessionCore& core, const std::vector<catalog::ServerPtr>& servers, bool cascades, Oid role) {
   std::string lines;
   size_t mappings = 0;
   for (const catalog::ServerPtr& server : servers)
      for (const ForeignServer::Mapping& mapping : server->mappings) {
         if (role != invalidOid && mapping.role == role) continue;
         const auto mapped = core.transaction.catalog().role(mapping.role);
         const std::string what =
             "user mapping for " + (mapped ? mapped->name : std::string("public")) + " on server " + server->name;
         lines += (lines.empty() ? "" : "\n") +
                  (cascades ? "drop cascades to " + what : what + " depends on server " + server->name);
         ++mappings;
      }
   if (mappings > 0 && !cascades)
      throw SqlError(sqlstate::dependentObjectsStillExist,
                     "cannot drop " + (servers.size() == 1
                                           ? "server " + servers[0]->name + " because other objects depend on it"
                                           : "desired object(s) because other objects depend on them"))
          .detail(lines)
          .hint("Use DROP ... CASCADE to drop the dependent objects too.");
   if (mappings == 1) core.notice(lines);
   if (mappings > 1) core.notice("drop cascades to " + std::to_string(mappings) + " other objects", lines);
   for (const catalog::ServerPtr& server : servers)
      core.transaction.editor().dropServer(*server);
}

} // namespace

std::string dropServers(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP SERVER");
   std::vector<catalog::ServerPtr> servers;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      if (statement.missing_ok && !core.transaction.catalog().findServer(name)) {
         core.notice("server \"" + name + "\" does not exist, skipping");
         continue;
      }
      servers.push_back(requireServer(core, name));
      requireOwner(core, *servers.back());
   }
   dropAll(core, servers, statement.behavior == DROP_CASCADE, invalidOid);
   return "DROP SERVER";
}

std::string createUserMapping(CommandContext& context, const ::CreateUserMappingStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE USER MAPPING");
   const MappedUser user = userOf(core, *statement.user);
   ForeignServer server = *requireServer(core, statement.servername);
   requireMayMap(core, server, user.role);
   if (server.mappingOf(user.role)) {
      refuseExisting(core, "user mapping for \"" + user.name + "\" already exists for server \"" + server.name + "\"",
                     statement.if_not_exists);
      return "CREATE USER MAPPING";
   }
   ForeignServer::Mapping mapping;
   mapping.oid = core.transaction.editor().allocateOid();
   mapping.role = user.role;
   changeOptions(mapping.options, statement.options, mappingOptions);
   requireKeys(mapping);
   server.mappings.push_back(std::move(mapping));
   core.transaction.editor().replaceServer(std::move(server));
   return "CREATE USER MAPPING";
}

std::string alterUserMapping(CommandContext& context, const ::AlterUserMappingStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER USER MAPPING");
   const MappedUser user = userOf(core, *statement.user);
   ForeignServer server = *requireServer(core, statement.servername);
   if (!server.mappingOf(user.role)) throw SqlError(sqlstate::undefinedObject, missingMapping(user, server));
   requireMayMap(core, server, user.role);
   for (ForeignServer::Mapping& mapping : server.mappings) {
      if (mapping.role != user.role) continue;
      changeOptions(mapping.options, statement.options, mappingOptions);
      requireKeys(mapping);
   }
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
   const auto found = snapshot.findServer(statement.servername);
   if (!found && statement.missing_ok) {
      core.notice("server \"" + std::string(statement.servername) + "\" does not exist, skipping");
      return tag;
   }
   ForeignServer server = *requireServer(core, statement.servername);
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

void renameServer(SessionCore& core, std::string_view name, std::string newName) {
   ForeignServer server = *requireServer(core, name);
   requireOwner(core, server);
   server.name = std::move(newName);
   core.transaction.editor().replaceServer(std::move(server));
}

void changeServerOwner(SessionCore& core, std::string_view name, Oid owner) {
   ForeignServer server = *requireServer(core, name);
   if (server.owner == owner) return;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (!catalog::isSuperuser(snapshot, core.role())) {
      requireOwner(core, server);
      requireRight(catalog::isMemberOf(snapshot, core.role(), owner),
                   "must be member of role \"" + snapshot.role(owner)->name + "\"");
      requireWrapper(core, owner);
   }
   server.acl = catalog::handedOver(server.acl, server.owner, owner);
   server.owner = owner;
   core.transaction.editor().replaceServer(std::move(server));
}

void reassignServers(SessionCore& core, Oid from, Oid to) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const catalog::ServerPtr& server : snapshot.servers()) {
      if (server->owner != from) continue;
      ForeignServer changed = *server;
      changed.acl = catalog::handedOver(changed.acl, from, to);
      changed.owner = to;
      core.transaction.editor().replaceServer(std::move(changed));
   }
}

void dropServersOf(SessionCore& core, Oid role, bool cascades) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   std::vector<catalog::ServerPtr> owned;
   for (const catalog::ServerPtr& server : snapshot.servers()) {
      if (server->owner == role) {
         owned.push_back(server);
      } else if (server->mappingOf(role)) {
         ForeignServer changed = *server;
         eraseMapping(changed, role);
         core.transaction.editor().replaceServer(std::move(changed));
      }
   }
   dropAll(core, owned, cascades, role);
}

} // namespace ouzel::engine
