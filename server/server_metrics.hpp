#pragma once
#include <string>

namespace ouzel::engine {
class Database;
}

namespace ouzel::server {

class Server;

/// All metrics of the process in Prometheus' text format (docs/OPERATIONS.md, "Metrics"). Any thread, while the server
/// and the database exist.
std::string describeMetrics(engine::Database& database, const Server& server);

} // namespace ouzel::server
