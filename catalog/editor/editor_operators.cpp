#include "catalog/editor/editor.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/operator.hpp"
#include "common/error/sql_error.hpp"

// Operators and casts of users.

namespace ouzel::catalog {

namespace {

void requireFree(const Snapshot& snapshot, const OperatorDefinition& op) {
   const OperatorPtr holder = snapshot.findOperator(op.schema, op.name, op.left.named(), op.right.named());
   if (holder && holder->oid != op.oid)
      throw SqlError(sqlstate::duplicateFunction, "operator " + op.name + " already exists");
}

} // namespace

Oid CatalogEditor::createOperator(OperatorDefinition draft) {
   draft.database = working_.database();
   draft.oid = invalidOid;
   requireFree(working_, draft);
   draft.oid = oids_();
   const Oid oid = draft.oid;
   put(std::make_shared<const Operator>(std::move(draft)));
   return oid;
}

void CatalogEditor::replaceOperator(OperatorDefinition changed) {
   requireFree(working_, changed);
   put(std::make_shared<const Operator>(std::move(changed)));
}

void CatalogEditor::removeOperator(const Operator& op) {
   removeComments(class_oid::pgOperator, op.oid);
   // Its commutator and negator have none any more.
   for (const OperatorPtr& other : working_.operators()) {
      if (other->oid == op.oid || (other->commutator != op.oid && other->negator != op.oid)) continue;
      OperatorDefinition changed = *other;
      if (changed.commutator == op.oid) changed.commutator = invalidOid;
      if (changed.negator == op.oid) changed.negator = invalidOid;
      put(std::make_shared<const Operator>(std::move(changed)));
   }
   remove(keyOf(op));
}

Oid CatalogEditor::createCast(Cast draft) {
   draft.database = working_.database();
   if (working_.findCast(draft.source.named(), draft.target.named()))
      throw SqlError(sqlstate::duplicateObject,
                     "cast from type " + typeText(working_, searchPath_, draft.source.named()) + " to type " +
                         typeText(working_, searchPath_, draft.target.named()) + " already exists");
   draft.oid = oids_();
   const Oid oid = draft.oid;
   put(std::make_shared<const Cast>(std::move(draft)));
   return oid;
}

void CatalogEditor::removeCast(const Cast& cast) {
   removeComments(class_oid::pgCast, cast.oid);
   remove(keyOf(cast));
}

} // namespace ouzel::catalog
