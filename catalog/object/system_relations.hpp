#pragma once
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

// PostgreSQL's own relations, with its OIDs and columns: catalogs are virtual tables, system views are views with our
// SQL over them, or virtual tables where there is nothing to compute from. Made once, shared by all snapshots.

/// Null if there is none.
RelationPtr systemRelation(Oid oid);
RelationPtr findSystemRelation(Oid schema, std::string_view name);
/// In OID order.
const std::vector<RelationPtr>& systemRelations();

} // namespace ouzel::catalog
