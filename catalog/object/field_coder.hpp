#pragma once
#include "catalog/object/coder.hpp"

// The bytes of what several kinds of objects have.

namespace ouzel::catalog {

template <typename Coder, typename T>
void type(Coder& coder, T& value) {
   coder(value.oid);
   coder(value.typmod);
   coder(value.collation);
   if (coder.has(4)) coder(value.domain);
}
template <typename Coder, typename T>
void aclItems(Coder& coder, T& items) {
   structures(coder, items, [&](auto& item) {
      coder(item.grantee);
      coder(item.grantor);
      coder(item.privileges);
      coder(item.grantOptions);
   });
}
template <typename Coder, typename T>
void acl(Coder& coder, T& value) {
   optional(coder, value, [&](auto& items) { aclItems(coder, items); });
}
template <typename Coder, typename T>
void pairs(Coder& coder, T& values) {
   structures(coder, values, [&](auto& value) {
      coder(value.first);
      coder(value.second);
   });
}

} // namespace ouzel::catalog
