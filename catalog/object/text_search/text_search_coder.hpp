#pragma once
#include "catalog/object/coder.hpp"
#include "catalog/object/text_search/text_search.hpp"

// The bytes of objects of full text search; codec.cpp has those of the other objects.

namespace ouzel::catalog {

template <typename Coder, typename T>
void textSearchFields(Coder& coder, T& object) {
   coder(object.database);
   coder(object.oid);
   coder(object.schema);
   coder(object.name);
   coder(object.owner);
   coder(object.base);
   optional(coder, object.options, [&](auto& options) { coder(options); });
   structures(coder, object.mappings, [&](auto& mapping) {
      coder(mapping.token);
      elements(coder, mapping.dictionaries);
   });
   elements(coder, object.functions);
}

} // namespace ouzel::catalog
