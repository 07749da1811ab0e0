#pragma once
#include "catalog/object/coder.hpp"
#include "catalog/object/extension.hpp"

// The bytes of extensions; codec.cpp has those of the other objects.

namespace ouzel::catalog {

template <typename Coder, typename T>
void extensionFields(Coder& coder, T& extension) {
   coder(extension.database);
   coder(extension.oid);
   coder(extension.name);
   coder(extension.owner);
   coder(extension.schema);
   coder(extension.version);
   structures(coder, extension.members, [&](auto& member) {
      coder(member.kind);
      coder(member.oid);
   });
}

} // namespace ouzel::catalog
