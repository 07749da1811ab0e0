#pragma once
#include <string>

#include "engine/core/database_lock.hpp"
#include "engine/query/command_context.hpp"

// Statements about databases. Settings of databases are in engine/role/role_settings.cpp, privileges in
// engine/role/grant.cpp. Whoever drops, renames or copies a database locks it, so that no session begins in it
// meanwhile (SessionCore's constructor), and needs it free of other sessions.

struct AlterDatabaseRefreshCollStmt;
struct AlterDatabaseStmt;
struct CreatedbStmt;
struct DropdbStmt;

namespace ouzel::engine {

// One function for each kind of statement; it returns the command tag.
std::string createDatabase(CommandContext& context, const ::CreatedbStmt& statement);
std::string dropDatabase(CommandContext& context, const ::DropdbStmt& statement);
std::string alterDatabase(CommandContext& context, const ::AlterDatabaseStmt& statement);
std::string refreshDatabaseCollation(CommandContext& context, const ::AlterDatabaseRefreshCollStmt& statement);
// Parts of statements about objects of any kind.
void renameDatabase(SessionCore& core, const std::string& name, const std::string& newName);
void changeDatabaseOwner(SessionCore& core, const std::string& name, Oid owner);

} // namespace ouzel::engine
