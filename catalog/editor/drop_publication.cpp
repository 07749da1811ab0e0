#include "catalog/editor/drop_plan.hpp"
#include "catalog/object/published_tables.hpp"

// What publications lose: tables and schemas that fall, and tables whose columns fall.

namespace ouzel::catalog {

void DropPlan::addPublished(const Relation& table, int16_t attribute, const std::string& reason) {
   for (const Publication& publication : publicationsOf(editor_.snapshot()))
      for (const PublicationTable& published : publication.tables) {
         const bool isAdded = std::any_of(published_.begin(), published_.end(), [&](const FallenPublished& fallen) {
            return fallen.published.oid == published.oid;
         });
         if (published.table != table.oid || isAdded || !published.needs(attribute)) continue;
         published_.push_back(
             {published, "publication of " + describe(table) + " in publication " + publication.name, reason});
      }
}

void DropPlan::dropPublished(Dropped& dropped) {
   for (const FallenPublished& fallen : published_)
      dropped.items.push_back({nullptr, fallen.description, true, false});
   const auto falls = [&](const PublicationTable& published) {
      return has(published.table) || std::any_of(published_.begin(), published_.end(), [&](const auto& fallen) {
                return fallen.published.oid == published.oid;
             });
   };
   const std::vector<Publication>& publications = publicationsOf(editor_.working_);
   const bool isConcerned = std::any_of(publications.begin(), publications.end(), [&](const Publication& publication) {
      return std::any_of(publication.tables.begin(), publication.tables.end(), falls);
   });
   if (!isConcerned) return;
   Database changed = *editor_.working_.database(editor_.working_.database());
   for (Publication& publication : changed.publications)
      std::erase_if(publication.tables, falls);
   editor_.replaceDatabase(std::move(changed));
}

void DropPlan::dropPublishedSchema(CatalogEditor& editor, Oid schema) {
   const DatabasePtr database = editor.working_.database(editor.working_.database());
   Database changed = *database;
   size_t count = 0;
   for (Publication& publication : changed.publications)
      count += std::erase_if(publication.schemas, [&](const PublicationSchema& one) { return one.schema == schema; });
   if (count > 0) editor.replaceDatabase(std::move(changed));
}

} // namespace ouzel::catalog
