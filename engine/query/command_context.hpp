#pragma once
#include <span>

#include "engine/core/session_core.hpp"
#include "sql/parse/parser.hpp"

namespace ouzel::engine {

/// The arguments of a command: session, script, its statement, parameters, and the sink of its output.
struct CommandContext {
   SessionCore& core;
   const sql::ParsedScript& script;
   const sql::ParsedStatement& statement;
   std::span<const BoundParameter> parameters;
   ResultSink& sink;

   const sql::SourceText& source() const { return script.source(); }
   uint32_t position(int location) const { return script.source().position(location); }
};

} // namespace ouzel::engine
