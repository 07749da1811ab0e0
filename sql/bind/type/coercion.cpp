#include "sql/bind/type/coercion.hpp"

#include <string>

#include "common/base_type/type_form.hpp"
#include "common/number/decimal.hpp"
#include "common/value/object_names.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/state/routine_call.hpp"
#include "sql/bind/type/literal.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Adds casts to expressions. type_rules.cpp knows which casts exist; literal.cpp parses literals.

namespace ouzel::sql {

namespace {

constexpr const char* castHint = "You will need to rewrite or cast the expression.";

ExprPtr withChild(ExprKind kind, const SqlType& type, ExprPtr child) {
   auto expr = makeTyped(kind, type, child->position);
   expr->args.push_back(std::move(child));
   return expr;
}

ExprPtr callCast(const catalog::FunctionInfo& function, Oid target, int32_t typmod, bool isExplicit, ExprPtr arg) {
   const uint32_t position = arg->position;
   if (findTypeForm(arg->type.oid) && arg->type.oid != function.argTypes[0]) // a cidr for an inet
      arg = withChild(ExprKind::Relabel, plainType(function.argTypes[0]), std::move(arg));
   std::vector<ExprPtr> args;
   args.push_back(std::move(arg));
   // A cast may borrow the function of another type with the same values: int2 to oid calls int4(int2).
   const Oid returned = function.returnType;
   const bool isBorrowed = returned != target && function.argCount() == 1;
   SqlType type = plainType(isBorrowed ? returned : target);
   if (function.argCount() >= 2) {
      args.push_back(makeConstant({oid::int4, -1, invalidOid}, Value::integer(PhysicalType::I32, typmod)));
      type.typmod = typmod;
   }
   if (function.argCount() >= 3) args.push_back(makeBoolean(isExplicit));
   auto call = makeCall(&function, type, std::move(args));
   call->position = position;
   return isBorrowed ? withChild(ExprKind::Relabel, plainType(target), std::move(call)) : std::move(call);
}

/// Whether CREATE CAST has made the cast.
bool isOfUsers(Oid target, Oid source) {
   const TypeNaming* users = withUserCasts();
   return users && users->context().catalog.findCast(source, target) != nullptr;
}

/// A cast of CREATE CAST. Its function, too, may take the length and whether the cast is explicit.
ExprPtr callUserCast(BindState& state, Scope& scope, const catalog::FunctionInfo& function, Oid target, int32_t typmod,
                     CoercionContext context, ExprPtr arg) {
   const uint32_t position = arg->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(arg));
   if (function.argCount() >= 2)
      args.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, typmod)));
   if (function.argCount() >= 3) args.push_back(makeBoolean(context == CoercionContext::Explicit));
   ExprPtr value = callFunction(state, scope, function, std::move(args), position);
   value->type.domain = invalidOid;
   if (function.argCount() >= 2 && value->type.oid == target) value->type.typmod = typmod;
   return value->type.oid == target ? std::move(value)
                                    : withChild(ExprKind::Relabel, plainType(target), std::move(value));
}

/// Calls a function of ouzel_proc.inc that makes an array of another: `rest` are the arguments after the array.
ExprPtr ofElements(const char* function, const SqlType& type, ExprPtr array, std::vector<ExprPtr> rest) {
   const uint32_t position = array->position;
   rest.insert(rest.begin(), std::move(array));
   auto call = makeCall(catalog::builtins().functions(function)[0], type, std::move(rest));
   call->position = position;
   return call;
}

/// The array with elements of `type`, to which its modifier applies. The array's bytes name the type: they tell whether
/// the elements compare with their blanks.
ExprPtr limitElements(ExprPtr array, const SqlType& type, CoercionContext context) {
   std::vector<ExprPtr> rest;
   rest.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, type.typmod)));
   rest.push_back(makeBoolean(context == CoercionContext::Explicit));
   return ofElements("ouzel_array_typmod", type, std::move(array), std::move(rest));
}

