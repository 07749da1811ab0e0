#pragma once
#include <string>
#include <string_view>

#include "engine/query/command_context.hpp"

// CREATE EVENT TRIGGER and what changes event triggers afterwards. engine/trigger/command_events.hpp fires them. The
// database has them: who changes one locks the database against the others.

struct AlterEventTrigStmt;
struct CreateEventTrigStmt;
struct DropStmt;
struct RenameStmt;

namespace ouzel::engine {

std::string createEventTrigger(CommandContext& context, const ::CreateEventTrigStmt& statement);
/// ALTER EVENT TRIGGER ... ENABLE, ENABLE REPLICA, ENABLE ALWAYS and DISABLE.
std::string alterEventTrigger(CommandContext& context, const ::AlterEventTrigStmt& statement);
std::string dropEventTriggers(CommandContext& context, const ::DropStmt& statement);
std::string renameEventTrigger(CommandContext& context, const ::RenameStmt& statement);
void changeEventTriggerOwner(SessionCore& core, const std::string& name, Oid owner);
void commentOnEventTrigger(SessionCore& core, const std::string& name, const std::string& text);
/// REASSIGN OWNED.
void reassignEventTriggers(SessionCore& core, Oid from, Oid to);
/// DROP OWNED.
void dropEventTriggersOf(SessionCore& core, Oid owner);

} // namespace ouzel::engine
