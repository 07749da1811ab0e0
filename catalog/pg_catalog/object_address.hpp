#pragma once
#include <string>
#include <vector>

#include "catalog/pg_catalog/functions.hpp"

namespace ouzel::catalog {

struct ObjectAddress {
   Oid classOid = invalidOid, object = invalidOid;
   int32_t attribute = 0;
};

/// pg_get_object_address(): the object of a kind, by the lists that pg_identify_object_as_address() gives. Throws 22023
/// for lists that do not name such objects, and PostgreSQL's errors for objects that do not exist.
ObjectAddress objectAddress(const NameContext& context, const std::string& type, const std::vector<std::string>& names,
                            const std::vector<std::string>& args);

} // namespace ouzel::catalog
