#pragma once
#include <string_view>

#include "catalog/builtin/builtin.hpp"

// The types of extensions. They have rows among the built-in types, in a schema that does not exist: names find them
// only where the database has the extension (object/extension_types.hpp).

namespace ouzel::catalog {

inline constexpr Oid extensionTypeSchema = 9290;

struct ExtensionType {
   TypeInfo type, array;
   std::string_view extension;
};

std::span<const ExtensionType> extensionTypes();
/// The extension that has the type, or of which it is an array; null: none.
const ExtensionType* extensionType(Oid type);

} // namespace ouzel::catalog
