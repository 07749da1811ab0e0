#pragma once
#include <vector>

#include "engine/core/internals.hpp"

namespace ouzel::engine {

// Temporary objects are in no stored catalog, but the rows of a temporary table are in a table of the storage, which
// the log and checkpoints contain.

/// Drop the tables and forget the counters of a session that ends. Does not wait for the log; an error is logged, and
/// the next start drops the rest.
void dropTemporaryObjects(Database::Internals& database, const std::vector<catalog::Change>& objects) noexcept;

/// Drop tables that no relation of the catalog refers to: those of sessions that a crash has ended. REQUIRES: there is
/// no session.
void dropUnreferencedTables(Database::Internals& database);

} // namespace ouzel::engine
