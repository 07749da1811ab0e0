#include "sql/bind/expression/part_assignment.hpp"

#include <algorithm>
#include <span>

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/hstore.hpp"
#include "sql/bind/expression/json.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

namespace {

using Steps = std::span<const ::Node* const>;

/// What an assignment names: for errors.
struct Assigned {
   std::string column; ///< or the field of it, of which a part is named
   uint32_t position;
};

std::vector<const ::Node*> stepsOf(const ::List* indirection) {
   std::vector<const ::Node*> steps;
   for (const ::Node* step : ListOf<>(indirection))
      steps.push_back(step);
   return steps;
}

/// The subscripts that the steps begin with; `steps` keeps the others.
std::vector<const ::A_Indices*> takeSubscripts(Steps& steps) {
   std::vector<const ::A_Indices*> subscripts;
   while (!steps.empty() && isNode(steps.front(), T_A_Indices)) {
      subscripts.push_back(as<::A_Indices>(steps.front()));
      steps = steps.subspan(1);
   }
   return subscripts;
}

SqlType requireField(const BindState& state, const SqlType& type, std::string_view name, const Assigned& target) {
   const auto refuse = [&](SqlState code, const std::string& why) {
      throw SqlError(code, "cannot assign to field \"" + std::string(name) + "\" of column \"" + target.column +
                               "\" because " + why)
          .at(target.position);
   };
   if (!isRowValue(type.oid) || type.oid == oid::record)
      refuse(sqlstate::datatypeMismatch, "its type " + typeName(type) + " is not a composite type");
   const auto relation = state.context.catalog.relationOfType(type.oid);
   const catalog::Column* field = relation->findColumn(name);
   if (!field)
      refuse(sqlstate::undefinedColumn, "there is no such column in data type " + typeName(withoutDomain(type)));
   return field->type;
}

bool isSlice(const std::vector<const ::A_Indices*>& subscripts) {
   return std::any_of(subscripts.begin(), subscripts.end(), [](const auto* subscript) { return subscript->is_slice; });
}

/// The type of the element or slice of an array that is set.
SqlType requireElement(const SqlType& type, const std::vector<const ::A_Indices*>& subscripts, const Assigned& target) {
   const Oid element = elementType(type.oid);
   if (!element)
      throw SqlError(sqlstate::datatypeMismatch,
                     "cannot subscript type " + typeName(type) + " because it does not support subscripting")
          .at(target.position);
   if (isSlice(subscripts)) return type;
   SqlType result = plainType(element, type.typmod);
   if ((type.domain & userArrayBit) != 0) result.domain = type.domain & ~userArrayBit;
   return result;
}

ExprPtr coercePart(BindState& state, ExprPtr value, const SqlType& type, const Assigned& target) {
   const Oid given = value->type.oid;
   auto cast = tryCoerce(state, value, type, CoercionContext::Assignment);
   if (!cast)
      throw SqlError(sqlstate::datatypeMismatch, "subscripted assignment to \"" + target.column + "\" requires type " +
                                                     typeName(type) + " but expression is of type " + typeName(given))
          .at(target.position)
          .hint("You will need to rewrite or cast the expression.");
   return cast;
}

ExprPtr assign(BindState& state, Scope& scope, ExprPtr base, const SqlType& type, Steps steps, ExprPtr value,
               const Assigned& target);

/// A part within a part, whose own domain checks it.
ExprPtr assignInner(BindState& state, Scope& scope, ExprPtr base, const SqlType& type, Steps steps, ExprPtr value,
                    const Assigned& target) {
   auto inner = assign(state, scope, std::move(base), type, steps, std::move(value), target);
   return type.domain ? intoDomain(std::move(inner), type) : std::move(inner);
}

ExprPtr assignSlice(BindState& state, Scope& scope, ExprPtr base, const SqlType& type,
                    const std::vector<const ::A_Indices*>& subscripts, Steps rest, ExprPtr value,
                    const Assigned& target) {
   if (!rest.empty()) throwNotSupported("assignment to a part of a slice", target.position);
   auto args = bindSliceBounds(state, scope, subscripts, target.position);
   args.insert(args.begin(), std::move(base));
   args.push_back(coercePart(state, std::move(value), withoutDomain(type), target));
   auto call =
       makeCall(catalog::builtins().functions("ouzel_array_assign_slice")[0], withoutDomain(type), std::move(args));
   call->position = target.position;
   return call;
}

ExprPtr assignElement(BindState& state, Scope& scope, ExprPtr base, const SqlType& type,
                      const std::vector<const ::A_Indices*>& subscripts, Steps rest, ExprPtr value,
                      const Assigned& target) {
   const SqlType element = requireElement(type, subscripts, target);
   if (isSlice(subscripts))
      return assignSlice(state, scope, std::move(base), type, subscripts, rest, std::move(value), target);
   std::vector<ExprPtr> numbers, args;
   for (const ::A_Indices* subscript : subscripts) {
      auto number = bindExpr(state, scope, subscript->uidx);
      const uint32_t position = number->position;
      number = tryCoerce(state, number, plainType(oid::int4), CoercionContext::Assignment);
      if (!number) throw SqlError(sqlstate::datatypeMismatch, "array subscript must have type integer").at(position);
      numbers.push_back(std::move(number));
   }
   if (rest.empty()) {
      value = coercePart(state, std::move(value), element, target);
   } else {
      auto old = makeTyped(ExprKind::SubscriptRef, withoutDomain(element), base->position);
      old->args.push_back(clone(*base));
      for (const ExprPtr& number : numbers)
         old->args.push_back(clone(*number));
      value = assignInner(state, scope, std::move(old), element, rest, std::move(value), target);
   }
   args.push_back(std::move(base));
   args.push_back(makeArrayExpr(std::move(numbers), oid::int4Array, target.position));
   args.push_back(std::move(value));
   auto call = makeCall(catalog::builtins().functions("ouzel_array_assign")[0], withoutDomain(type), std::move(args));
   call->position = target.position;
   return call;
}

ExprPtr assign(BindState& state, Scope& scope, ExprPtr base, const SqlType& type, Steps steps, ExprPtr value,
               const Assigned& target) {
   DCHECK(!steps.empty());
   if (const ::Node* step = steps.front(); !isNode(step, T_A_Indices)) {
      const auto name = stringOf(step);
      const SqlType field = requireField(state, type, name, target);
      const Steps rest = steps.subspan(1);
      if (rest.empty()) {
         value = coerceForAssignment(state, std::move(value), field, name, Clause::UpdateSource);
      } else {
         ExprPtr old = isNullConstant(*base) ? makeNull(field) : selectField(state, clone(*base), name);
         value = assignInner(state, scope, std::move(old), field, rest, std::move(value),
                             {std::string(name), target.position});
      }
      return replaceField(state, std::move(base), type.oid, name, std::move(value), target.position);
   }
   const auto subscripts = takeSubscripts(steps);
   if (type.oid == oid::hstore) {
      if (!steps.empty()) requireField(state, plainType(oid::text), stringOf(steps.front()), target);
      value = coercePart(state, std::move(value), plainType(oid::text), target);
      return assignHstore(state, scope, std::move(base), std::move(value), subscripts, target.position);
   }
   if (type.oid != oid::jsonb)
      return assignElement(state, scope, std::move(base), type, subscripts, steps, std::move(value), target);
   if (!steps.empty()) requireField(state, type, stringOf(steps.front()), target);
   value = coercePart(state, std::move(value), plainType(oid::jsonb), target);
   return assignJsonb(state, scope, std::move(base), std::move(value), subscripts, target.position);
}

} // namespace

ExprPtr bindPartAssignment(BindState& state, Scope& scope, const catalog::Column& column, ExprPtr base, ExprPtr value,
                           const ::List* indirection, uint32_t position) {
   const auto steps = stepsOf(indirection);
   return assign(state, scope, std::move(base), column.type, steps, std::move(value), {column.name, position});
}

SqlType partType(BindState& state, const catalog::Column& column, const ::List* indirection, uint32_t position) {
   const auto all = stepsOf(indirection);
   Assigned target{column.name, position};
   SqlType type = column.type;
   for (Steps steps = all; !steps.empty();) {
      if (isNode(steps.front(), T_A_Indices)) {
         const auto subscripts = takeSubscripts(steps);
         if (type.oid == oid::hstore)
            type = plainType(oid::text);
         else if (type.oid != oid::jsonb)
            type = requireElement(type, subscripts, target);
      } else {
         type = requireField(state, type, stringOf(steps.front()), target);
         target.column = stringOf(steps.front());
         steps = steps.subspan(1);
      }
   }
   return type;
}

} // namespace ouzel::sql