/// Widens an integer constant at bind time, so that `bigint_column = 5` compares with a constant. Exact conversions
/// only.
bool widenInteger(Expr& constant, Oid target) {
   if (!knownValue(constant)) return false;
   Value& value = constant.as<scalar::Constant>().value;
   const Oid source = constant.type.oid;
   if (source != oid::int2 && source != oid::int4 && source != oid::int8) return false;
   const int64_t integer = value.i64;
   if (target == oid::int4 && source == oid::int2) {
      value = Value::integer(PhysicalType::I32, integer);
   } else if (target == oid::int8) {
      value = Value::integer(PhysicalType::I64, integer);
   } else if (target == oid::float8 && source != oid::int8) {
      value = Value::real(PhysicalType::F64, static_cast<double>(integer));
   } else if (target == oid::numeric) {
      const StringView digits = decimal::fromInt64(integer);
      value = Value::string(std::string(digits.data(), digits.size()), PhysicalType::Decimal);
   } else {
      return false;
   }
   constant.type = plainType(target);
   constant.repr = storedRepresentation(constant.type);
   return true;
}

} // namespace

ExprPtr coerce(BindState& state, ExprPtr expr, Oid target, int32_t typmod, CoercionContext context) {
   const Oid source = expr->type.oid;
   if (expr->kind == ExprKind::Row)
      expr = source == oid::record && isRowValue(target) && target != oid::record
                 ? coerceRow(state, std::move(expr), target, context)
                 : rowValue(state, std::move(expr));
   if (expr->type.oid == target || target == oid::any) return expr;
   if (source == oid::unknown && !isPolymorphic(target)) {
      if (isObjectName(elementType(target)) && knownValue(*expr)) { // the names of the elements need the catalog
         expr = parseLiteral(state, *expr, plainType(oid::textArray));
         return coerce(state, std::move(expr), target, -1, CoercionContext::Explicit);
      }
      if (expr->kind == ExprKind::Constant)
         return parseLiteral(state, *expr, plainType(target, target == oid::interval ? typmod : -1));
      if (const auto* parameter = expr->getIf<scalar::Parameter>()) {
         Oid& known = state.parameters[parameter->number];
         if (known == oid::unknown) {
            known = target;
         } else if (known != target) {
            throw SqlError(sqlstate::ambiguousParameter,
                           "inconsistent types deduced for parameter $" + std::to_string(parameter->number + 1))
                .at(expr->position)
                .detail(typeName(known) + " versus " + typeName(target));
         }
         expr->type = plainType(target);
         expr->repr = storedRepresentation(expr->type);
         return expr;
      }
      return withChild(ExprKind::TextCast, plainType(target), std::move(expr));
   }
   if (isPolymorphic(target)) return expr;
   if (target == oid::record && isRowType(source))
      return withChild(ExprKind::Relabel, plainType(target), std::move(expr));
   if (target == oid::recordArray && isRowType(elementType(source)))
      return withChild(ExprKind::Relabel, plainType(target), std::move(expr));
   if (source == oid::record && isRowType(target)) return coerceRow(state, std::move(expr), target, context);
   if (widenInteger(*expr, target)) return expr;
   const Coercion coercion = findCoercion(target, source, context);
   switch (coercion.path) {
   case CoercionPath::Function:
      if (isOfUsers(target, source)) {
         Scope scope(nullptr); // what cannot be an expression is run
         scope.clause = Clause::Transition;
         return callUserCast(state, scope, *coercion.function, target, typmod, context, std::move(expr));
      }
      if (target == oid::xml) expr = withBlanks(std::move(expr)); // the function is that of text
      return callCast(*coercion.function, target, typmod, context == CoercionContext::Explicit, std::move(expr));
   case CoercionPath::Relabel: {
      if (isNullConstant(*expr)) {
         expr->type = plainType(target);
         return expr;
      }
      if (target == oid::bpcharArray) return limitElements(std::move(expr), plainType(target), context);
      // An array says of which type its elements are; some types print, send and compare them by that.
      const bool isXml = source == arrayType(oid::xml);
      if (const Oid element = elementType(target);
          element && source != target && (findTypeForm(element) || isObjectName(element) || isXml)) {
         constexpr Oid xmlToText = 2922; // a value's text as it is, with its declaration
         const Oid function = isXml ? xmlToText : invalidOid;
         std::vector<ExprPtr> throughText;
         throughText.push_back(makeConstant(plainType(oid::oid), Value::integer(PhysicalType::I64, function)));
         throughText.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, -1)));
         throughText.push_back(makeBoolean(context == CoercionContext::Explicit));
         return ofElements("ouzel_array_cast", plainType(target), std::move(expr), std::move(throughText));
      }
      return withChild(ExprKind::Relabel, plainType(target), std::move(expr));
   }
   case CoercionPath::Array: {
      if (coercion.function && coercion.function->oid >= firstUserOid)
         throwNotSupported("casting the elements of an array by a function of a user", expr->position);
      const Oid function = coercion.function ? coercion.function->oid : invalidOid;
      const bool takesTypmod = coercion.function && coercion.function->argCount() >= 2;
      std::vector<ExprPtr> rest;
      rest.push_back(makeConstant(plainType(oid::oid), Value::integer(PhysicalType::I64, function)));
      rest.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, typmod)));
      rest.push_back(makeBoolean(context == CoercionContext::Explicit));
      return ofElements("ouzel_array_cast", plainType(target, takesTypmod ? typmod : -1), std::move(expr),
                        std::move(rest));
   }
   case CoercionPath::InOut: {
      if (target != oid::name) return withChild(ExprKind::TextCast, plainType(target), std::move(expr));
      expr = withChild(ExprKind::TextCast, plainType(oid::text), std::move(expr)); // a name is cut at 63 bytes
      return coerce(state, std::move(expr), target, typmod, context);
   }
   case CoercionPath::None: break;
   }
   throwInternal("no cast from " + typeName(source) + " to " + typeName(target));
}

