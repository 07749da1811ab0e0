#pragma once
#include <string>
#include <vector>

#include "catalog/object/snapshot.hpp"

namespace ouzel::catalog {

/// What is wrong among the objects of a database: one line for each reference to an object that does not exist or is of
/// another kind ("constraint f on table t: its unique index of table p is missing"). Empty in a sound catalog.
std::vector<std::string> findDamage(const Snapshot& snapshot);

/// Throws XX002 if a primary key or unique constraint of the table has lost its index: nothing would stop a second row
/// with the same key.
void requireOwnIndexes(const Snapshot& snapshot, const Relation& table);
/// The unique index that a foreign key looks its parents up in. Throws XX002 if the index is missing.
RelationPtr requireReferencedIndex(const Snapshot& snapshot, const Relation& child, const Constraint& foreignKey);

} // namespace ouzel::catalog
