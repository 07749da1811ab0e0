#pragma once
#include <memory>
#include <string>

#include "catalog/editor/editor.hpp"
#include "engine/core/event_state.hpp"
#include "engine/program/run_routine.hpp"

struct Node;

namespace ouzel::engine {

/// Fires the event triggers of one command that changes objects: begin() before it, end() after it. What it has changed
/// is found by comparing the catalog before and after. A database without event triggers costs nothing.
class CommandEvents {
public:
   CommandEvents(SessionCore& core, const ::Node& command, const RunCommand& runCommand);
   CommandEvents(const CommandEvents&) = delete;
   /// False: nothing fires for the command.
   bool areWatched() const { return before_ != nullptr; }
   /// ddl_command_start.
   void begin();
   /// sql_drop if something was dropped, and ddl_command_end.
   void end();

private:
   void noteNamed();

   SessionCore& core_;
   const ::Node& command_;
   const RunCommand& runCommand_;
   std::string tag_;
   std::shared_ptr<const catalog::CatalogEditor::Savepoint> before_; ///< null: nothing fires
   catalog::Snapshot snapshot_;                                      ///< before the command
   std::vector<Oid> named_;                                          ///< objects that a DROP names
   EventState state_;
};

/// Fires table_rewrite, if a trigger of the database asks for it. `reason`: see EventState.
void fireRewrite(SessionCore& core, const catalog::Relation& table, int32_t reason, const RunCommand& runCommand);

} // namespace ouzel::engine
