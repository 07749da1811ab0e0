#include "sql/bind/expression/json.hpp"

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

// Subscripts of jsonb.

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

ExprPtr assignJsonb(BindState& state, Scope& scope, ExprPtr base, ExprPtr value,
                    const std::vector<const ::A_Indices*>& subscripts, uint32_t position) {
   bool startsInArray = false;
   std::vector<ExprPtr> args;
   args.push_back(std::move(base));
   args.push_back(std::move(value));
   args.push_back(bindPath(state, scope, subscripts, position, startsInArray));
   args.push_back(makeBoolean(startsInArray));
   auto call = makeCall(onlyFunction("ouzel_jsonb_assign"), plainType(oid::jsonb), std::move(args));
   call->position = position;
   return call;
}

} // namespace ouzel::sql
