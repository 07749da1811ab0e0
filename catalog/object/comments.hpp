#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

/// PostgreSQL's comment on a built-in object (pg_description); empty if there is none.
std::optional<std::string_view> builtinComment(Oid classOid, Oid object, int32_t attribute);
/// The schemas of a new database: pg_catalog, information_schema and public.
std::vector<SchemaPtr> initialSchemas(Oid database);

} // namespace ouzel::catalog
