#pragma once
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

class Snapshot;

// PostgreSQL's system relations, with its OIDs and columns. System catalogs are virtual tables. System views are views
// over the catalogs (builtin/views/*.inc), or virtual tables if no catalog has their data. The first use makes the
// relations; all snapshots share them.

/// Null if no system relation has this OID or name.
RelationPtr systemRelation(Oid oid);
RelationPtr findSystemRelation(Oid schema, std::string_view name);
/// In OID order.
const std::vector<RelationPtr>& systemRelations();
/// Sets of attributes that no two rows of a system catalog share.
std::vector<std::vector<int16_t>> systemKeys(const Relation& relation);
/// An estimate of the rows of a system catalog or of another virtual table.
double expectedRows(const Relation& relation, const Snapshot& snapshot);

} // namespace ouzel::catalog
