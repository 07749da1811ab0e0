#pragma once
#include <optional>
#include <string>
#include <vector>

#include "catalog/pg_catalog/functions.hpp"

namespace ouzel::catalog {

/// What an address, as pg_depend has them, names.
struct ObjectIdentity {
   std::string type;                        ///< "table column"; also where the object does not exist
   std::optional<std::string> description;  ///< "column a of table t"; empty: the object does not exist
   std::optional<std::string> schema, name; ///< quoted; empty: they would not identify it
   std::string identity;                    ///< "s.t.a"
   std::vector<std::string> names, args;    ///< for pg_get_object_address()
};

/// pg_describe_object, pg_identify_object, pg_identify_object_as_address. Throws XX000 `unrecognized object class: 1`.
ObjectIdentity identifyObject(const NameContext& context, Oid classOid, Oid object, int32_t attribute);

} // namespace ouzel::catalog
