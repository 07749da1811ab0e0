#pragma once
#include <span>

#include "catalog/builtin/builtin.hpp"

// The comparisons of the types of extensions. The scripts of the extensions make operators as users do. The rows here
// stand beside them where the server asks a type for its order: for keys, sorts, groups and joins. No name finds
// these rows.

namespace ouzel::catalog {

struct ExtensionOperator {
   OperatorInfo info;
   uint8_t strategy;        ///< BtreeStrategy; 0: the negator of the equality
   std::string_view source; ///< the kernel of the script's operator: "hstore/hstore_eq"
};

struct ExtensionFamily {
   Oid type, btree, hash; ///< the type and its operator families; no family of hashes: invalidOid
};

std::span<const ExtensionOperator> extensionOperators();
std::span<const ExtensionFamily> extensionFamilies();
/// The row of a script's operator, by its kernel and operands; null: it is no comparison of an extension's type.
const OperatorInfo* extensionComparison(std::string_view source, Oid left, Oid right);

} // namespace ouzel::catalog
