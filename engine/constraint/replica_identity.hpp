#pragma once
#include "catalog/object/snapshot.hpp"
#include "sql/algebra/rel.hpp"

// Replica identities: the columns by which subscribers of a publication would find a row that changes. As PostgreSQL,
// the server refuses changes that they could not follow.

namespace ouzel::engine {

/// Throws 55000 if the statement updates or deletes rows of a table without replica identity whose updates or deletes
/// are published, and 42P10 if a filter needs other columns, or a column list lacks some of them.
void requireReplicaIdentities(const catalog::Snapshot& snapshot, const sql::Rel& statement);

} // namespace ouzel::engine
