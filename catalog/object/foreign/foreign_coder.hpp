#pragma once
#include "catalog/object/coder.hpp"
#include "catalog/object/field_coder.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"

// The bytes of foreign-data wrappers, and of what relations have of foreign data; codec.cpp has those of the other
// objects.

namespace ouzel::catalog {

template <typename Coder, typename T, typename AclFields>
void foreignWrapperFields(Coder& coder, T& wrapper, AclFields&& aclFields) {
   coder(wrapper.database);
   coder(wrapper.oid);
   coder(wrapper.name);
   coder(wrapper.owner);
   aclFields(coder, wrapper.acl);
   coder(wrapper.validator);
   pairs(coder, wrapper.options);
   if (coder.has(20)) coder(wrapper.handler);
}

/// Of a relation: its server and options, and the options of its columns.
template <typename Coder, typename T>
void foreignTableFields(Coder& coder, T& relation) {
   optional(coder, relation.foreign, [&](auto& foreign) {
      coder(foreign.server);
      pairs(coder, foreign.options);
      for (auto& column : relation.columns)
         pairs(coder, column.foreignOptions);
   });
}

} // namespace ouzel::catalog
