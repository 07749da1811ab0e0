#pragma once
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"
#include "io/format/external_table.hpp"

// Files of the server's machine and of object stores that SQL names: the check of permissions, and opening them.

namespace ouzel::engine {

enum class FileAccess : uint8_t { Read, Write };

/// Checks whether who acts may use a file or object, and returns the keys to it; null: those of the server. Superusers
/// and members of pg_read_server_files or pg_write_server_files may use all; others may use objects below a foreign
/// server on which they have USAGE and a user mapping. Throws 42501 in PostgreSQL's words. `action` completes the
/// message: "COPY from a file".
io::ObjectAccessPtr requireFileAccess(SessionCore& core, FileAccess access, const std::string& path,
                                      std::string_view action, std::string hint = {});

/// The parameters of the store of a server of the wrapper s3, by its options: empty, or "?endpoint=...".
std::string parametersOf(const catalog::ForeignOptions& options);
/// Open the files of a call of read_csv, read_json or read_parquet. Throws 42501 and the errors of opening.
io::ExternalTablePtr openExternalTable(SessionCore& core, std::string_view function,
                                       const io::ExternalRequest& request);

} // namespace ouzel::engine
