#pragma once
#include "catalog/object/snapshot.hpp"

// Who is who: which roles a role is a member of. Roles are named by OID; one that does not exist is a member of
// nothing.

namespace ouzel::catalog {

/// pg_database_owner: its only member is the owner of the database from which a snapshot is seen.
inline constexpr Oid databaseOwnerRole = 6171;

/// What a predefined role is a member of from the start.
std::vector<Role::Membership> predefinedMemberships(Oid role);

bool isSuperuser(const Snapshot& snapshot, Oid role);
/// Whether `role` is `of`, or a member of it, directly or through other roles. Superusers are not thereby members.
bool isMemberOf(const Snapshot& snapshot, Oid role, Oid of);
/// Whether `role` is `of`, or has its privileges without SET ROLE: a member through roles that inherit.
bool inheritsFrom(const Snapshot& snapshot, Oid role, Oid of);
/// Whether `role` may grant membership in `of`: it is a superuser, or a member with ADMIN OPTION on the way's last
/// step.
bool isAdminOf(const Snapshot& snapshot, Oid role, Oid of);
/// Whether `role` may become `of` by SET ROLE, and may make it the owner of objects.
bool maySetRole(const Snapshot& snapshot, Oid role, Oid of);

} // namespace ouzel::catalog
