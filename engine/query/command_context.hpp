#pragma once
#include <span>

#include "engine/core/session_core.hpp"
#include "sql/parse/parser.hpp"

struct RangeVar;

namespace ouzel::engine {

/// The arguments of a command: session, script, its statement, parameters, and the sink of its output.
struct CommandContext {
   SessionCore& core;
   const sql::ParsedScript& script;
   const sql::ParsedStatement& statement;
   std::span<const BoundParameter> parameters;
   ResultSink& sink;
   bool isTopLevel = false; ///< the client has sent it

   const sql::SourceText& source() const { return script.source(); }
   uint32_t position(int location) const { return script.source().position(location); }
};

/// The name of a command's target. It has no position: PostgreSQL reports none when the target does not exist.
catalog::QualifiedName commandTarget(CommandContext& context, const catalog::SearchPath& path, const ::RangeVar& name);
/// The target of a command. Throws 3F000 if its schema does not exist, 42P01 if it does not.
catalog::RelationPtr requireTarget(CommandContext& context, const catalog::SearchPath& path, const ::RangeVar& name);

/// Throws 25001 "<command> cannot run inside a transaction block" inside one, which several statements of one message
/// make, too.
void refuseInBlock(const CommandContext& context, std::string_view command);

} // namespace ouzel::engine
