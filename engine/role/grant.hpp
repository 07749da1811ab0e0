#pragma once
#include <string>

#include "engine/query/command_context.hpp"

struct GrantStmt;

namespace ouzel::engine {

/// GRANT and REVOKE of privileges on objects. Returns the command tag.
std::string grantPrivileges(CommandContext& context, const ::GrantStmt& statement);
/// REVOKE ALL ... CASCADE from a role, of all objects of the database and all databases that others own and that grant
/// the role something.
void revokeEverything(SessionCore& core, Oid role);

} // namespace ouzel::engine
