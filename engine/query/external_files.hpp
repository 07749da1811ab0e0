#pragma once
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"
#include "io/format/external_table.hpp"

// Files of the server's machine and of object stores that SQL names: who may, and which format reads them.

namespace ouzel::engine {

enum class FileAccess : uint8_t { Read, Write };

/// 42501 with PostgreSQL's words unless the session's user is a superuser or member of pg_read_server_files or
/// pg_write_server_files. `action` completes the message: "COPY from a file".
void requireFileAccess(SessionCore& core, FileAccess access, std::string_view action, std::string hint = {});

/// What read_csv and read_parquet stand for. Throws 42501 and what opening throws.
io::ExternalTablePtr openExternalTable(SessionCore& core, std::string_view function,
                                       const io::ExternalRequest& request);

} // namespace ouzel::engine
