#pragma once
#include <vector>

#include "catalog/object/snapshot.hpp"

// The databases with which a data directory begins: postgres, template1 and template0.

namespace ouzel::catalog {

/// Their rows of pg_database, their schemas and comments, as changes of an empty catalog.
std::vector<Change> initialDatabases();
/// Whom one of them admits at first: to the templates everybody may connect, and nobody make temporary tables. None for
/// other databases.
Acl initialAclOf(Oid database);

} // namespace ouzel::catalog
