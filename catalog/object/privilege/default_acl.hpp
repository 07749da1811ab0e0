#pragma once
#include <optional>

#include "catalog/object/acl.hpp"

// Default privileges: the lists that objects begin with, as ALTER DEFAULT PRIVILEGES of their owner has set them.

namespace ouzel::catalog {

/// The letter of a kind of objects in pg_default_acl; '\0': it has no default privileges.
char defaultAclLetter(AclKind kind);
AclKind kindOf(const DefaultAcl& defaults);
/// The entry of a role for a kind of objects in one schema, or in all (invalidOid); null if there is none.
std::shared_ptr<const DefaultAcl> findDefaultAcl(const Snapshot& snapshot, Oid role, Oid schema, AclKind kind);
/// What such an entry stands over: the built-in list, or for one schema nothing.
std::vector<AclItem> builtinDefault(Oid role, Oid schema, AclKind kind);
bool isBuiltinDefault(const std::vector<AclItem>& items, Oid role, Oid schema, AclKind kind);
/// The list of a new object; empty if it is the built-in one.
Acl initialAcl(const Snapshot& snapshot, Oid owner, Oid schema, AclKind kind);

} // namespace ouzel::catalog
