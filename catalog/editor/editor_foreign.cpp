#include "catalog/editor/editor.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"

// Foreign-data wrappers and servers, whose user mappings are parts of them. Foreign tables are relations.

namespace ouzel::catalog {

void CatalogEditor::replaceWrapper(ForeignWrapper changed) {
   const ForeignWrapperPtr holder = working_.findWrapper(changed.name);
   if (holder && holder->oid != changed.oid) throwNameTaken(changed);
   put(std::make_shared<const ForeignWrapper>(std::move(changed)));
}

void CatalogEditor::replaceServer(ForeignServer changed) {
   const ServerPtr holder = working_.findServer(changed.name);
   if (holder && holder->oid != changed.oid) throwNameTaken(changed);
   put(std::make_shared<const ForeignServer>(std::move(changed)));
}

void CatalogEditor::removeWrapper(const ForeignWrapper& wrapper) {
   removeComments(class_oid::pgForeignDataWrapper, wrapper.oid);
   remove(keyOf(wrapper));
}

void CatalogEditor::removeServer(const ForeignServer& server) {
   removeComments(class_oid::pgForeignServer, server.oid);
   remove(keyOf(server));
}

} // namespace ouzel::catalog
