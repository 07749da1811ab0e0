#pragma once
#include <vector>

#include "catalog/object/objects.hpp"

// The extensions of CREATE EXTENSION: a name for objects that came together and go together.

namespace ouzel::catalog {

/// Copies of a database have the extensions of the original under the same OIDs.
struct Extension : CatalogObject {
   /// An object that the extension's script made. It cannot be dropped but with the extension.
   struct Member {
      ObjectKind kind; ///< Function, Operator, Cast or Relation
      Oid oid = invalidOid;
      auto operator<=>(const Member&) const = default;
   };

   Oid database = invalidOid, oid = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   Oid schema = invalidOid; ///< of its objects
   std::string version;
   std::vector<Member> members; ///< ascending

   Extension() : CatalogObject(ObjectKind::Extension) {}
   bool has(const Member& member) const { return std::binary_search(members.begin(), members.end(), member); }
};

/// The OID of plpgsql, which every database has and no object of the catalog stands for.
inline constexpr Oid plpgsqlExtension = 13559;

} // namespace ouzel::catalog
