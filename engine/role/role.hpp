#pragma once
#include <string>

#include "engine/query/command_context.hpp"

// Statements about roles: CREATE, ALTER, DROP; GRANT and REVOKE of memberships; settings of roles and databases. One
// function for each kind of statement; it returns the command tag. The rules are those of PostgreSQL 15, where a role
// with CREATEROLE may change every role but superusers.

struct AlterDatabaseSetStmt;
struct AlterRoleSetStmt;
struct AlterRoleStmt;
struct CreateRoleStmt;
struct DropRoleStmt;
struct GrantRoleStmt;
struct RenameStmt;

namespace ouzel::engine {

// role.cpp
std::string createRole(CommandContext& context, const ::CreateRoleStmt& statement);
std::string alterRole(CommandContext& context, const ::AlterRoleStmt& statement);
std::string dropRole(CommandContext& context, const ::DropRoleStmt& statement);
std::string renameRole(CommandContext& context, const ::RenameStmt& statement);
/// COMMENT ON ROLE: throws 42501 unless the session may change the role.
void requireMayComment(SessionCore& core, const catalog::Role& role);
// role_members.cpp
std::string grantRole(CommandContext& context, const ::GrantRoleStmt& statement);
// role_settings.cpp
std::string alterRoleSettings(CommandContext& context, const ::AlterRoleSetStmt& statement);
std::string alterDatabaseSettings(CommandContext& context, const ::AlterDatabaseSetStmt& statement);

} // namespace ouzel::engine
