#pragma once
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"
#include "io/format/external_table.hpp"

// Files of the server's machine and of object stores that SQL names: the check of permissions, and opening them.

namespace ouzel::engine {

enum class FileAccess : uint8_t { Read, Write };

/// 42501 with PostgreSQL's words unless the session's user is a superuser or member of pg_read_server_files or
/// pg_write_server_files. `action` completes the message: "COPY from a file".
void requireFileAccess(SessionCore& core, FileAccess access, std::string_view action, std::string hint = {});

/// Open the files of a call of read_csv, read_json or read_parquet. Throws 42501 and the errors of opening.
io::ExternalTablePtr openExternalTable(SessionCore& core, std::string_view function,
                                       const io::ExternalRequest& request);

} // namespace ouzel::engine
