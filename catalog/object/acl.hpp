#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/snapshot.hpp"

// Access control lists: which role holds which privileges of an object, and what GRANT and REVOKE make of a list.
//
// The owner's privileges are items like all others, which the owner may revoke from himself; but he always keeps the
// grant options. Superusers hold all privileges of everything.

namespace ouzel::catalog {

/// The kinds of objects that have privileges of their own. A new kind has a row in the table of acl.cpp.
enum class AclKind : uint8_t {
   Table,
   Column,
   Sequence,
   Schema,
   Database,
   Function,
   Type,
   Language,
   Tablespace,
   Server,
   LargeObject,
   ForeignWrapper
};

/// What objects of a kind can grant, and what PUBLIC has while nothing was granted.
struct AclRules {
   AclKind kind;
   std::string_view name;  ///< "table", as errors name it
   uint32_t all;           ///< privileges that there are
   uint32_t publicDefault; ///< that everybody has while there is no list
};
const AclRules& aclRules(AclKind kind);
/// "SELECT", "TEMPORARY"; of one bit.
std::string_view privilegeName(uint32_t privilege);

/// Of a relation: what CREATE TYPE and CREATE DOMAIN made is a type.
AclKind aclKindOf(const Relation& relation);

/// The list, or the items that stand for one that is missing.
std::vector<AclItem> itemsOf(const Acl& acl, AclKind kind, Oid owner);
/// The privileges of `wanted` that `role` holds on an object; superusers: all of them.
uint32_t held(const Snapshot& snapshot, Oid role, Oid owner, const Acl& acl, AclKind kind, uint32_t wanted);
/// The privileges of `wanted` that `role` may grant.
uint32_t grantable(const Snapshot& snapshot, Oid role, Oid owner, const Acl& acl, uint32_t wanted);
/// True if `role` is the owner, inherits from the owner, or is a superuser.
bool ownsObject(const Snapshot& snapshot, Oid role, Oid owner);

/// Whether `role` holds all of `wanted` on a relation. pg_read_all_data and pg_write_all_data hold theirs on every one.
bool mayUse(const Snapshot& snapshot, Oid role, const Relation& relation, uint32_t wanted);
/// The same for one column of it, by its own list or that of the relation.
bool mayUseColumn(const Snapshot& snapshot, Oid role, const Relation& relation, const Column& column, uint32_t wanted);
/// Whether `role` may read all these columns, so that errors may show their values.
bool mayRead(const Snapshot& snapshot, Oid role, const Relation& relation, std::span<const int16_t> attributes);
bool mayUse(const Snapshot& snapshot, Oid role, const Schema& schema, uint32_t wanted);
bool mayUse(const Snapshot& snapshot, Oid role, const Database& database, uint32_t wanted);
bool mayUse(const Snapshot& snapshot, Oid role, const LargeObject& object, uint32_t wanted);
/// Whether the role may call the function.
bool mayUse(const Snapshot& snapshot, Oid role, const Function& function);

/// One GRANT or REVOKE, for a list of one object.
struct AclChange {
   bool isGrant = true;
   bool grantOption = false; ///< WITH GRANT OPTION, or GRANT OPTION FOR
   bool cascades = false;
   std::vector<Oid> grantees; ///< invalidOid: PUBLIC
   uint32_t privileges = 0;
   Oid grantor = invalidOid;
   Oid owner = invalidOid;
};
/// The items afterwards. Throws 0LP01 where options would go to PUBLIC or back to their grantor, and 2BP01 where
/// privileges depend on those that are revoked.
std::vector<AclItem> applied(const Snapshot& snapshot, std::vector<AclItem> items, const AclChange& change);

/// The list once the object has a new owner: what the old one held and gave is the new one's.
Acl handedOver(const Acl& acl, Oid from, Oid to);

/// The role in whose name `role` grants `privileges`, and those of them that it may grant: the owner, or the role that
/// has most of the grant options, as PostgreSQL chooses it.
struct Grantor {
   Oid role = invalidOid;
   uint32_t privileges = 0;
};
Grantor bestGrantor(const Snapshot& snapshot, Oid role, Oid owner, std::span<const AclItem> items, uint32_t privileges);

} // namespace ouzel::catalog
