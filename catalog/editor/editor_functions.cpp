#include "catalog/editor/editor.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/privilege/default_acl.hpp"
#include "common/error/sql_error.hpp"

// Functions of users. The texts of the catalog call them by their OIDs.

namespace ouzel::catalog {

namespace {

void requireFree(const Snapshot& snapshot, const FunctionDefinition& function) {
   const std::vector<Oid> types = function.inputTypes();
   const FunctionPtr holder = snapshot.findFunction(function.schema, function.name, types);
   if (holder && holder->oid != function.oid)
      throw SqlError(sqlstate::duplicateFunction,
                     "function \"" + function.name + "\" already exists with same argument types");
}

} // namespace

Oid CatalogEditor::createFunction(FunctionDefinition draft) {
   draft.database = working_.database();
   draft.oid = invalidOid;
   requireFree(working_, draft);
   draft.oid = oids_();
   if (!draft.acl) draft.acl = initialAcl(working_, draft.owner, draft.schema, AclKind::Function);
   const Oid oid = draft.oid;
   put(std::make_shared<const Function>(std::move(draft)));
   return oid;
}

void CatalogEditor::replaceFunction(FunctionDefinition changed) {
   requireFree(working_, changed);
   put(std::make_shared<const Function>(std::move(changed)));
}

void CatalogEditor::removeFunction(const Function& function) {
   removeComments(class_oid::pgProc, function.oid);
   remove(keyOf(function));
}

} // namespace ouzel::catalog
