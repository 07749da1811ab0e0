#pragma once
#include <string>

#include "engine/query/command_context.hpp"

struct DropOwnedStmt;
struct ReassignOwnedStmt;

namespace ouzel::engine {

/// Each returns the command tag. Throws 42501 unless who acts has the privileges of all roles that are named, and 2BP01
/// for the roles that every cluster has.
std::string reassignOwned(CommandContext& context, const ::ReassignOwnedStmt& statement);
std::string dropOwned(CommandContext& context, const ::DropOwnedStmt& statement);

} // namespace ouzel::engine
