#pragma once
#include <string>

#include "engine/query/command_context.hpp"

struct GrantStmt;

namespace ouzel::engine {

/// GRANT and REVOKE of privileges on objects. Returns the command tag.
std::string grantPrivileges(CommandContext& context, const ::GrantStmt& statement);

} // namespace ouzel::engine
