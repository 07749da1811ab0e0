#pragma once
#include <span>
#include <string_view>

#include "common/value/sql_type.hpp"

// The operator classes of extensions. Indexes of all methods are built alike here: a class says which types an index
// may be over, and by what name.

namespace ouzel::catalog {

inline constexpr Oid pgOpclass = 2616, pgOpfamily = 2753; ///< OIDs of the catalogs

struct ExtensionClass {
   Oid oid; ///< below those of users, as no object of the catalog stands for a class
   std::string_view extension, method, name;
   Oid input;                     ///< type of the column
   bool isDefault;                ///< of the method for the type
   Oid keyType = Oid{invalidOid}; ///< of what PostgreSQL's index stores, if that is another type

   /// Each class has a family of its own and of its name.
   Oid family() const { return oid + 100; }
};

std::span<const ExtensionClass> extensionClasses();
/// Null: the class is no extension's.
const ExtensionClass* extensionClass(Oid oid);
/// The class whose family it is; null: the family is no extension's.
const ExtensionClass* extensionFamily(Oid oid);

} // namespace ouzel::catalog
