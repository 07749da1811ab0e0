#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/client/backend.hpp"
#include "common/client/endpoints.hpp"
#include "common/value/sql_type.hpp"

// The start of a client's conversation with the database: statements in, batches out, without sockets.

namespace ouzel {
struct LogSession;
}

namespace ouzel::engine {

class Database;

struct SessionOptions {
   std::string user = "postgres", database = "postgres";
   std::vector<std::pair<std::string, std::string>> settings; ///< from the startup packet
   int32_t processId = 0;
   Endpoints endpoints;
   LogSession* log = nullptr; ///< what the log tells about the session; outlives it. Null: nobody reads it
   Oid databaseOid = 0;       ///< of `database`; openSession() finds it
};

/// Open a session. `database` and `notices` outlive it. Throws 3D000 (no such database), 55000 (it takes no
/// connections), 53300 (it has too many), 42501 (not for this role), 28000 (no such role), 22023 or 42704 for a bad
/// setting. Thread-safe.
std::unique_ptr<Backend> openSession(Database& database, const SessionOptions& options, NoticeSink& notices);

} // namespace ouzel::engine
