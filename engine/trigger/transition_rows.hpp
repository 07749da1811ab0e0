#pragma once
#include <memory>

#include "engine/core/trigger_call.hpp"
#include "engine/query/query_execution.hpp"

namespace ouzel::engine {

/// The transition tables of a trigger over the rows that a statement has written. `event`: that of the trigger.
/// Rows live as long as `written` does.
TransitionTables transitionsOf(const catalog::Trigger& trigger, const catalog::Relation& table, uint32_t event,
                               const TriggeredRows& written);
/// What was done with a row: one of catalog::trigger_bit.
uint32_t eventOf(const TriggeredRows& written, const Batch& rows, uint32_t row);

/// A virtual table of the live columns of `table`, `times` times over, with values as rows have them.
catalog::RelationPtr rowsRelation(const catalog::Relation& table, std::string name, Oid oid, int times);
/// The OID of the virtual table of all rows for which a trigger fires.
Oid rowsOid(const catalog::Trigger& trigger);

} // namespace ouzel::engine
