#include "sql/bind/expression/array.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/value/form_oids.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/hstore.hpp"
#include "sql/bind/expression/json.hpp"
#include "sql/bind/expression/names.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Array constructors and subscripts, and the selection of fields.

namespace ouzel::sql {

ExprPtr makeArrayExpr(std::vector<ExprPtr> elements, Oid array, uint32_t position) {
   auto expr = makeTyped(ExprKind::Array, plainType(array), position);
   expr->args = std::move(elements);
   return expr;
}

namespace {

/// An array that ARRAY[...] stacks. A vector such as int2vector is an element.
bool isStacked(Oid type) {
   return elementType(type) != invalidOid && type != oid::int2vector && type != oid::oidvector;
}

} // namespace

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
         nested |= isStacked(elements.back()->type.oid);
      }
   }
   Oid array = arrayTypeHint, element = elementHint;
   if (!array) {
      if (elements.empty())
         throw SqlError(sqlstate::indeterminateDatatype, "cannot determine type of empty array")
             .at(position)
             .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].");
      const Oid common = selectCommonType(pointers(elements), "ARRAY");
      if (isStacked(common)) {
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

ExprPtr bindSubscript(BindState& state, Scope& scope, const ::Node* node) {
   auto subscript = bindExpr(state, scope, node);
   const uint32_t position = subscript->position;
   subscript = tryCoerce(state, subscript, {oid::int4, -1, invalidOid}, CoercionContext::Assignment);
   if (!subscript) throw SqlError(sqlstate::datatypeMismatch, "array subscript must have type integer").at(position);
   return subscript;
}

} // namespace

std::vector<ExprPtr> bindSliceBounds(BindState& state, Scope& scope, const std::vector<const ::A_Indices*>& subscripts,
                                     uint32_t position) {
   const SqlType int4{oid::int4, -1, invalidOid};
   const auto number = [&](int32_t value) { return makeConstant(int4, Value::integer(PhysicalType::I32, value)); };
   std::vector<ExprPtr> lower, upper, args;
   int32_t flags = 0;
   for (size_t i = 0; i < subscripts.size(); ++i) {
      const ::A_Indices& index = *subscripts[i];
      const bool hasLower = index.lidx || !index.is_slice;
      lower.push_back(index.lidx ? bindSubscript(state, scope, index.lidx) : number(1));
      upper.push_back(index.uidx ? bindSubscript(state, scope, index.uidx) : number(0));
      flags |= (hasLower ? 1 : 0) << (2 * i) | (index.uidx ? 2 : 0) << (2 * i);
   }
   args.push_back(makeArrayExpr(std::move(lower), oid::int4Array, position));
   args.push_back(makeArrayExpr(std::move(upper), oid::int4Array, position));
   args.push_back(number(flags));
   return args;
}

namespace {

/// array[a:b]
ExprPtr bindSlice(BindState& state, Scope& scope, ExprPtr base, const std::vector<const ::A_Indices*>& subscripts) {
   const uint32_t position = base->position;
   SqlType type = base->type;
   if (type.oid == oid::int2vector) type = plainType(oid::int2Array);
   if (type.oid == oid::oidvector) throwNotSupported("slices of oidvector", position);
   auto args = bindSliceBounds(state, scope, subscripts, position);
   args.insert(args.begin(), std::move(base));
   auto call = makeCall(catalog::builtins().functions("ouzel_array_slice")[0], type, std::move(args));
   call->position = position;
   return call;
}

/// What PostgreSQL takes for an array of fixed length: its function, and the type of its elements.
struct FixedArray {
   Oid type, element;
   const char* part;
};
constexpr FixedArray fixedArrays[] = {{oid::point, oid::float8, "ouzel_point_part"},
                                      {oid::box, oid::point, "ouzel_box_corner"},
                                      {oid::name, oid::character, "ouzel_name_byte"}};

const FixedArray* findFixedArray(Oid type) {
   const auto* found = std::find_if(std::begin(fixedArrays), std::end(fixedArrays),
                                    [type](const FixedArray& one) { return one.type == type; });
   return found == std::end(fixedArrays) ? nullptr : found;
}

ExprPtr bindPart(BindState& state, Scope& scope, const FixedArray& array, ExprPtr base,
                 const std::vector<const ::A_Indices*>& subscripts) {
   if (subscripts[0]->is_slice)
      throw SqlError(sqlstate::featureNotSupported, "slices of fixed-length arrays not implemented");
   const SqlType element = plainType(array.element);
   if (subscripts.size() > 1) return makeNull(element); // there is one dimension
   const uint32_t position = base->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(base));
   args.push_back(bindSubscript(state, scope, subscripts[0]->uidx));
   auto call = makeCall(catalog::builtins().functions(array.part)[0], element, std::move(args));
   call->position = position;
   return call;
}

