#pragma once
#include "catalog/object/objects.hpp"

// Large objects: what the catalog knows of them. Their bytes are rows of a table without a name, one for each database,
// which engine/large_object reads and writes.

namespace ouzel::catalog {

/// Copies of a database have the large objects of the original under the same OIDs.
struct LargeObject : CatalogObject {
   Oid database = invalidOid, oid = invalidOid;
   Oid owner = bootstrapRole;
   Acl acl;
   LargeObject() : CatalogObject(ObjectKind::LargeObject) {}
};

/// Where a database has the pages of its large objects. The first large object makes it, and it stays.
struct LargeObjectPages : CatalogObject {
   Oid database = invalidOid;
   StorageId storage = noStorage;
   LargeObjectPages() : CatalogObject(ObjectKind::LargeObjectPages) {}
};

/// The columns of the pages' table, as pg_largeobject has them: loid, pageno, data.
inline std::vector<storage::ColumnDefinition> largeObjectColumns() {
   std::vector<storage::ColumnDefinition> columns;
   for (const Oid type : {oid::oid, oid::int4, oid::bytea})
      columns.push_back(storage::ColumnDefinition::of({type, -1, invalidOid}));
   return columns;
}

} // namespace ouzel::catalog
