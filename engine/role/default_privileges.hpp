#pragma once
#include <string>

#include "engine/query/command_context.hpp"

struct AlterDefaultPrivilegesStmt;

namespace ouzel::engine {

/// ALTER DEFAULT PRIVILEGES: what roles grant on objects that they make later. Returns the command tag.
std::string alterDefaultPrivileges(CommandContext& context, const ::AlterDefaultPrivilegesStmt& statement);
/// DROP OWNED: the defaults of a role, and what those of others grant it.
void removeDefaultPrivileges(SessionCore& core, Oid role);

} // namespace ouzel::engine