ExprPtr bindSubscripts(BindState& state, Scope& scope, ExprPtr base,
                       const std::vector<const ::A_Indices*>& subscripts) {
   const Oid container = base->type.oid;
   Oid element = elementType(container);
   if (container == oid::int2vector) element = oid::int2;
   if (container == oid::oidvector) element = oid::oid;
   if (!element) {
      if (container == oid::jsonb) return bindJsonbSubscripts(state, scope, std::move(base), subscripts);
      if (container == oid::hstore) return bindHstoreSubscript(state, scope, std::move(base), subscripts);
      if (const FixedArray* array = findFixedArray(container))
         return bindPart(state, scope, *array, std::move(base), subscripts);
      throw SqlError(sqlstate::datatypeMismatch,
                     "cannot subscript type " + typeName(container) + " because it does not support subscripting")
          .at(base->position);
   }
   if (subscripts.size() > 6)
      throw SqlError(sqlstate::programLimitExceeded, "number of array dimensions (" +
                                                         std::to_string(subscripts.size()) +
                                                         ") exceeds the maximum allowed (6)");
   const bool isSlice =
       std::any_of(subscripts.begin(), subscripts.end(), [](const auto* index) { return index->is_slice; });
   if (isSlice) return bindSlice(state, scope, std::move(base), subscripts);
   auto expr = makeTyped(ExprKind::SubscriptRef, plainType(element, base->type.typmod), base->position);
   expr->args.push_back(std::move(base));
   for (const A_Indices* index : subscripts) {
      expr->args.push_back(bindSubscript(state, scope, index->uidx));
   }
   return expr;
}

} // namespace

namespace {

/// Throws 42703 if `row` is the whole row of an item of FROM, named by `node`, and has no such column.
void requireColumnOf(const ::Node* node, const Expr& row, std::string_view column) {
   if (!isNode(node, T_ColumnRef) || row.kind != ExprKind::Row || isRowConstructor(row)) return;
   const auto& names = row.as<scalar::Row>().names;
   if (std::find(names.begin(), names.end(), column) != names.end()) return;
   const ListOf<> path(as<ColumnRef>(node)->fields);
   const uint32_t last = path.size() - 1;
   const auto item = stringOf(path[isNode(path[last], T_A_Star) ? last - 1 : last]);
   throw SqlError(sqlstate::undefinedColumn,
                  "column " + std::string(item) + "." + std::string(column) + " does not exist")
       .at(row.position);
}

} // namespace

ExprPtr bindIndirection(BindState& state, Scope& scope, const ::A_Indirection& node, bool endsInStar) {
   auto result = bindExpr(state, scope, node.arg);
   std::vector<const A_Indices*> subscripts;
   for (const ::Node* step : ListOf<>(node.indirection)) {
      if (isNode(step, T_A_Indices)) {
         subscripts.push_back(as<A_Indices>(step));
         continue;
      }
      if (isNode(step, T_A_Star)) {
         if (endsInStar) break;
         throw SqlError(sqlstate::featureNotSupported, "row expansion via \"*\" is not supported here")
             .at(result->position);
      }
      if (!subscripts.empty()) result = bindSubscripts(state, scope, std::move(result), subscripts);
      subscripts.clear();
      if (!isRowType(result->type.oid))
         throw SqlError(sqlstate::wrongObjectType, "column notation ." + std::string(stringOf(step)) +
                                                       " applied to type " + typeName(result->type.oid) +
                                                       ", which is not a composite type")
             .at(result->position);
      try {
         requireColumnOf(node.arg, *result, stringOf(step));
         result = selectField(state, std::move(result), stringOf(step));
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::undefinedColumn || ListOf<>(node.indirection).front() != step) throw;
         auto call = functionOfRow(state, scope, step, node.arg, -1);
         if (!call) throw;
         result = std::move(call);
      }
   }
   if (!subscripts.empty()) result = bindSubscripts(state, scope, std::move(result), subscripts);
   return result;
}

} // namespace ouzel::sql
