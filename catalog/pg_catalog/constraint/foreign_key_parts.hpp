#pragma once
#include <optional>
#include <string>
#include <vector>

#include "catalog/object/snapshot.hpp"

// A foreign key to a partitioned table is one object. PostgreSQL makes one more for each partition of that table, below
// the first. System tables and functions show these parts; they are computed when they are asked for, so that
// partitions come and go without a change of the tables that reference them.

namespace ouzel::catalog {

/// The parts of the foreign keys of a table, which have OIDs and names of their own; those of one key stand together,
/// partitions in the order of their OIDs.
std::vector<Constraint> foreignKeyParts(const Snapshot& snapshot, const Relation& table);

/// The name of the part for one partition; that of the key itself if there is none.
std::string partName(const Snapshot& snapshot, const Relation& table, const Constraint& constraint, Oid partition);

/// The partitions of all tables that foreign keys of `table` reference.
std::vector<Oid> partitionsReferenced(const Snapshot& snapshot, const Relation& table);

struct FoundConstraint {
   RelationPtr relation; ///< null: there is no such constraint
   std::optional<Constraint> constraint;
};
/// The constraint with the OID, or the part of a foreign key.
FoundConstraint findConstraint(const Snapshot& snapshot, Oid oid);

} // namespace ouzel::catalog
