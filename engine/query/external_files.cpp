#include "engine/query/external_files.hpp"

#include "catalog/pg_catalog/functions.hpp"
#include "io/format/csv/csv_table.hpp"
#include "io/format/json/json_table.hpp"
#include "io/format/parquet/parquet.hpp"

namespace ouzel::engine {

namespace {
constexpr Oid readServerFiles = 4569, writeServerFiles = 4570; // pg_authid.dat
} // namespace

void requireFileAccess(SessionCore& core, FileAccess access, std::string_view action, std::string hint) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   const bool reads = access == FileAccess::Read;
   const auto role = snapshot.findRole(core.user());
   if (role && catalog::hasRole(snapshot, role->oid, reads ? readServerFiles : writeServerFiles, "USAGE")) return;
   throw SqlError(sqlstate::insufficientPrivilege, std::string("must be superuser or have privileges of the ") +
                                                       (reads ? "pg_read_server_files" : "pg_write_server_files") +
                                                       " role to " + std::string(action))
       .hint(std::move(hint));
}

io::ExternalTablePtr openExternalTable(SessionCore& core, std::string_view function,
                                       const io::ExternalRequest& request) {
   requireFileAccess(core, FileAccess::Read, "read files with " + std::string(function));
   io::ExternalRequest complete = request;
   complete.format = core.format();
   if (function == "read_csv") return std::make_shared<const io::CsvTable>(complete);
   if (function == "read_json") return std::make_shared<const io::JsonTable>(complete);
   return io::openParquet(complete);
}

} // namespace ouzel::engine
