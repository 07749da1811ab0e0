#include "engine/definition/index/clustered.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel::engine {

catalog::RelationPtr requireClusterable(SessionCore& core, const catalog::Relation& table, const std::string& name) {
   auto index = core.transaction.catalog().findRelation(table.schema, name);
   if (!index)
      throw SqlError(sqlstate::undefinedObject,
                     "index \"" + name + "\" for table \"" + table.name + "\" does not exist");
   if (!index->index || index->index->table != table.oid)
      throw SqlError(sqlstate::wrongObjectType, "\"" + name + "\" is not an index for table \"" + table.name + "\"");
   if (index->index->method != "btree" && index->index->method != "gist")
      throw SqlError(sqlstate::featureNotSupported,
                     "cannot cluster on index \"" + name + "\" because access method does not support clustering");
   if (!index->index->predicate.empty())
      throw SqlError(sqlstate::featureNotSupported, "cannot cluster on partial index \"" + name + "\"");
   return index;
}

catalog::RelationPtr clusteredIndex(const catalog::Snapshot& catalog, const catalog::Relation& table) {
   for (const catalog::RelationPtr& index : catalog.indexesOf(table.oid))
      if (index->index->isClustered) return index;
   return nullptr;
}

void markClustered(SessionCore& core, Oid table, Oid index) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   for (const catalog::RelationPtr& other : core.transaction.catalog().indexesOf(table)) {
      if (other->index->isClustered == (other->oid == index)) continue;
      catalog::Relation changed = *other;
      changed.index->isClustered = other->oid == index;
      editor.replaceRelation(std::move(changed));
   }
}

} // namespace ouzel::engine
