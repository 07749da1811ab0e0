#pragma once
#include <string>
#include <vector>

#include "engine/query/command_context.hpp"

struct List;
struct RoleSpec;

// Who runs a statement about roles, and whom it names.

namespace ouzel::engine {

/// The role that runs a statement. A role that was dropped meanwhile may do nothing.
struct Actor {
   Oid current = invalidOid; ///< current_user
   Oid session = invalidOid; ///< session_user
   bool isSuperuser = false;
   bool createsRoles = false; ///< true for superusers
};
Actor actorOf(SessionCore& core);

/// Throws 42501 with the message unless the condition holds.
void requireRight(bool isHeld, const std::string& message);
/// Throws 42704 "role ... does not exist".
catalog::RolePtr existingRole(const catalog::Snapshot& snapshot, const std::string& name);
/// The role of a specification: a name, CURRENT_USER, SESSION_USER. Throws 42704; PUBLIC does not exist as a role.
catalog::RolePtr existingRole(SessionCore& core, const ::RoleSpec& role);
/// The roles of a list of specifications.
std::vector<catalog::RolePtr> existingRoles(SessionCore& core, const ::List* roles);
/// Throws 42939 for the names of the predefined roles, and all like them.
void requireNotReserved(const std::string& name, const std::string& detail);

} // namespace ouzel::engine
