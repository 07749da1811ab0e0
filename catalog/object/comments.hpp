#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

/// PostgreSQL's own comment on a built-in object (pg_description), nothing if it has none.
std::optional<std::string_view> builtinComment(Oid classOid, Oid object, int32_t attribute);
/// pg_catalog, information_schema and public, as every database starts with.
std::vector<SchemaPtr> initialSchemas(Oid database);

} // namespace ouzel::catalog
