#include "catalog/editor/editor.hpp"
#include "catalog/object/large_object.hpp"
#include "common/error/sql_error.hpp"

// Large objects. The engine keeps their pages, and the locks that let one transaction at a time write an object.

namespace ouzel::catalog {

Oid CatalogEditor::createLargeObject(Oid wanted, Oid owner) {
   LargeObject draft;
   draft.database = working_.database();
   draft.owner = owner;
   // An OID that a client has chosen may be one that the counter has yet to reach.
   do
      draft.oid = wanted != invalidOid ? wanted : oids_();
   while (wanted == invalidOid && working_.largeObject(draft.oid));
   if (working_.largeObject(draft.oid)) throwNameTaken(draft);
   const Oid oid = draft.oid;
   put(std::make_shared<const LargeObject>(std::move(draft)));
   return oid;
}

void CatalogEditor::replaceLargeObject(LargeObject changed) {
   put(std::make_shared<const LargeObject>(std::move(changed)));
}

void CatalogEditor::dropLargeObject(const LargeObject& object) {
   removeComments(class_oid::pgLargeObject, object.oid);
   remove(keyOf(object));
}

void CatalogEditor::repeat(std::span<const Change> changes) {
   for (const Change& change : changes)
      if (change.after)
         put(change.after);
      else
         remove(change.key);
}

void CatalogEditor::setLargeObjectPages(Oid database, StorageId storage) {
   auto pages = std::make_shared<LargeObjectPages>();
   pages->database = database;
   pages->storage = storage;
   put(std::move(pages));
}

} // namespace ouzel::catalog
