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
   /// What the extension's script calls the functions that read, print and subscript values. The rows of `type` have
   /// others, since the OIDs of these are the database's. Empty: there is none.
   std::string_view input, output, receive, send, subscript;
};

std::span<const ExtensionType> extensionTypes();
// Types of what indexes of classes store in PostgreSQL (ExtensionClass::keyType). No value has one.
namespace key_type {
inline constexpr Oid hstore = 9214, trigrams = 9216, intbig = 9218, ltree = 9270, btree2 = 9272, btree4 = 9274,
                     btree8 = 9276, btree16 = 9278, btree32 = 9280, btreeVariable = 9282;
}

/// The extension that has the type, or of which it is an array; null: none.
const ExtensionType* extensionType(Oid type);

} // namespace ouzel::catalog