ExprPtr applyTypmod(ExprPtr expr, int32_t typmod, CoercionContext context) {
   if (expr->type.typmod == typmod) return expr;
   if (expr->type.oid == oid::bpchar && typmod < 0) return withBlanks(std::move(expr));
   SqlType type = expr->type;
   type.typmod = typmod;
   auto* constant = expr->getIf<scalar::Constant>();
   if (constant && (typmod < 0 || constant->value.isNull)) {
      expr->type = type;
      expr->repr = storedRepresentation(type);
      constant->value.type = expr->repr.physical;
      return expr;
   }
   const bool computes = typmod >= 0 && hasTypmodCoercion(type.oid);
   if (computes && elementType(type.oid)) return limitElements(std::move(expr), type, context);
   auto cast = withChild(computes ? ExprKind::TypmodCast : ExprKind::Relabel, type, std::move(expr));
   if (computes) cast->as<scalar::TypmodCast>().isExplicit = context == CoercionContext::Explicit;
   return cast;
}

ExprPtr tryCoerce(BindState& state, ExprPtr& expr, const SqlType& target, CoercionContext context) {
   if (!canCoerce(expr->type.oid, target.oid, context)) return nullptr;
   const Oid domain = expr->type.domain;
   // Variables of programs are Parameters, too, which the statement does not number.
   if (const auto* parameter = expr->getIf<scalar::Parameter>(); parameter && target.domain &&
                                                                 parameter->number < state.parameters.size() &&
                                                                 state.parameters[parameter->number] == oid::unknown)
      state.parameterDomains.emplace(parameter->number, target.domain);
   auto cast = coerce(state, std::move(expr), target.oid, target.typmod, context);
   cast = applyTypmod(std::move(cast), target.typmod, context);
   if (target.domain && domain == target.domain) {
      cast->type.domain = domain;
      return cast;
   }
   cast->type.domain = invalidOid;
   return target.domain ? intoDomain(std::move(cast), target) : std::move(cast);
}

ExprPtr intoDomain(ExprPtr value, const SqlType& target) {
   const uint32_t position = value->position;
   std::vector<ExprPtr> args;
   args.push_back(std::move(value));
   args.push_back(makeConstant(plainType(oid::oid), Value::integer(PhysicalType::I64, target.domain)));
   auto call = makeCall(catalog::builtins().functions("ouzel_domain")[0], target, std::move(args));
   call->position = position;
   return call;
}

