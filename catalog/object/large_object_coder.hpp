#pragma once
#include "catalog/object/coder.hpp"
#include "catalog/object/large_object.hpp"

// The bytes of large objects; codec.cpp has those of the other objects.

namespace ouzel::catalog {

template <typename Coder, typename T, typename AclFields>
void largeObjectFields(Coder& coder, T& object, AclFields&& aclFields) {
   coder(object.database);
   coder(object.oid);
   coder(object.owner);
   aclFields(coder, object.acl);
}

template <typename Coder, typename T>
void largeObjectPagesFields(Coder& coder, T& pages) {
   coder(pages.database);
   coder(pages.storage);
}

} // namespace ouzel::catalog
