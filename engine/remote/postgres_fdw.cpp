#include "engine/remote/postgres_fdw.hpp"

#include "common/type/array.hpp"
#include "common/type/row.hpp"
#include "engine/core/session_services.hpp"
#include "engine/remote/connection_options.hpp"
#include "engine/remote/remote_servers.hpp"

// The functions of the extension postgres_fdw.

namespace ouzel::engine {

namespace {

/// A result of one value.
std::vector<std::string> oneValue(const catalog::Function& function, Value value) {
   const std::vector<RowField> column{{function.name, function.returnType, false}};
   return {makeRow(oid::record, column, {std::move(value)})};
}

/// postgres_fdw_validator(options, catalog). Options are "name=value".
void validate(SessionCore& core, std::span<const BoundParameter> parameters) {
   catalog::ForeignOptions options;
   const ArrayView array(parameters[0].value.bytes);
   for (ArrayView::Cursor element(array); element.next();) {
      if (element.isNull()) continue;
      const std::string_view text = element.as<StringView>().view();
      const size_t nameEnd = std::min(text.find('='), text.size());
      options.emplace_back(text.substr(0, nameEnd), nameEnd == text.size() ? "" : text.substr(nameEnd + 1));
   }
   checkPostgresOptions(core, options, static_cast<Oid>(parameters[1].value.i64));
}

/// postgres_fdw_get_connections(): the name of each server with a connection, NULL if it was dropped, and whether the
/// connection is still as the server's options say.
std::vector<std::string> listConnections(SessionCore& core) {
   const std::vector<RowField> columns{{"server_name", SqlType{oid::text, -1, invalidOid}, false},
                                       {"valid", SqlType{oid::boolean, -1, invalidOid}, false}};
   std::vector<std::string> rows;
   for (const RemoteServers::Connected& one : core.services.remoteServers().connections()) {
      const Value name =
          one.server.empty() ? Value::null(PhysicalType::String) : Value::string(std::string(one.server));
      rows.push_back(makeRow(oid::record, columns, {name, Value::boolean(one.isValid)}));
   }
   return rows;
}

} // namespace

std::vector<std::string> runPostgresFdw(SessionCore& core, const catalog::Function& function,
                                        std::span<const BoundParameter> parameters) {
   RemoteServers& servers = core.services.remoteServers();
   const std::string_view name = std::string_view(function.source).substr(std::string_view("postgres_fdw/").size());
   if (name == "postgres_fdw_validator") {
      validate(core, parameters);
      return oneValue(function, Value::string({})); // no NULL, but a value without a text
   }
   if (name == "postgres_fdw_get_connections") return listConnections(core);
   if (name == "postgres_fdw_disconnect") {
      const std::string server(parameters[0].value.bytes);
      const bool isClosed = servers.disconnect(catalog::requireServer(core.transaction.catalog(), server)->oid);
      return oneValue(function, Value::boolean(isClosed));
   }
   if (name == "postgres_fdw_disconnect_all") return oneValue(function, Value::boolean(servers.disconnectAll()));
   if (name == "postgres_fdw_handler")
      throw SqlError(sqlstate::featureNotSupported, "cannot display a value of type fdw_handler");
   throwNotSupported("the function " + function.name);
}

} // namespace ouzel::engine
