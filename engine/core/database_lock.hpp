#pragma once
#include <string_view>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Locks the database of the name and returns it as it is once the lock is held: others may rename or drop it while
/// this transaction waits. Null: there is none. Throws 40P01, 55P03 and 57014 while it waits.
catalog::DatabasePtr lockDatabase(SessionCore& core, std::string_view name, LockMode mode);
/// The same; throws 3D000 if there is none.
catalog::DatabasePtr requireDatabase(SessionCore& core, std::string_view name, LockMode mode);
/// A copy of the session's database to change, locked against others that change it.
catalog::Database draftOfDatabase(SessionCore& core);

} // namespace ouzel::engine
