#include "engine/remote/remote_servers.hpp"

#include <algorithm>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/pg_catalog/acl_items.hpp"
#include "engine/remote/connection_options.hpp"
#include "io/remote/remote_table.hpp"

namespace ouzel::engine {

using catalog::ForeignServer;
using catalog::Snapshot;

namespace {

constexpr int defaultFetchSize = 100;

/// The mapping of a role, or that of PUBLIC. Throws 42704.
const ForeignServer::Mapping& requireMapping(const Snapshot& snapshot, const ForeignServer& server, Oid role) {
   if (const ForeignServer::Mapping* own = server.mappingOf(role)) return *own;
   if (const ForeignServer::Mapping* common = server.mappingOf(invalidOid)) return *common;
   const catalog::RolePtr named = snapshot.role(role);
   throw SqlError(sqlstate::undefinedObject,
                  "user mapping not found for \"" + (named ? named->name : std::string("public")) + "\"");
}

io::RemoteAddress addressOf(const ForeignServer& server, const ForeignServer::Mapping& mapping, bool isSuperuser) {
   io::RemoteAddress address;
   address.server = server.name;
   for (const auto* options : {&server.options, &mapping.options})
      for (const auto& [name, value] : *options)
         if (isConnectionOption(name)) address.parameters.emplace_back(name, value);
   address.needsPassword = !isSuperuser && booleanOption(mapping.options, "password_required", true);
   address.isKept = booleanOption(server.options, "keep_connections", true);
   return address;
}

/// A user who is no superuser must not connect with what the server's own operating-system user may do.
void requirePassword(const io::RemoteAddress& address) {
   const bool hasPassword = std::any_of(address.parameters.begin(), address.parameters.end(),
                                        [](const auto& one) { return one.first == "password" && !one.second.empty(); });
   if (address.needsPassword && !hasPassword)
      throw SqlError(sqlstate::sREProhibitedSqlStatementAttempted, "password is required")
          .detail("Non-superusers must provide a password in the user mapping.");
}

io::RemoteTable::Description describe(SessionCore& core, const catalog::Relation& relation,
                                      const ForeignServer& server) {
   const Snapshot& snapshot = core.transaction.editor().snapshot();
   const auto given = [&](const char* name, const std::string& otherwise) {
      const std::string* option = findOption(relation.foreign->options, name);
      return option ? *option : otherwise;
   };
   io::RemoteTable::Description table;
   const catalog::SchemaPtr schema = snapshot.schema(relation.schema);
   table.localName = relation.name;
   table.relation.schema = given("schema_name", schema ? schema->name : "public");
   table.relation.name = given("table_name", relation.name);
   for (const catalog::Column& column : relation.columns) {
      io::ExternalColumn& made = table.columns.emplace_back(io::ExternalColumn{column.name, column.type});
      if (isRegType(column.type.oid) || catalog::isAclType(column.type.oid))
         made.problem = "reading a column of type " + formatType(column.type) + " from another server";
      const std::string* remote = findOption(column.foreignOptions, "column_name");
      table.relation.columns.push_back(remote ? *remote : column.name);
      table.localColumns.push_back(column.name);
   }
   const int ofServer = integerOption(server.options, "fetch_size", defaultFetchSize);
   table.fetchSize = static_cast<uint32_t>(integerOption(relation.foreign->options, "fetch_size", ofServer));
   table.types = core.format().types;
   return table;
}

} // namespace

RemoteServers::RemoteServers(SessionCore& core) : core_(core) {
   core_.transaction.ended = [this](bool commits) { transactionEnded(commits); };
}

RemoteServers::~RemoteServers() {
   core_.transaction.ended = nullptr;
}

io::ExternalTablePtr RemoteServers::open(const catalog::Relation& relation, Oid role) {
   const Snapshot& snapshot = core_.transaction.catalog();
   if (catalog::wrapperOf(snapshot, *relation.foreign)->handler == invalidOid) return nullptr;
   const catalog::ServerPtr server = snapshot.server(relation.foreign->server);
   std::shared_ptr<io::RemoteLink> made;
   std::exception_ptr problem;
   try {
      made = link(*server, role);
   } catch (const SqlError&) {
      problem = std::current_exception();
   }
   return std::make_shared<const io::RemoteTable>(describe(core_, relation, *server), std::move(made), problem);
}

std::shared_ptr<io::RemoteLink> RemoteServers::link(const ForeignServer& server, Oid role) {
   const Snapshot& snapshot = core_.transaction.catalog();
   const ForeignServer::Mapping& mapping = requireMapping(snapshot, server, role);
   io::RemoteAddress address = addressOf(server, mapping, catalog::isSuperuser(snapshot, role));
   requirePassword(address);
   for (const Link& one : links_)
      if (one.mapping == mapping.oid && (one.link->address() == address || one.link->inTransaction())) return one.link;
   closeOutdated();
   std::erase_if(links_, [&](const Link& one) { return one.mapping == mapping.oid && one.link.use_count() == 1; });
   links_.push_back({server.oid, mapping.oid, std::make_shared<io::RemoteLink>(std::move(address))});
   return links_.back().link;
}

void RemoteServers::transactionEnded(bool commits) noexcept {
   for (const Link& one : links_)
      one.link->endTransaction(commits);
}

bool RemoteServers::isUsed() const {
   return std::any_of(links_.begin(), links_.end(), [](const Link& one) { return one.link->inTransaction(); });
}

bool RemoteServers::isValid(const Link& link) const {
   const Snapshot& snapshot = core_.transaction.catalog();
   const catalog::ServerPtr server = snapshot.server(link.server);
   if (!server) return false;
   for (const ForeignServer::Mapping& mapping : server->mappings)
      if (mapping.oid == link.mapping) {
         io::RemoteAddress address = addressOf(*server, mapping, false);
         address.needsPassword = link.link->address().needsPassword;
         return address == link.link->address();
      }
   return false;
}

void RemoteServers::closeOutdated() {
   for (const Link& one : links_)
      if (!isValid(one) && !one.link->inTransaction()) one.link->disconnect();
}

std::vector<RemoteServers::Connected> RemoteServers::connections() {
   closeOutdated();
   std::vector<Connected> all;
   for (const Link& one : links_) {
      if (!one.link->isConnected()) continue;
      const catalog::ServerPtr server = core_.transaction.catalog().server(one.server);
      all.push_back({server ? server->name : "", isValid(one)});
   }
   return all;
}

bool RemoteServers::close(const Link& link, const std::string& server) {
   if (!link.link->isConnected()) return false;
   if (link.link->inTransaction()) {
      core_.warn(sqlstate::warning,
                 server.empty() ? "cannot close dropped server connection because it is still in use"
                                : "cannot close connection for server \"" + server + "\" because it is still in use");
      return false;
   }
   link.link->disconnect();
   return true;
}

bool RemoteServers::disconnect(Oid server) {
   const catalog::ServerPtr named = core_.transaction.catalog().server(server);
   bool isClosed = false;
   for (const Link& one : links_)
      if (one.server == server) isClosed |= close(one, named ? named->name : "");
   return isClosed;
}

bool RemoteServers::disconnectAll() {
   bool isClosed = false;
   for (const Link& one : links_) {
      const catalog::ServerPtr named = core_.transaction.catalog().server(one.server);
      isClosed |= close(one, named ? named->name : "");
   }
   return isClosed;
}

} // namespace ouzel::engine
