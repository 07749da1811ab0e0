#pragma once
#include <functional>

#include "engine/query/command_context.hpp"

namespace ouzel::engine {

/// Locks the relation that `find` finds, and with `withHeirs` all that inherits from it, and returns it as it is once
/// the locks are held: others may change, rename or drop it, or give it another partition, while this transaction
/// waits. After a wait `find`, which also checks whether the command may have the relation, runs again, over the newest
/// catalog and with a new snapshot of the rows where the isolation level allows it. Null where `find` gives null.
/// Passes on what `find` throws; throws 40P01 and 57014 while it waits.
catalog::RelationPtr lockFound(SessionCore& core, LockMode mode, bool withHeirs,
                               const std::function<catalog::RelationPtr()>& find);

} // namespace ouzel::engine
