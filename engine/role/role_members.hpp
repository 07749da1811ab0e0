#pragma once
#include <vector>

#include "engine/role/actor.hpp"

namespace ouzel::engine {

/// Makes roles members of a role; those that are already are told in a notice. Throws 42501 unless the session may, and
/// 0LP01 if the role would become a member of itself.
void addMembers(SessionCore& core, const catalog::Role& role, const std::vector<catalog::RolePtr>& members, Oid grantor,
                bool withAdmin);
/// Ends memberships, or with `onlyAdmin` takes away their ADMIN OPTION.
void removeMembers(SessionCore& core, const catalog::Role& role, const std::vector<catalog::RolePtr>& members,
                   bool onlyAdmin);

} // namespace ouzel::engine
