#pragma once
#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

/// The database that has the object, or that it is about; invalidOid: an object of the whole cluster.
Oid databaseOf(const CatalogObject& object);

} // namespace ouzel::catalog