ExprPtr coerceToType(BindState& state, ExprPtr expr, Oid type, std::string_view construct) {
   if (expr->type.oid == type) return expr;
   const Oid source = expr->type.oid;
   const uint32_t position = startOf(*expr);
   auto cast = tryCoerce(state, expr, plainType(type), CoercionContext::Assignment);
   if (!cast)
      throw SqlError(sqlstate::datatypeMismatch, "argument of " + std::string(construct) + " must be type " +
                                                     typeName(type) + ", not type " + typeName(source))
          .at(position);
   return cast;
}

ExprPtr coerceToBoolean(BindState& state, ExprPtr expr, std::string_view construct) {
   return coerceToType(state, std::move(expr), oid::boolean, construct);
}

Oid selectCommonType(std::span<ExprPtr* const> exprs, std::string_view construct) {
   const Oid first = (*exprs[0])->type.oid;
   bool allSame = first != oid::unknown;
   for (const ExprPtr* expr : exprs)
      allSame = allSame && (*expr)->type.oid == first;
   if (allSame) return first;
   Oid common = first;
   for (const ExprPtr* expr : exprs.subspan(1)) {
      const Oid better = betterCommonType(common, (*expr)->type.oid);
      if (!better) {
         if (construct.empty()) return invalidOid;
         throw SqlError(sqlstate::datatypeMismatch, std::string(construct) + " types " + typeName(common) + " and " +
                                                        typeName((*expr)->type.oid) + " cannot be matched")
             .at(startOf(**expr));
      }
      common = better;
   }
   return common == oid::unknown ? Oid{oid::text} : common;
}

int32_t selectCommonTypmod(std::span<ExprPtr* const> exprs, Oid type) {
   const int32_t typmod = (*exprs[0])->type.typmod;
   for (const ExprPtr* expr : exprs)
      if ((*expr)->type.oid != type || (*expr)->type.typmod != typmod) return -1;
   return typmod;
}

SqlType unite(std::span<ExprPtr* const> exprs, Oid type) {
   const int32_t typmod = selectCommonTypmod(exprs, type);
   if (type == oid::bpchar && typmod < 0)
      for (ExprPtr* expr : exprs)
         *expr = withBlanks(std::move(*expr));
   return plainType(type, typmod);
}

ExprPtr coerceToCommon(BindState& state, ExprPtr expr, Oid type, std::string_view construct) {
   const Oid source = expr->type.oid;
   if (source == type) return rowValue(state, std::move(expr));
   if (!canCoerce(source, type, CoercionContext::Implicit))
      throw SqlError(sqlstate::cannotCoerce,
                     std::string(construct) + " could not convert type " + typeName(source) + " to " + typeName(type))
          .at(startOf(*expr));
   // Columns of the system catalogs are of type anyarray, to which nothing is coerced.
   if (isPolymorphic(type) && isNullConstant(*expr)) return makeNull(plainType(type));
   return coerce(state, std::move(expr), type, -1, CoercionContext::Implicit);
}

ExprPtr coerceForAssignment(BindState& state, ExprPtr expr, const SqlType& target, std::string_view columnName,
                            Clause clause) {
   const Oid source = expr->type.oid;
   const uint32_t position = startOf(*expr);
   auto cast = tryCoerce(state, expr, target, CoercionContext::Assignment);
   const bool isDefault = clause == Clause::Default || clause == Clause::Generated;
   if (!cast)
      throw SqlError(sqlstate::datatypeMismatch, "column \"" + std::string(columnName) + "\" is of type " +
                                                     (target.domain ? typeName(target) : typeName(target.oid)) +
                                                     " but " + (isDefault ? "default expression" : "expression") +
                                                     " is of type " + typeName(source))
          .at(isDefault ? 0 : position)
          .hint(castHint);
   return cast;
}

ExprPtr unknownToText(BindState& state, ExprPtr expr) {
   if (expr->type.oid != oid::unknown) return expr;
   return coerce(state, std::move(expr), oid::text, -1, CoercionContext::Implicit);
}

std::vector<ExprPtr*> pointers(std::vector<ExprPtr>& exprs) {
   std::vector<ExprPtr*> result;
   for (ExprPtr& expr : exprs)
      result.push_back(&expr);
   return result;
}

} // namespace ouzel::sql
