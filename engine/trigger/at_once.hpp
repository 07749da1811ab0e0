#pragma once
#include "engine/core/trigger_call.hpp"
#include "engine/program/run_routine.hpp"
#include "engine/query/query_execution.hpp"

namespace ouzel::engine {

/// Does for all rows what the function of an AFTER ROW trigger does for each, if it only inserts values that it
/// computes from OLD, NEW and TG_...: the INSERT of an audit trail runs once, over the rows. `condition`: the column of
/// the rows that says for which the trigger fires; -1: for all. False: the function has to be called for each row;
/// nothing was done then.
bool fireAtOnce(SessionCore& core, const catalog::RelationPtr& table, const catalog::Trigger& trigger, uint32_t event,
                int32_t condition, const TriggeredRows& written, const RunCommand& runCommand);

} // namespace ouzel::engine
