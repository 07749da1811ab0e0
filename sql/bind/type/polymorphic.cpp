#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "sql/bind/type/type_rules.hpp"

// Polymorphic types. All arguments of the anyelement family must have one type; the anycompatible family takes the
// common type of its arguments.

namespace ouzel::sql {

using catalog::builtins;

namespace {

bool isElementLike(Oid type) {
   return type == oid::anyelement || type == oid::anynonarray || type == oid::anyenum;
}

bool isRange(Oid type) {
   const auto* info = builtins().type(type);
   return info && (info->kind == catalog::TypeKind::Range || info->kind == catalog::TypeKind::Multirange);
}

/// The actual types for polymorphic parameters, derived from the arguments of a call. `collect` and then `reconcile`
/// give false if the arguments contradict each other; `message` then has the error's text.
struct Generics {
   Oid element = invalidOid, array = invalidOid, range = invalidOid;
   bool hasFirstFamily = false, hasNonArray = false, hasEnum = false, hasUnknown = false;
   std::vector<Oid> compatible; ///< known actual types of the anycompatible family
   bool hasCompatible = false, hasCompatibleNonArray = false;
   Oid compatibleType = invalidOid;

   std::string message, detail;

   bool collect(std::span<const Oid> actual, std::span<const Oid> declared);
   bool reconcile();
   bool unify(Oid& soFar, Oid actual, const char* family);
   bool fail(std::string what, std::string why = {}) {
      message = std::move(what);
      detail = std::move(why);
      return false;
   }
   [[noreturn]] void raise() const { throw SqlError(sqlstate::datatypeMismatch, message).detail(detail); }
};

bool Generics::unify(Oid& soFar, Oid actual, const char* family) {
   if (soFar && soFar != actual)
      return fail(std::string("arguments declared \"") + family + "\" are not all alike",
                  typeName(soFar) + " versus " + typeName(actual));
   soFar = actual;
   return true;
}

bool Generics::collect(std::span<const Oid> actual, std::span<const Oid> declared) {
   for (size_t i = 0; i < actual.size(); ++i) {
      const Oid type = declared[i];
      if (!isPolymorphic(type)) continue;
      const bool isUnknown = actual[i] == oid::unknown;
      if (isAnyCompatible(type)) {
         hasCompatible = true;
         hasCompatibleNonArray |= type == oid::anycompatiblenonarray;
         if (isUnknown) continue;
         if (type != oid::anycompatiblearray) {
            compatible.push_back(actual[i]);
         } else if (const Oid element_ = elementType(actual[i])) {
            compatible.push_back(element_);
         } else {
            return fail("argument declared anycompatiblearray is not an array but type " + typeName(actual[i]));
         }
         continue;
      }
      hasFirstFamily = true;
      hasNonArray |= type == oid::anynonarray;
      hasEnum |= type == oid::anyenum;
      if (isUnknown) {
         hasUnknown = true;
      } else if (isElementLike(type)) {
         if (!unify(element, actual[i], "anyelement")) return false;
      } else if (type == oid::anyarray) {
         if (!unify(array, actual[i], "anyarray")) return false;
      } else {
         if (!isRange(actual[i]))
            return fail("argument declared anyrange is not a range type but type " + typeName(actual[i]));
         if (!unify(range, actual[i], "anyrange")) return false;
      }
   }
   return true;
}

bool Generics::reconcile() {
   if (array) {
      const Oid ofArray = array == oid::anyarray ? oid::anyelement : elementType(array);
      if (!ofArray) return fail("argument declared anyarray is not an array but type " + typeName(array));
      if (!element) {
         element = ofArray;
      } else if (element != ofArray) {
         return fail("argument declared anyarray is not consistent with argument declared anyelement",
                     typeName(array) + " versus " + typeName(element));
      }
   }
   if (hasFirstFamily && !element && !range) {
      return fail("could not determine polymorphic type because input has type unknown");
   }
   if (hasEnum && element) {
      if (!isEnumType(element))
         return fail("type matched to anyenum is not an enum type: " + typeName(element));
   }
   if (hasNonArray && elementType(element))
      return fail("type matched to anynonarray is an array type: " + typeName(element));
   if (hasCompatible) {
      compatibleType = compatible.empty() ? Oid{oid::text} : commonTypeOf(compatible);
      if (!compatibleType) return fail("arguments of anycompatible family cannot be cast to a common type");
      if (hasCompatibleNonArray && elementType(compatibleType))
         return fail("type matched to anycompatiblenonarray is an array type: " + typeName(compatibleType));
   }
   return true;
}

Oid arrayOf(Oid element) {
   const Oid array = arrayType(element);
   if (!array)
      throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + typeName(element));
   return array;
}

} // namespace

bool isGenericConsistent(std::span<const Oid> actual, std::span<const Oid> declared) {
   Generics generics;
   if (!generics.collect(actual, declared)) return false;
   // While candidates are compared, arguments that are all unknown fit.
   if (!generics.element && !generics.array && !generics.range) generics.hasFirstFamily = false;
   return generics.reconcile();
}

Oid enforceGenericConsistency(std::span<const Oid> actual, std::span<Oid> declared, Oid result) {
   Generics generics;
   const bool isConsistent = generics.collect(actual, declared);
   if (isConsistent && !generics.hasFirstFamily && !generics.hasCompatible) return result;
   if (!isConsistent || !generics.reconcile()) generics.raise();
   for (size_t i = 0; i < declared.size(); ++i) {
      if (isAnyCompatible(declared[i])) {
         declared[i] =
             declared[i] == oid::anycompatiblearray ? arrayOf(generics.compatibleType) : generics.compatibleType;
      } else if (actual[i] == oid::unknown && isElementLike(declared[i])) {
         declared[i] = generics.element;
      } else if (actual[i] == oid::unknown && declared[i] == oid::anyarray) {
         declared[i] = generics.array ? generics.array : arrayOf(generics.element);
      }
   }
   if (isElementLike(result)) return generics.element;
   if (result == oid::anyarray) return generics.array ? generics.array : arrayOf(generics.element);
   if (result == oid::anycompatible || result == oid::anycompatiblenonarray) return generics.compatibleType;
   if (result == oid::anycompatiblearray) return arrayOf(generics.compatibleType);
   if (result == oid::anyrange && generics.range) return generics.range;
   return result;
}

} // namespace ouzel::sql
