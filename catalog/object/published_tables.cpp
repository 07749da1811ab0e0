#include "catalog/object/published_tables.hpp"

namespace ouzel::catalog {

namespace {

const PublicationTable* entryOf(const Publication& publication, Oid table) {
   for (const PublicationTable& entry : publication.tables)
      if (entry.table == table) return &entry;
   return nullptr;
}

bool hasSchema(const Publication& publication, Oid schema) {
   return std::any_of(publication.schemas.begin(), publication.schemas.end(),
                      [&](const PublicationSchema& one) { return one.schema == schema; });
}

/// The tables above a partition, nearest first.
std::vector<RelationPtr> ancestorsOf(const Snapshot& snapshot, const Relation& table) {
   std::vector<RelationPtr> above;
   for (const Relation* at = &table; at->isPartition(); at = above.back().get())
      above.push_back(snapshot.relation(at->parents[0]));
   return above;
}

/// Collects the tables of one publication.
class Collector {
public:
   Collector(const Snapshot& snapshot, const Publication& publication)
      : snapshot_(snapshot), publication_(publication) {}

   std::vector<RelationPtr> tables() {
      if (publication_.hasAllTables) {
         for (const RelationPtr& table : snapshot_.relations())
            if (isPublishable(*table) && (publication_.viaRoot ? !table->isPartition() : !table->partitionKey))
               found_.push_back(table);
         return std::move(found_);
      }
      for (const PublicationTable& entry : publication_.tables)
         if (const RelationPtr table = snapshot_.relation(entry.table)) add(table);
      for (const PublicationSchema& entry : publication_.schemas)
         for (const RelationPtr& table : snapshot_.relations())
            if (table->schema == entry.schema && isPublishable(*table)) add(table);
      if (publication_.viaRoot)
         std::erase_if(found_, [named = found_, this](const RelationPtr& table) {
            const std::vector<RelationPtr> above = ancestorsOf(snapshot_, *table);
            return std::any_of(above.begin(), above.end(), [&](const RelationPtr& one) {
               return std::find(named.begin(), named.end(), one) != named.end();
            });
         });
      return std::move(found_);
   }

private:
   void add(const RelationPtr& table) {
      if (!table->partitionKey || publication_.viaRoot) return addOnce(table);
      for (const Oid oid : snapshot_.allHeirOids(table->oid))
         if (const RelationPtr leaf = snapshot_.relation(oid); !leaf->partitionKey) addOnce(leaf);
   }
   void addOnce(const RelationPtr& table) {
      if (std::find(found_.begin(), found_.end(), table) == found_.end()) found_.push_back(table);
   }

   const Snapshot& snapshot_;
   const Publication& publication_;
   std::vector<RelationPtr> found_;
};

} // namespace

const std::vector<Publication>& publicationsOf(const Snapshot& snapshot) {
   static const std::vector<Publication> none;
   const DatabasePtr database = snapshot.database(snapshot.database());
   return database ? database->publications : none; // which the snapshot keeps
}

const Publication* findPublication(const Snapshot& snapshot, std::string_view name) {
   for (const Publication& publication : publicationsOf(snapshot))
      if (publication.name == name) return &publication;
   return nullptr;
}

bool isPublishable(const Relation& relation) {
   const bool isTable = relation.relkind() == 'r' || relation.relkind() == 'p';
   return isTable && !relation.isBuiltin() && relation.persistence == Persistence::Permanent;
}

std::vector<PublishedTable> publishedTables(const Snapshot& snapshot, const Publication& publication) {
   std::vector<PublishedTable> published;
   for (RelationPtr& table : Collector(snapshot, publication).tables()) {
      // A schema is published as a whole, whatever the publication says of a table in it.
      const bool isWhole = publication.hasAllTables || hasSchema(publication, table->schema);
      const PublicationTable* named = isWhole ? nullptr : entryOf(publication, table->oid);
      published.push_back({std::move(table), named});
   }
   return published;
}

std::vector<TablePublication> publicationsOfTable(const Snapshot& snapshot, const Relation& table) {
   std::vector<TablePublication> found;
   if (publicationsOf(snapshot).empty() || !isPublishable(table)) return found;
   const std::vector<RelationPtr> above = ancestorsOf(snapshot, table);
   for (const Publication& publication : publicationsOf(snapshot)) {
      const auto has = [&](const Relation& one) {
         return entryOf(publication, one.oid) != nullptr || hasSchema(publication, one.schema);
      };
      const Relation* as = &table;
      bool isPublished = publication.hasAllTables || has(table);
      for (const RelationPtr& one : above) {
         if (!has(*one)) continue;
         isPublished = true;
         if (publication.viaRoot) as = one.get();
      }
      if (!isPublished) continue;
      const bool isWhole = publication.hasAllTables;
      found.push_back({&publication, as, isWhole ? nullptr : entryOf(publication, as->oid)});
   }
   return found;
}

} // namespace ouzel::catalog
