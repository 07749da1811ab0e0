#include "catalog/editor/drop_plan.hpp"
#include "catalog/editor/editor.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/sql_error.hpp"

// Configurations, dictionaries, parsers and templates of full text search that users made, and what falls with them.

namespace ouzel::catalog {

Oid CatalogEditor::createTextSearch(TextSearchObject draft) {
   draft.database = working_.database();
   draft.owner = creator_;
   if (working_.findTextSearch(draft.kind, draft.schema, draft.name)) throwNameTaken(draft);
   draft.oid = oids_();
   const Oid oid = draft.oid;
   put(std::make_shared<const TextSearchObject>(std::move(draft)));
   return oid;
}

void CatalogEditor::replaceTextSearch(TextSearchObject changed) {
   const TextSearchPtr holder = working_.findTextSearch(changed.kind, changed.schema, changed.name);
   if (holder && holder->oid != changed.oid) throwNameTaken(changed);
   put(std::make_shared<const TextSearchObject>(std::move(changed)));
}

void CatalogEditor::removeTextSearch(const TextSearchObject& object) {
   removeComments(textSearchClass(object.kind), object.oid);
   remove(keyOf(object));
}

void DropPlan::add(const TextSearchPtr& object, bool isCascaded, const std::string& reason) {
   for (const FallenTextSearch& fallen : textSearch_)
      if (fallen.object == object) return;
   textSearch_.push_back({object, isCascaded, reason});
}

std::string DropPlan::describe(const TextSearchObject& object) const {
   return std::string(textSearchWord(object.kind)) + " " + displayName(editor_.snapshot(), editor_.searchPath_, object);
}

/// A configuration needs its parser and its dictionaries, a dictionary its template.
void DropPlan::follow(const TextSearchObject& object) {
   const std::string reason = describe(object);
   for (const ObjectKind kind : {ObjectKind::TextSearchConfiguration, ObjectKind::TextSearchDictionary})
      for (const TextSearchPtr& other : editor_.snapshot().textSearchObjects(kind)) {
         bool needs = other->base == object.oid;
         for (const TextSearchMapping& mapping : other->mappings)
            needs = needs || std::find(mapping.dictionaries.begin(), mapping.dictionaries.end(), object.oid) !=
                                 mapping.dictionaries.end();
         if (needs) add(other, true, reason);
      }
}

} // namespace ouzel::catalog
