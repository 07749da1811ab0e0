#pragma once
#include <vector>

#include "catalog/object/objects.hpp"

// The extensions of CREATE EXTENSION: a name for objects that came together and go together.

namespace ouzel::catalog {

/// Copies of a database have the extensions of the original under the same OIDs.
struct Extension : CatalogObject {
   /// An object that the extension's script made. It cannot be dropped but with the extension.
   struct Member {
      ObjectKind kind; ///< Function, Operator, Cast, Relation, ForeignWrapper, or one of text search
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

/// An extension that every database has, for which no object of the catalog stands.
struct BuiltinExtension {
   Oid oid;
   std::string_view name;
};
inline constexpr Oid plpgsqlExtension = 13559, s3Extension = 9101;
inline constexpr BuiltinExtension builtinExtensions[] = {{s3Extension, "s3"}, {plpgsqlExtension, "plpgsql"}};

/// Null: there is none of that name.
constexpr const BuiltinExtension* findBuiltinExtension(std::string_view name) {
   for (const BuiltinExtension& one : builtinExtensions)
      if (one.name == name) return &one;
   return nullptr;
}
constexpr const BuiltinExtension* builtinExtension(Oid oid) {
   for (const BuiltinExtension& one : builtinExtensions)
      if (one.oid == oid) return &one;
   return nullptr;
}

} // namespace ouzel::catalog
