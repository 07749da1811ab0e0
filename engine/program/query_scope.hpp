#pragma once
#include <string>

#include "engine/program/program_query.hpp"

// What is around a text of a program while it is bound, and while it fails.

namespace ouzel::engine {

/// While it lives, statements that are bound see the program's variables.
class SeesVariables {
public:
   explicit SeesVariables(const ProgramQuery& query) : core_(query.core), outer_(query.core.program) {
      if (query.variables) query.variables->enter(query.scope);
      core_.program = {query.variables, query.types, query.part};
   }
   ~SeesVariables() { core_.program = outer_; }
   SeesVariables(const SeesVariables&) = delete;

private:
   SessionCore& core_;
   const SessionCore::RunningProgram outer_;
};

/// Tells an error of the text where it came from. One that has a position in the text shows the text itself.
void addContext(SqlError& error, const ProgramQuery& query, const std::string& text);

} // namespace ouzel::engine
