#include "catalog/builtin/extensions.hpp"

namespace ouzel::catalog {

namespace {

constexpr std::string_view btreeGin =
#include "catalog/builtin/extensions/btree_gin.inc"
    ;
constexpr std::string_view btreeGist =
#include "catalog/builtin/extensions/btree_gist.inc"
    ;
constexpr std::string_view citext =
#include "catalog/builtin/extensions/citext.inc"
    ;
constexpr std::string_view cube =
#include "catalog/builtin/extensions/cube.inc"
    ;
constexpr std::string_view fuzzystrmatch =
#include "catalog/builtin/extensions/fuzzystrmatch.inc"
    ;
constexpr std::string_view hstore =
#include "catalog/builtin/extensions/hstore.inc"
    ;
constexpr std::string_view intarray =
#include "catalog/builtin/extensions/intarray.inc"
    ;
constexpr std::string_view ltree =
#include "catalog/builtin/extensions/ltree.inc"
    ;
constexpr std::string_view pgStatStatements =
#include "catalog/builtin/extensions/pg_stat_statements.inc"
    ;
constexpr std::string_view pgTrgm =
#include "catalog/builtin/extensions/pg_trgm.inc"
    ;
constexpr std::string_view pgcrypto =
#include "catalog/builtin/extensions/pgcrypto.inc"
    ;
constexpr std::string_view postgresFdw =
#include "catalog/builtin/extensions/postgres_fdw.inc"
    ;
constexpr std::string_view tablefunc =
#include "catalog/builtin/extensions/tablefunc.inc"
    ;
constexpr std::string_view unaccent =
#include "catalog/builtin/extensions/unaccent.inc"
    ;
constexpr std::string_view uuidOssp =
#include "catalog/builtin/extensions/uuid_ossp.inc"
    ;

constexpr std::string_view vectorScript =
#include "catalog/builtin/extensions/vector.inc"
    ;

constexpr ExtensionInfo infos[] = {
    {"btree_gin", "1.3", "support for indexing common datatypes in GIN", "btree_gin", btreeGin},
    {"btree_gist", "1.7", "support for indexing common datatypes in GiST", "btree_gist", btreeGist},
    {"citext", "1.6", "data type for case-insensitive character strings", "citext", citext},
    {"cube", "1.5", "data type for multidimensional cubes", "cube", cube},
    {"fuzzystrmatch", "1.1", "determine similarities and distance between strings", "fuzzystrmatch", fuzzystrmatch},
    {"hstore", "1.8", "data type for storing sets of (key, value) pairs", "hstore", hstore},
    {"intarray", "1.5", "functions, operators, and index support for 1-D arrays of integers", "_int", intarray},
    {"ltree", "1.2", "data type for hierarchical tree-like structures", "ltree", ltree},
    {"pg_stat_statements", "1.10", "track planning and execution statistics of all SQL statements executed",
     "pg_stat_statements", pgStatStatements, false},
    {"pg_trgm", "1.6", "text similarity measurement and index searching based on trigrams", "pg_trgm", pgTrgm},
    {"pgcrypto", "1.3", "cryptographic functions", "pgcrypto", pgcrypto},
    {"plpgsql", "1.0", "PL/pgSQL procedural language", "plpgsql", "", true, false, "pg_catalog"},
    {"postgres_fdw", "1.1", "foreign-data wrapper for remote PostgreSQL servers", "postgres_fdw", postgresFdw, false},
    {"s3", "1.0", "foreign-data wrapper for files in object stores", "s3", "", true, false, "pg_catalog"},
    {"tablefunc", "1.0", "functions that manipulate whole tables, including crosstab", "tablefunc", tablefunc},
    {"unaccent", "1.1", "text search dictionary that removes accents", "unaccent", unaccent},
    {"uuid-ossp", "1.1", "generate universally unique identifiers (UUIDs)", "uuid-ossp", uuidOssp},
    {"vector", "0.8.0", "vector data type and exact nearest neighbor search", "vector", vectorScript},
};

} // namespace

std::span<const ExtensionInfo> extensionInfos() {
   return infos;
}

const ExtensionInfo* findExtensionInfo(std::string_view name) {
   for (const ExtensionInfo& info : infos)
      if (info.name == name) return &info;
   return nullptr;
}

} // namespace ouzel::catalog
