#pragma once
#include <functional>
#include <optional>
#include <string>

#include "catalog/object/extension.hpp"
#include "engine/query/command_context.hpp"

// CREATE, ALTER and DROP EXTENSION. One function for each kind of statement; it returns the command tag.

struct AlterExtensionContentsStmt;
struct AlterExtensionStmt;
struct AlterObjectSchemaStmt;
struct CreateExtensionStmt;
struct DropStmt;

namespace ouzel::engine {

// create_extension.cpp
/// Runs a statement of an extension's script.
using ScriptRunner = std::function<void(const sql::ParsedScript& script, const sql::ParsedStatement& statement)>;
/// Throws 0A000 for the schemas of the system.
void requireOwnSchema(Oid schema);
std::string createExtension(CommandContext& context, const ::CreateExtensionStmt& statement, const ScriptRunner& run);

// change_extension.cpp
std::string alterExtension(CommandContext& context, const ::AlterExtensionStmt& statement);
std::string alterExtension(CommandContext& context, const ::AlterExtensionContentsStmt& statement);
std::string moveExtension(CommandContext& context, const ::AlterObjectSchemaStmt& statement);
std::string dropExtensions(CommandContext& context, const ::DropStmt& statement);
/// Throws 42501 unless who acts owns the extension.
void requireOwner(SessionCore& core, const catalog::Extension& extension);
/// Gives what a role owns to another.
void reassignExtensions(SessionCore& core, Oid from, Oid to);

} // namespace ouzel::engine
