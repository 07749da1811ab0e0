#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/command_context.hpp"

struct GrantStmt;
struct List;

namespace ouzel::engine {

/// GRANT and REVOKE of privileges on objects. Returns the command tag.
std::string grantPrivileges(CommandContext& context, const ::GrantStmt& statement);
/// The same on functions and procedures of users, which definition/ has found.
std::string grantOnFunctions(CommandContext& context, const ::GrantStmt& statement, const std::vector<Oid>& functions);
/// REVOKE ALL ... CASCADE from a role, of all objects of the database and all databases that others own and that grant
/// the role something.
void revokeEverything(SessionCore& core, Oid role);

/// The bit of catalog::privilege for a word of GRANT. Throws 42601.
uint32_t privilegeBit(std::string_view word);
/// The roles of TO and FROM; invalidOid: PUBLIC. Throws 42704.
std::vector<Oid> granteesOf(SessionCore& core, const ::List* roles);

} // namespace ouzel::engine
