#pragma once
#include <span>

#include "catalog/object/snapshot.hpp"

namespace ouzel::catalog {

/// The functions that PostgreSQL makes with a range type or multirange type of a user, which have the type's name: they
/// make its values. Empty for other relations. The rows live as long as the process. They have no OIDs, as functions of
/// users have, which are found by their OIDs.
std::span<const FunctionInfo* const> rangeConstructors(const Relation& type);
/// The same as the system catalogs have them: with OIDs.
std::span<const FunctionInfo> listedRangeConstructors(const Relation& type);
/// The constructor with this OID; null: there is none.
const FunctionInfo* rangeConstructor(const Snapshot& snapshot, Oid oid);
/// The OID of the cast from a range to its multirange, which is the multirange's constructor with one argument.
Oid castToMultirange(const Relation& multirange);

} // namespace ouzel::catalog
