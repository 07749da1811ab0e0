#include "engine/query/external_files.hpp"

#include "catalog/object/acl.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "io/format/csv/csv_table.hpp"
#include "io/format/json/json_table.hpp"
#include "io/format/parquet/parquet.hpp"

namespace ouzel::engine {

namespace {

constexpr Oid readServerFiles = 4569, writeServerFiles = 4570; // pg_authid.dat

const std::string& optionOf(const catalog::ForeignServer::Options& options, std::string_view name) {
   static const std::string none;
   for (const auto& [known, value] : options)
      if (known == name) return value;
   return none;
}

/// The keys of the foreign server below which a URL lies and that the role may use, the one with the longest prefix;
/// null if there is none.
io::ObjectAccessPtr accessBy(const catalog::Snapshot& snapshot, Oid role, const std::string& url) {
   io::ObjectAccessPtr best;
   int depth = -1;
   for (const catalog::ServerPtr& server : snapshot.servers()) {
      if (server->wrapper != catalog::s3Wrapper) continue;
      const auto* mapping = server->mappingOf(role);
      if (!mapping) mapping = server->mappingOf(invalidOid);
      constexpr uint32_t usage = catalog::privilege::usage;
      if (!mapping ||
          catalog::held(snapshot, role, server->owner, server->acl, catalog::AclKind::Server, usage) != usage)
         continue;
      const std::string parameters = parametersOf(server->options);
      const int below = io::depthBelow(url, optionOf(server->options, "url") + parameters);
      if (below <= depth) continue;
      depth = below;
      best = std::make_shared<const io::ObjectAccess>(
          io::ObjectAccess{optionOf(mapping->options, "access_key_id"), optionOf(mapping->options, "secret_access_key"),
                           optionOf(mapping->options, "session_token"), parameters});
   }
   return best;
}

} // namespace

std::string parametersOf(const catalog::ForeignOptions& options) {
   std::string parameters;
   for (const auto& [name, value] : options)
      if (name != "url") parameters += (parameters.empty() ? "?" : "&") + name + "=" + value;
   return parameters;
}

io::ObjectAccessPtr requireFileAccess(SessionCore& core, FileAccess access, const std::string& path,
                                      std::string_view action, std::string hint) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   const bool reads = access == FileAccess::Read;
   const Oid role = core.role();
   const bool isObject = io::isObjectUrl(path);
   if (isObject)
      if (auto keys = accessBy(snapshot, role, path)) return keys;
   if (catalog::hasRole(snapshot, role, reads ? readServerFiles : writeServerFiles, "USAGE")) return nullptr;
   throw SqlError(sqlstate::insufficientPrivilege, std::string("must be superuser or have privileges of the ") +
                                                       (reads ? "pg_read_server_files" : "pg_write_server_files") +
                                                       " role to " + std::string(action))
       .hint(isObject
                 ? "Objects below the url of a foreign server are for roles that have USAGE on it and a user mapping."
                 : std::move(hint));
}

io::ExternalTablePtr openExternalTable(SessionCore& core, std::string_view function,
                                       const io::ExternalRequest& request) {
   io::ExternalRequest complete = request;
   complete.format = core.format();
   for (size_t i = 0; i < request.patterns.size(); ++i) {
      auto access =
          requireFileAccess(core, FileAccess::Read, request.patterns[i], "read files with " + std::string(function));
      const bool isSame =
          i == 0 || (!access && !complete.access) || (access && complete.access && *access == *complete.access);
      if (!isSame) throwNotSupported("files of several foreign servers in one call");
      complete.access = std::move(access);
   }
   if (function == "read_csv") return std::make_shared<const io::CsvTable>(complete);
   if (function == "read_json") return std::make_shared<const io::JsonTable>(complete);
   return io::openParquet(complete);
}

} // namespace ouzel::engine
