#pragma once
#include "catalog/object/coder.hpp"
#include "catalog/object/publication.hpp"

// The bytes of publications; codec.cpp has those of the databases whose publications these are.

namespace ouzel::catalog {

template <typename Coder, typename T>
void publicationFields(Coder& coder, T& publication) {
   coder(publication.oid);
   coder(publication.name);
   coder(publication.owner);
   coder(publication.hasAllTables);
   coder(publication.insert);
   coder(publication.update);
   coder(publication.del);
   coder(publication.truncate);
   coder(publication.viaRoot);
   structures(coder, publication.tables, [&](auto& table) {
      coder(table.oid);
      coder(table.table);
      elements(coder, table.columns);
      coder(table.filter);
      elements(coder, table.filterReads);
   });
   structures(coder, publication.schemas, [&](auto& schema) {
      coder(schema.oid);
      coder(schema.schema);
   });
}

} // namespace ouzel::catalog
