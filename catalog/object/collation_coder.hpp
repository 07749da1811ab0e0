#pragma once
#include "catalog/object/coder.hpp"
#include "catalog/object/collation.hpp"

// The bytes of collations; codec.cpp has those of the other objects.

namespace ouzel::catalog {

template <typename Coder, typename T>
void collationFields(Coder& coder, T& collation) {
   coder(collation.database);
   coder(collation.oid);
   coder(collation.schema);
   coder(collation.name);
   coder(collation.owner);
   coder(collation.provider);
   coder(collation.isDeterministic);
   coder(collation.encoding);
   coder(collation.collate);
   coder(collation.ctype);
   coder(collation.icuLocale);
   optional(coder, collation.version, [&](auto& version) { coder(version); });
}

} // namespace ouzel::catalog
