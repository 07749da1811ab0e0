#include "catalog/object/foreign/foreign_wrapper.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

const ForeignWrapperPtr& builtinWrapper() {
   static const ForeignWrapperPtr wrapper = [] {
      auto made = std::make_shared<ForeignWrapper>();
      made->oid = s3Wrapper;
      made->name = "s3";
      return made;
   }();
   return wrapper;
}

ForeignWrapperPtr requireWrapper(const Snapshot& snapshot, std::string_view name) {
   auto found = snapshot.findWrapper(name);
   if (!found)
      throw SqlError(sqlstate::undefinedObject, "foreign-data wrapper \"" + std::string(name) + "\" does not exist");
   return found;
}

ServerPtr requireServer(const Snapshot& snapshot, std::string_view name) {
   auto found = snapshot.findServer(name);
   if (!found) throw SqlError(sqlstate::undefinedObject, "server \"" + std::string(name) + "\" does not exist");
   return found;
}

ForeignWrapperPtr wrapperOf(const Snapshot& snapshot, const ForeignTable& table) {
   const ServerPtr server = snapshot.server(table.server);
   ForeignWrapperPtr wrapper = server ? snapshot.wrapper(server->wrapper) : nullptr;
   if (!wrapper) throwInternal("a foreign table has lost its server");
   return wrapper;
}

void throwNoAccess(const Snapshot& snapshot, const ForeignTable& table, std::string_view feature) {
   const ForeignWrapperPtr wrapper = wrapperOf(snapshot, table);
   throwNoAccess(wrapper->name, wrapper->handler != invalidOid, feature);
}

void throwNoAccess(std::string_view wrapper, bool hasHandler, std::string_view feature) {
   if (hasHandler) throwNotSupported(std::string(feature));
   throwNoHandler(wrapper);
}

void throwNoHandler(std::string_view wrapper) {
   throw SqlError(sqlstate::objectNotInPrerequisiteState,
                  "foreign-data wrapper \"" + std::string(wrapper) + "\" has no handler");
}

std::vector<std::string> optionTexts(const ForeignOptions& options) {
   std::vector<std::string> texts;
   for (const auto& [name, value] : options)
      texts.push_back(name + "=" + value);
   return texts;
}

std::string describeMapping(const Snapshot& snapshot, const ForeignServer& server, Oid role) {
   const RolePtr mapped = snapshot.role(role);
   return "user mapping for " + (mapped ? mapped->name : std::string("public")) + " on server " + server.name;
}

void checkConnectionOptions(const std::vector<std::string>& names, Oid catalog) {
   // In PostgreSQL's order, which the hint shows.
   constexpr std::string_view ofServers[] = {
       "authtype", "service", "connect_timeout", "dbname",     "host",    "hostaddr",
       "port",     "tty",     "options",         "requiressl", "sslmode", "gsslib"};
   constexpr std::string_view ofMappings[] = {"user", "password"};
   std::span<const std::string_view> known;
   if (catalog == class_oid::pgForeignServer) known = ofServers;
   if (catalog == class_oid::pgUserMapping) known = ofMappings;
   for (const std::string& name : names) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string list;
      for (const std::string_view one : known)
         list += (list.empty() ? "" : ", ") + std::string(one);
      throw SqlError(sqlstate::syntaxError, "invalid option \"" + name + "\"")
          .hint(list.empty() ? "There are no valid options in this context."
                             : "Valid options in this context are: " + list);
   }
}

} // namespace ouzel::catalog
