#include "sql/bind/expression/array.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// Array constructors and subscripts, and the selection of fields.

namespace ouzel::sql {

ExprPtr makeArrayExpr(std::vector<ExprPtr> elements, Oid array, uint32_t position) {
   auto expr = makeTyped(ExprKind::Array, plainType(array), position);
   expr->args = std::move(elements);
   return expr;
}

ExprPtr bindArray(BindState& state, Scope& scope, const ::A_ArrayExpr& node, Oid arrayTypeHint, Oid elementHint,
                  int32_t typmod) {
   const uint32_t position = state.at(node.location);
   std::vector<ExprPtr> elements;
   bool nested = false;
   for (const ::Node* item : ListOf<>(node.elements)) {
      if (isNode(item, T_A_ArrayExpr)) { // ARRAY[[1, 2], [3, 4]]: one array of two dimensions
         elements.push_back(bindArray(state, scope, *as<A_ArrayExpr>(item), arrayTypeHint, elementHint, typmod));
         nested = true;
      } else {
         elements.push_back(bindExpr(state, scope, item));
         nested |= elementType(elements.back()->type.oid) != invalidOid;
      }
   }
   Oid array = arrayTypeHint, element = elementHint;
   if (!array) {
      if (elements.empty())
         throw SqlError(sqlstate::indeterminateDatatype, "cannot determine type of empty array")
             .at(position)
             .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].");
      const Oid common = selectCommonType(pointers(elements), "ARRAY");
      if (elementType(common)) {
         array = common;
         element = elementType(common);
         nested = true;
      } else {
         element = common;
         array = arrayType(common);
         if (!array)
            throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + typeName(common))
                .at(position);
      }
   }
   for (ExprPtr& item : elements) {
      const Oid target = nested ? array : element;
      if (arrayTypeHint) {
         const Oid source = item->type.oid;
         const uint32_t itemPosition = item->position;
         item = tryCoerce(state, item, plainType(target, typmod), CoercionContext::Explicit);
         if (!item)
            throw SqlError(sqlstate::cannotCoerce, "cannot cast type " + typeName(source) + " to " + typeName(target))
                .at(itemPosition);
      } else {
         item = coerceToCommon(state, std::move(item), target, "ARRAY");
      }
   }
   auto expr = makeArrayExpr(std::move(elements), array, position);
   if (arrayTypeHint) expr->type.typmod = typmod;
   return expr;
}

namespace {

ExprPtr bindSubscripts(BindState& state, Scope& scope, ExprPtr base,
                       const std::vector<const ::A_Indices*>& subscripts) {
   const Oid container = base->type.oid;
   Oid element = elementType(container);
   if (container == oid::int2vector) element = oid::int2;
   if (container == oid::oidvector) element = oid::oid;
   if (!element) {
      if (container == oid::jsonb) throwNotSupported("subscripting of jsonb", base->position);
      throw SqlError(sqlstate::datatypeMismatch,
                     "cannot subscript type " + typeName(container) + " because it does not support subscripting")
          .at(base->position);
   }
   if (subscripts.size() > 6)
      throw SqlError(sqlstate::programLimitExceeded, "number of array dimensions (" +
                                                         std::to_string(subscripts.size()) +
                                                         ") exceeds the maximum allowed (6)");
   auto expr = makeTyped(ExprKind::SubscriptRef, plainType(element, base->type.typmod), base->position);
   expr->args.push_back(std::move(base));
   for (const A_Indices* index : subscripts) {
      if (index->is_slice) throwNotSupported("array slices", expr->position);
      auto subscript = bindExpr(state, scope, index->uidx);
      const uint32_t position = subscript->position;
      subscript = tryCoerce(state, subscript, {oid::int4, -1, invalidOid}, CoercionContext::Assignment);
      if (!subscript) throw SqlError(sqlstate::datatypeMismatch, "array subscript must have type integer").at(position);
      expr->args.push_back(std::move(subscript));
   }
   if (expr->args.size() > 2) throwNotSupported("subscripts of arrays of several dimensions", expr->position);
   return expr;
}

} // namespace

ExprPtr bindIndirection(BindState& state, Scope& scope, const ::A_Indirection& node) {
   auto result = bindExpr(state, scope, node.arg);
   std::vector<const A_Indices*> subscripts;
   for (const ::Node* step : ListOf<>(node.indirection)) {
      if (isNode(step, T_A_Indices)) {
         subscripts.push_back(as<A_Indices>(step));
         continue;
      }
      if (isNode(step, T_A_Star)) throwNotSupported("row expansion via \"*\" here", result->position);
      if (!subscripts.empty()) result = bindSubscripts(state, scope, std::move(result), subscripts);
      subscripts.clear();
      if (!isRowType(result->type.oid))
         throw SqlError(sqlstate::wrongObjectType, "column notation ." + std::string(stringOf(step)) +
                                                       " applied to type " + typeName(result->type.oid) +
                                                       ", which is not a composite type")
             .at(result->position);
      result = selectField(std::move(result), stringOf(step));
   }
   if (!subscripts.empty()) result = bindSubscripts(state, scope, std::move(result), subscripts);
   return result;
}

} // namespace ouzel::sql
