#include "sql/bind/expression/json.hpp"

#include <algorithm>
#include <array>

#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

// Subscripts of jsonb, and rows as arguments of functions that make JSON.

namespace ouzel::sql {

namespace {

/// A path as text[]. `startsInArray`: whether its first step is an integer.
ExprPtr bindPath(BindState& state, Scope& scope, const std::vector<const ::A_Indices*>& subscripts, uint32_t position,
                 bool& startsInArray) {
   std::vector<ExprPtr> steps;
   for (const ::A_Indices* subscript : subscripts) {
      if (subscript->is_slice)
         throw SqlError(sqlstate::datatypeMismatch, "jsonb subscript does not support slices")
             .at(state.startOfNode(subscript->uidx ? subscript->uidx : subscript->lidx));
      auto step = bindExpr(state, scope, subscript->uidx);
      const uint32_t at = startOf(*step);
      const Oid given = step->type.oid;
      bool isInteger = false;
      if (given == oid::unknown) {
         step = coerce(state, std::move(step), oid::text, -1, CoercionContext::Implicit);
      } else {
         ExprPtr copy = clone(*step);
         ExprPtr integer = tryCoerce(state, copy, plainType(oid::int4), CoercionContext::Implicit);
         ExprPtr text = tryCoerce(state, step, plainType(oid::text), CoercionContext::Implicit);
         if (!integer == !text)
            throw SqlError(sqlstate::datatypeMismatch, "subscript type " + typeName(given) + " is not supported")
                .at(at)
                .hint(integer ? "jsonb subscript must be coercible to only one type, integer or text."
                              : "jsonb subscript must be coercible to either integer or text.");
         isInteger = integer != nullptr;
         step =
             isInteger ? coerce(state, std::move(integer), oid::text, -1, CoercionContext::Explicit) : std::move(text);
      }
      if (steps.empty()) startsInArray = isInteger;
      steps.push_back(std::move(step));
   }
   return makeArrayExpr(std::move(steps), oid::textArray, position);
}

const catalog::FunctionInfo* onlyFunction(std::string_view name) {
   return catalog::builtins().functions(name)[0];
}

} // namespace

ExprPtr bindJsonbSubscripts(BindState& state, Scope& scope, ExprPtr base,
                            const std::vector<const ::A_Indices*>& subscripts) {
   const uint32_t position = base->position;
   bool startsInArray = false;
   std::vector<ExprPtr> args;
   args.push_back(std::move(base));
   args.push_back(bindPath(state, scope, subscripts, position, startsInArray));
   auto call = makeCall(onlyFunction("jsonb_extract_path"), plainType(oid::jsonb), std::move(args));
   call->position = position;
   return call;
}

ExprPtr bindPartAssignment(BindState& state, Scope& scope, const catalog::Column& column, ExprPtr base, ExprPtr value,
                           const ::List* indirection, uint32_t position) {
   if (column.type.oid != oid::jsonb) throwNotSupported("assignment to a part of a column", position);
   std::vector<const ::A_Indices*> subscripts;
   for (const ::Node* step : ListOf<>(indirection)) {
      if (!isNode(step, T_A_Indices))
         throw SqlError(sqlstate::datatypeMismatch, "cannot assign to field \"" + std::string(stringOf(step)) +
                                                        "\" of column \"" + column.name +
                                                        "\" because its type jsonb is not a composite type")
             .at(position);
      subscripts.push_back(as<::A_Indices>(step));
   }
   const Oid given = value->type.oid;
   auto cast = tryCoerce(state, value, plainType(oid::jsonb), CoercionContext::Assignment);
   if (!cast)
      throw SqlError(sqlstate::datatypeMismatch, "subscripted assignment to \"" + column.name +
                                                     "\" requires type jsonb but expression is of type " +
                                                     typeName(given))
          .at(position)
          .hint("You will need to rewrite or cast the expression.");
   bool startsInArray = false;
   std::vector<ExprPtr> args;
   args.push_back(std::move(base));
   args.push_back(std::move(cast));
   args.push_back(bindPath(state, scope, subscripts, position, startsInArray));
   args.push_back(makeBoolean(startsInArray));
   auto call = makeCall(onlyFunction("ouzel_jsonb_assign"), plainType(oid::jsonb), std::move(args));
   call->position = position;
   return call;
}

bool makesJson(const catalog::FunctionInfo& function) {
   constexpr std::array<std::string_view, 11> names{
       "to_json",           "to_jsonb",          "row_to_json",        "json_build_array",
       "json_build_object", "jsonb_build_array", "jsonb_build_object", "json_agg",
       "jsonb_agg",         "json_object_agg",   "jsonb_object_agg"};
   return std::find(names.begin(), names.end(), function.name) != names.end();
}

ExprPtr rowAsJson(BindState& state, const Expr& row) {
   checkStack();
   const auto& [names, isNullExtended] = row.as<scalar::Row>();
   std::vector<ExprPtr> args, present;
   for (size_t i = 0; i < row.args.size(); ++i) {
      const std::string name = i < names.size() ? names[i] : "f" + std::to_string(i + 1);
      args.push_back(makeConstant(plainType(oid::text), Value::string(name)));
      const Expr& field = *row.args[i];
      args.push_back(field.kind == ExprKind::Row ? rowAsJson(state, field) : unknownToText(state, clone(field)));
      if (isNullExtended) present.push_back(makeTest(ExprKind::IsNotNull, clone(*args.back())));
   }
   auto object = makeCall(onlyFunction("ouzel_json_row"), plainType(oid::record), std::move(args));
   object->position = row.position;
   if (!isNullExtended) return object;
   // A row that an outer join has added is NULL as a whole.
   auto known = makeTyped(ExprKind::Case, object->type, row.position);
   known->args.push_back(makeOr(std::move(present)));
   known->args.push_back(std::move(object));
   return known;
}

} // namespace ouzel::sql
