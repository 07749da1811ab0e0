#pragma once
#include <string_view>

#include "catalog/object/snapshot.hpp"

// Foreign-data wrappers of CREATE FOREIGN DATA WRAPPER. The extension postgres_fdw has the only handler there is; it
// stands for code that reads the tables of another server (engine/remote/remote_servers.hpp). The wrapper s3 is built
// in; the engine reads files by its servers (engine/query/external_files.cpp).

namespace ouzel::catalog {

struct ForeignWrapper : CatalogObject {
   Oid database = invalidOid; ///< invalidOid: a built-in wrapper, which every database has
   Oid oid = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   Acl acl;
   Oid handler = invalidOid;   ///< the function that stands for the code that reads its tables; invalidOid: none
   Oid validator = invalidOid; ///< the function that checks options; invalidOid: none
   ForeignOptions options;
   ForeignWrapper() : CatalogObject(ObjectKind::ForeignWrapper) {}
   bool isBuiltin() const { return database == invalidOid; }
};

/// The wrapper s3, for which no object of the catalog stands.
const ForeignWrapperPtr& builtinWrapper();

/// Throw 42704.
ForeignWrapperPtr requireWrapper(const Snapshot& snapshot, std::string_view name);
ServerPtr requireServer(const Snapshot& snapshot, std::string_view name);
/// The wrapper of a foreign table's server. REQUIRES: the table is in the snapshot.
ForeignWrapperPtr wrapperOf(const Snapshot& snapshot, const ForeignTable& table);

/// Throws what a use of a foreign table's rows meets that there is no code for: 55000 `foreign-data wrapper "x" has no
/// handler`, or, for a wrapper with a handler, 0A000 with the feature's name.
[[noreturn, gnu::cold]] void throwNoAccess(const Snapshot& snapshot, const ForeignTable& table,
                                           std::string_view feature);
[[noreturn, gnu::cold]] void throwNoAccess(std::string_view wrapper, bool hasHandler, std::string_view feature);
[[noreturn, gnu::cold]] void throwNoHandler(std::string_view wrapper);

/// "{name=value,...}" as the catalogs show options.
std::vector<std::string> optionTexts(const ForeignOptions& options);

/// "user mapping for r on server s", as messages name it.
std::string describeMapping(const Snapshot& snapshot, const ForeignServer& server, Oid role);

/// What the function postgresql_fdw_validator does. `catalog`: of the object that has the options. Throws 42601 for the
/// first name that libpq's connections would not know.
void checkConnectionOptions(const std::vector<std::string>& names, Oid catalog);

} // namespace ouzel::catalog
