#include "catalog/editor/editor.hpp"
#include "catalog/object/extension.hpp"
#include "common/error/sql_error.hpp"

// Extensions. Their members are made by the engine, which runs their scripts.

namespace ouzel::catalog {

Oid CatalogEditor::createExtension(Extension draft) {
   draft.database = working_.database();
   if (working_.findExtension(draft.name)) throwNameTaken(draft);
   draft.oid = oids_();
   const Oid oid = draft.oid;
   put(std::make_shared<const Extension>(std::move(draft)));
   return oid;
}

void CatalogEditor::replaceExtension(Extension changed) {
   std::sort(changed.members.begin(), changed.members.end());
   put(std::make_shared<const Extension>(std::move(changed)));
}

void CatalogEditor::removeExtension(const Extension& extension) {
   removeComments(class_oid::pgExtension, extension.oid);
   remove(keyOf(extension));
}

} // namespace ouzel::catalog
