#pragma once
#include <string>

#include "engine/core/session_core.hpp"

// By which index a table was clustered last, which the index remembers: CLUSTER, ALTER TABLE ... CLUSTER ON.

namespace ouzel::engine {

/// The index of the table that has this name. Throws 42704, 42809 and 0A000 if there is none that rows can be ordered
/// by.
catalog::RelationPtr requireClusterable(SessionCore& core, const catalog::Relation& table, const std::string& name);
/// The index that the table remembers, or null.
catalog::RelationPtr clusteredIndex(const catalog::Snapshot& catalog, const catalog::Relation& table);
/// Lets the table remember `index` and no other; invalidOid: none.
void markClustered(SessionCore& core, Oid table, Oid index);

} // namespace ouzel::engine
