#pragma once
#include <vector>

#include "catalog/object/snapshot.hpp"

// Row-level security: for whom a table's policies count, and which of them. sql/bind/policy makes expressions of them.

namespace ouzel::catalog {

/// Whether a role sees and writes only what the table's policies let it: not superusers, nor roles with BYPASSRLS, nor
/// the table's owner unless the table forces it.
bool isRestricted(const Snapshot& snapshot, Oid role, const Relation& table);

/// The policies that apply to a role for one kind of command, each list in the order of names. A row passes if one of
/// the permissive policies and all restrictive ones let it pass; without a permissive one, none does.
struct Policies {
   std::vector<const Policy*> permissive, restrictive;
};
/// The policies live as long as `table`. REQUIRES: not All.
Policies policiesFor(const Snapshot& snapshot, Oid role, const Relation& table, PolicyCommand command);

} // namespace ouzel::catalog
