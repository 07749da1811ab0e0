#include "sql/bind/type/type_rules.hpp"

#include <vector>

#include "catalog/object/cast.hpp"
#include "catalog/object/function.hpp"
#include "common/base_type/type_form.hpp"
#include "common/error/sql_error.hpp"
#include "sql/bind/state/type_naming.hpp"

namespace ouzel::sql {

using catalog::builtins;
using catalog::CastContext;
using catalog::CastMethod;
using catalog::TypeKind;

namespace {

CoercionContext requiredContext(CastContext context) {
   switch (context) {
   case CastContext::Implicit: return CoercionContext::Implicit;
   case CastContext::Assignment: return CoercionContext::Assignment;
   case CastContext::Explicit: return CoercionContext::Explicit;
   }
   return CoercionContext::Explicit;
}

Coercion coercionOfCast(const catalog::CastInfo& cast) {
   switch (cast.method) {
   case CastMethod::Function: return {CoercionPath::Function, builtins().function(cast.function)};
   case CastMethod::Binary: return {CoercionPath::Relabel, nullptr};
   case CastMethod::InOut: return {CoercionPath::InOut, nullptr};
   }
   return {};
}

} // namespace

char typeCategory(Oid type) {
   const auto* info = builtins().type(type);
   if (info) return info->category;
   if ((type & userArrayBit) != 0) return 'A';
   return isEnumType(type) ? 'E' : isUserRange(type) || isUserMultirange(type) ? 'R' : 'C';
}

bool isPreferredType(Oid type) {
   const auto* info = builtins().type(type);
   return info && info->isPreferred;
}

bool isAnyCompatible(Oid type) {
   // 5077 anycompatible, 5078 ...array, 5079 ...nonarray, 5080 ...range, 4538 ...multirange
   return (type >= oid::anycompatible && type <= 5080) || type == 4538;
}

bool isPolymorphic(Oid type) {
   // 4537 is anymultirange
   return type == oid::anyelement || type == oid::anyarray || type == oid::anynonarray || type == oid::anyenum ||
          type == oid::anyrange || type == 4537 || isAnyCompatible(type);
}

bool isPseudoType(Oid type) {
   const auto* info = builtins().type(type);
   return info && info->isPseudo();
}

bool isRowType(Oid type) {
   if (isRowValue(type)) return true;
   const auto* info = builtins().type(type);
   return info && info->kind == TypeKind::Composite;
}

Oid elementType(Oid array) {
   if (array >= firstUserOid) return arrayElementType(array);
   const auto* info = builtins().type(array);
   return info && info->isArray() ? info->element : invalidOid;
}

Oid arrayType(Oid element) {
   if (element >= firstUserOid) return arrayTypeOf(element);
   const auto* info = builtins().type(element);
   return info ? info->array : invalidOid;
}

SqlType plainType(Oid type, int32_t typmod) {
   const auto* info = builtins().type(type);
   return {type, typmod, info ? info->collation : invalidOid};
}

std::string typeName(const SqlType& type) {
   if (type.domain) return userTypeName(type.domain);
   const bool isVector = type.oid == oid::int2vector || type.oid == oid::oidvector;
   if (const Oid element = isVector ? invalidOid : elementType(type.oid))
      return typeName(SqlType{element, type.typmod, invalidOid}) + "[]";
   // Messages call bpchar without a modifier "character", as format_type() does.
   if (type.oid == oid::bpchar && type.typmod < 0) return "character";
   if (type.oid == oid::bit && type.typmod < 0) return "bit";
   std::string name = formatType(type);
   if (name != "???") return name;
   const auto* info = builtins().type(type.oid);
   if (!info) return userTypeName(type.oid);
   switch (type.oid) { // types whose SQL name differs from pg_type's and that formatType does not know
   case oid::character: return "\"char\"";
   case oid::any: return "\"any\"";
   default: return std::string(info->name);
   }
}

Coercion findCoercion(Oid target, Oid source, CoercionContext context) {
   if (source == target) return {CoercionPath::Relabel, nullptr};
   if (const auto* cast = builtins().cast(source, target)) {
      if (context >= requiredContext(cast->context)) return coercionOfCast(*cast);
      return {};
   }
   if (const TypeNaming* users = withUserCasts())
      if (const catalog::CastPtr cast = users->context().catalog.findCast(source, target)) {
         if (context < requiredContext(cast->context)) return {};
         switch (cast->method) {
         case CastMethod::Function:
            return {CoercionPath::Function, catalog::functionInfo(users->context().catalog, cast->function)};
         case CastMethod::Binary: return {CoercionPath::Relabel, nullptr};
         case CastMethod::InOut: return {CoercionPath::InOut, nullptr};
         }
      }
   // Arrays are cast element by element. int2vector and oidvector are no such arrays.
   if (target != oid::oidvector && target != oid::int2vector) {
      const Oid targetElement = elementType(target), sourceElement = elementType(source);
      if (targetElement && sourceElement) {
         const Coercion element = findCoercion(targetElement, sourceElement, context);
         if (element.path == CoercionPath::Relabel) return element;
         if (element.path != CoercionPath::None) return {CoercionPath::Array, element.function};
      }
   }
   // Every type has a text form.
   if (context >= CoercionContext::Assignment && typeCategory(target) == 'S') return {CoercionPath::InOut, nullptr};
   if (context >= CoercionContext::Explicit && typeCategory(source) == 'S') return {CoercionPath::InOut, nullptr};
   return {};
}

bool canCoerce(std::span<const Oid> inputs, std::span<const Oid> targets, CoercionContext context) {
   bool hasGenerics = false;
   for (size_t i = 0; i < inputs.size(); ++i) {
      const Oid input = inputs[i], target = targets[i];
      if (input == target || target == oid::any) continue;
      if (isPolymorphic(target)) {
         hasGenerics = true;
         continue;
      }
      if (input == oid::unknown) continue;
      if (target == oid::record && isRowType(input)) continue;
      if (input == oid::record && isRowType(target)) continue;
      if (target == oid::recordArray && elementType(input) && isRowType(elementType(input))) continue;
      const bool hasText = input == oid::record || input == oid::recordArray || input == oid::cstring ||
                           input == oid::voidType; // all the same
      if ((isPseudoType(input) && !hasText) || findCoercion(target, input, context).path == CoercionPath::None)
         return false;
   }
   return !hasGenerics || isGenericConsistent(inputs, targets);
}

bool hasTypmodCoercion(Oid type) {
   if (const Oid element = elementType(type)) return hasTypmodCoercion(element);
   const TypeForm* form = findTypeForm(type);
   return builtins().cast(type, type) || (form && form->applyTypmod);
}

Oid betterCommonType(Oid soFar, Oid next) {
   if (next == oid::unknown || next == soFar) return soFar;
   if (soFar == oid::unknown) return next;
   if (typeCategory(soFar) != typeCategory(next)) return invalidOid;
   if (!isPreferredType(soFar) && canCoerce(soFar, next, CoercionContext::Implicit) &&
       !canCoerce(next, soFar, CoercionContext::Implicit))
      return next;
   return soFar;
}

Oid commonTypeOf(std::span<const Oid> types) {
   Oid result = oid::unknown;
   for (const Oid type : types) {
      result = betterCommonType(result, type);
      if (result == invalidOid) return invalidOid;
   }
   if (result == oid::unknown) return oid::text;
   for (const Oid type : types)
      if (!canCoerce(type, result, CoercionContext::Implicit)) return invalidOid;
   return result;
}

} // namespace ouzel::sql
