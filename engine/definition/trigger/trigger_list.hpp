#pragma once
#include <functional>

#include "engine/core/session_core.hpp"

// The triggers of one relation in the catalog.

namespace ouzel::engine {

/// Puts them in the order of their names, in which they fire.
void putTriggers(SessionCore& core, const catalog::Relation& table, std::vector<catalog::Trigger> triggers);
/// Gives a partition its part of a trigger of `parent`, with new OIDs, and its own partitions theirs.
void addPart(SessionCore& core, const catalog::Trigger& trigger, const catalog::Relation& parent, Oid partition);
/// Calls `change` for a trigger and all its parts in partitions.
void changeWithParts(SessionCore& core, const catalog::Relation& table, Oid trigger,
                     const std::function<void(catalog::Trigger&)>& change);
/// Removes a trigger and all its parts in partitions, with their comments.
void removeWithParts(SessionCore& core, const catalog::Relation& table, Oid trigger);
/// Whether the trigger of a partitioned table is one of its partitions, too.
bool hasParts(const catalog::Relation& table, const catalog::Trigger& trigger);

} // namespace ouzel::engine
