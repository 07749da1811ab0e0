#pragma once
#include <string>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Waits, five seconds at most, for the other sessions of a database to end; then the transaction sees the catalog as
/// they have left it, in every isolation level. Throws 55006 with `message` if some stay. REQUIRES: the transaction's
/// lock on the database keeps new sessions out.
void requireUnused(SessionCore& core, Oid database, const std::string& message);
/// Ends the other sessions of a database. Throws 42501 if one is not for the current role to end.
void endSessions(SessionCore& core, Oid database);
/// `... permission denied`, in words for a role that may not create databases.
void requireCreatesDatabases(SessionCore& core, const std::string& message);
/// Throws 42501 `must be member of role "x"`.
void requireMayBecomeOwner(SessionCore& core, Oid owner);

} // namespace ouzel::engine
