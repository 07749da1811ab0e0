#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "catalog/catalog.hpp"
#include "engine/core/event_state.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// The objects that the changes of one command have made or changed, as pg_event_trigger_ddl_commands() lists them.
std::vector<EventState::Changed> changedObjects(SessionCore& core, std::span<const catalog::Change> changes,
                                                std::string_view tag);
/// The objects that fell, and their parts. `named`: those that the command names; empty: all that are no parts.
std::vector<EventState::Dropped> droppedObjects(SessionCore& core, const catalog::Snapshot& before,
                                                std::span<const catalog::Change> changes, std::string_view tag,
                                                std::span<const Oid> named);

} // namespace ouzel::engine
