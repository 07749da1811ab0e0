#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "catalog/object/objects.hpp"

namespace ouzel::catalog {

/// A name is unique per kind, database and schema; a part that does not apply to a kind is invalidOid.
struct NameKey {
   ObjectKind kind;
   Oid database, schema;
   std::string name;
};
struct NameView {
   ObjectKind kind;
   Oid database, schema;
   std::string_view name;
};
struct NameLess {
   using is_transparent = void;
   template <typename A, typename B>
   bool operator()(const A& a, const B& b) const {
      return std::make_tuple(a.kind, a.database, a.schema, std::string_view(a.name)) <
             std::make_tuple(b.kind, b.database, b.schema, std::string_view(b.name));
   }
};

/// Empty for objects without a name.
std::optional<NameKey> nameOf(const CatalogObject& object);

/// PostgreSQL's makeObjectName: "first_second_label", where the longer of the first two parts is shortened until the
/// name fits.
std::string joinedName(std::string_view first, std::string_view second, std::string_view label);

} // namespace ouzel::catalog
