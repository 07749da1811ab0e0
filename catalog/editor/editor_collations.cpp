#include <algorithm>

#include "catalog/editor/editor.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/object/statistics.hpp"
#include "common/error/sql_error.hpp"

// Collations of users. Columns name them by their OIDs, the texts of the catalog by their names, which follow them.

namespace ouzel::catalog {

namespace {

void refuseName(const Collation& collation) {
   throw SqlError(sqlstate::duplicateObject, "collation \"" + collation.name + "\" already exists");
}

} // namespace

Oid CatalogEditor::createCollation(Collation draft) {
   draft.database = working_.database();
   draft.owner = creator_;
   if (working_.findCollation(draft.schema, draft.name)) refuseName(draft);
   draft.oid = oids_();
   const Oid oid = draft.oid;
   put(std::make_shared<const Collation>(std::move(draft)));
   return oid;
}

void CatalogEditor::replaceCollation(Collation changed) {
   const CollationPtr holder = working_.findCollation(changed.schema, changed.name);
   if (holder && holder->oid != changed.oid) refuseName(changed);
   const CollationPtr old = working_.collation(changed.oid);
   if (!old) throwInternal("the collation to change does not exist");
   if (old->name != changed.name || old->schema != changed.schema) {
      const std::string from = working_.schema(old->schema)->name;
      const std::string to =
          quoteIdentifier(working_.schema(changed.schema)->name) + "." + quoteIdentifier(changed.name);
      rewriteTexts([&](std::string& text) { text = withCollationNamed(text, from, old->name, to); });
   }
   put(std::make_shared<const Collation>(std::move(changed)));
}

void CatalogEditor::rewriteTexts(const std::function<void(std::string&)>& change) {
   for (const RelationPtr& relation : working_.relations()) {
      bool isChanged = false;
      Relation changed = *relation;
      forEachText(changed, [&](std::string& text) {
         std::string before = text;
         change(text);
         isChanged = isChanged || text != before;
      });
      if (isChanged) put(std::make_shared<const Relation>(std::move(changed)));
   }
   for (const StatisticsPtr& statistics : working_.allStatistics()) {
      Statistics changed = *statistics;
      for (std::string& expression : changed.expressions)
         change(expression);
      if (changed.expressions != statistics->expressions) put(std::make_shared<const Statistics>(std::move(changed)));
   }
}

void CatalogEditor::removeCollation(const Collation& collation) {
   removeComments(class_oid::pgCollation, collation.oid);
   remove(keyOf(collation));
}

} // namespace ouzel::catalog
