#pragma once
#include "catalog/builtin/extension_types.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/snapshot.hpp"

// Where the types of extensions are: in the schema of their extension, as long as the database has it.

namespace ouzel::catalog {

/// Null: there is no such type.
inline const TypeInfo* findExtensionType(const Snapshot& snapshot, Oid schema, std::string_view name) {
   for (const ExtensionType& one : extensionTypes())
      for (const TypeInfo* type : {&one.type, &one.array})
         if (type->name == name)
            if (const ExtensionPtr extension = snapshot.findExtension(one.extension))
               if (extension->schema == schema) return builtins().type(type->oid);
   return nullptr;
}

/// invalidOid: the type is none of an extension that the database has.
inline Oid schemaOfExtensionType(const Snapshot& snapshot, Oid type) {
   const ExtensionType* made = extensionType(type);
   const ExtensionPtr extension = made ? snapshot.findExtension(made->extension) : nullptr;
   return extension ? extension->schema : Oid{invalidOid};
}

} // namespace ouzel::catalog
