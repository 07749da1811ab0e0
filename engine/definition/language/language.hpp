#pragma once
#include <string>

#include "engine/query/command_context.hpp"

// CREATE LANGUAGE and what changes languages afterwards. The database has them: who changes one locks the database
// against the others. CREATE LANGUAGE without HANDLER is CREATE EXTENSION; the grammar says so.

struct CreatePLangStmt;
struct DropStmt;
struct RenameStmt;

namespace ouzel::engine {

std::string createLanguage(CommandContext& context, const ::CreatePLangStmt& statement);
std::string dropLanguages(CommandContext& context, const ::DropStmt& statement);
/// False, as of the next two: the language is a built-in one, or there is none.
bool renameLanguage(SessionCore& core, const std::string& name, const std::string& newName);
bool changeLanguageOwner(SessionCore& core, const std::string& name, Oid owner);
bool commentOnLanguage(SessionCore& core, const std::string& name, const std::string& text);
/// REASSIGN OWNED.
void reassignLanguages(SessionCore& core, Oid from, Oid to);

} // namespace ouzel::engine
