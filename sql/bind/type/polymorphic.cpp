#include <algorithm>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/range_types.hpp"
#include "sql/bind/type/type_rules.hpp"

// Polymorphic types. All arguments of the anyelement family must have one type, that of a range is the type of its
// bounds; the anycompatible family takes the common type of its arguments.

namespace ouzel::sql {

using catalog::builtins;

namespace {

bool isElementLike(Oid type) {
   return type == oid::anyelement || type == oid::anynonarray || type == oid::anyenum;
}

constexpr Oid anymultirange = 4537, anycompatiblemultirange = 4538, anycompatiblerange = 5080;

/// The type of the bounds of a range or multirange; invalidOid for other types.
Oid boundTypeOf(Oid type) {
   const RangeType* range = findRangeType(type);
   if (!range) range = findMultirangeType(type);
   return range ? range->subtype : invalidOid;
}

/// The actual types for polymorphic parameters, derived from the arguments of a call. `collect` and then `reconcile`
/// give false if the arguments contradict each other; `message` then has the error's text.
struct Generics {
   Oid element = invalidOid, array = invalidOid, range = invalidOid, multirange = invalidOid;
   bool hasFirstFamily = false, hasNonArray = false, hasEnum = false, hasUnknown = false;
   std::vector<Oid> compatible; ///< known actual types of the anycompatible family
   bool hasCompatible = false, hasCompatibleNonArray = false;
   Oid compatibleType = invalidOid, compatibleRange = invalidOid, compatibleMultirange = invalidOid;

   std::string message, detail;

   bool collect(std::span<const Oid> actual, std::span<const Oid> declared);
   bool collectCompatible(Oid type, Oid declared);
   bool reconcile();
   bool reconcileRanges();
   bool reconcileCompatible();
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

bool Generics::collectCompatible(Oid type, Oid declared) {
   if (declared == anycompatiblerange || declared == anycompatiblemultirange) {
      const bool isMulti = declared == anycompatiblemultirange;
      const char* family = isMulti ? "anycompatiblemultirange" : "anycompatiblerange";
      const RangeType* pair = isMulti ? findMultirangeType(type) : findRangeType(type);
      if (!pair)
         return fail(std::string("argument declared ") + family + " is not a " + (isMulti ? "multirange" : "range") +
                     " type but type " + typeName(type));
      if (!unify(isMulti ? compatibleMultirange : compatibleRange, type, family)) return false;
      compatible.push_back(pair->subtype);
      return true;
   }
   if (declared != oid::anycompatiblearray) {
      compatible.push_back(type);
      return true;
   }
   const Oid ofArray = elementType(type);
   if (!ofArray) return fail("argument declared anycompatiblearray is not an array but type " + typeName(type));
   compatible.push_back(ofArray);
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
         if (!isUnknown && !collectCompatible(actual[i], type)) return false;
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
      } else if (type == oid::anyrange) {
         if (!unify(range, actual[i], "anyrange")) return false;
      } else {
         if (!unify(multirange, actual[i], "anymultirange")) return false;
      }
   }
   return true;
}

/// Ranges and multiranges of a call belong together, and their bounds are elements.
bool Generics::reconcileRanges() {
   const auto inconsistent = [&](const char* a, const char* b, Oid typeA, Oid typeB) {
      return fail(std::string("argument declared ") + a + " is not consistent with argument declared " + b,
                  typeName(typeA) + " versus " + typeName(typeB));
   };
   if (range) {
      const RangeType* type = findRangeType(range);
      if (!type) return fail("argument declared anyrange is not a range type but type " + typeName(range));
      if (element && element != type->subtype) return inconsistent("anyrange", "anyelement", range, element);
      element = type->subtype;
   }
   if (multirange) {
      const RangeType* type = findMultirangeType(multirange);
      if (!type)
         return fail("argument declared anymultirange is not a multirange type but type " + typeName(multirange));
      if (range && range != type->range) return inconsistent("anymultirange", "anyrange", multirange, range);
      if (element && element != type->subtype) return inconsistent("anymultirange", "anyelement", multirange, element);
      range = type->range;
      element = type->subtype;
   } else if (range) {
      multirange = findRangeType(range)->multirange;
   }
   return true;
}

bool Generics::reconcileCompatible() {
   compatibleType = compatible.empty() ? Oid{oid::text} : commonTypeOf(compatible);
   if (!compatibleType) return fail("arguments of anycompatible family cannot be cast to a common type");
   if (hasCompatibleNonArray && elementType(compatibleType))
      return fail("type matched to anycompatiblenonarray is an array type: " + typeName(compatibleType));
   for (const Oid type : {compatibleRange, compatibleMultirange})
      if (type && boundTypeOf(type) != compatibleType)
         return fail("arguments of anycompatible family cannot be cast to a common type");
   if (const RangeType* type = findMultirangeType(compatibleMultirange)) {
      if (compatibleRange && compatibleRange != type->range)
         return fail("argument declared anycompatiblemultirange is not consistent with argument declared "
                     "anycompatiblerange",
                     typeName(compatibleMultirange) + " versus " + typeName(compatibleRange));
      compatibleRange = type->range;
   } else if (const RangeType* ofRange = findRangeType(compatibleRange)) {
      compatibleMultirange = ofRange->multirange;
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
   if (!reconcileRanges()) return false;
   if (hasFirstFamily && !element) {
      return fail("could not determine polymorphic type because input has type unknown");
   }
   if (hasEnum && element) {
      if (!isEnumType(element)) return fail("type matched to anyenum is not an enum type: " + typeName(element));
   }
   if (hasNonArray && elementType(element))
      return fail("type matched to anynonarray is an array type: " + typeName(element));
   return !hasCompatible || reconcileCompatible();
}

Oid arrayOf(Oid element) {
   const Oid array = arrayType(element);
   if (!array)
      throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + typeName(element));
   return array;
}

/// The type for a polymorphic one that `found` stands for, if the arguments say it.
Oid determined(Oid found, const char* family) {
   if (!found)
      throw SqlError(sqlstate::datatypeMismatch,
                     std::string("could not determine polymorphic type ") + family + " because input has type unknown");
   return found;
}

/// The actual type for a polymorphic one; others stay.
Oid actualOf(const Generics& generics, Oid declared) {
   if (isElementLike(declared)) return generics.element;
   switch (declared) {
   case oid::anyarray: return generics.array ? generics.array : arrayOf(generics.element);
   case oid::anyrange: return determined(generics.range, "anyrange");
   case anymultirange: return determined(generics.multirange, "anymultirange");
   case oid::anycompatible:
   case oid::anycompatiblenonarray: return generics.compatibleType;
   case oid::anycompatiblearray: return arrayOf(generics.compatibleType);
   case anycompatiblerange: return determined(generics.compatibleRange, "anycompatiblerange");
   case anycompatiblemultirange: return determined(generics.compatibleMultirange, "anycompatiblemultirange");
   default: return declared;
   }
}

} // namespace

bool isDetermined(Oid result, std::span<const Oid> inputs) {
   if (!isPolymorphic(result)) return true;
   const auto isRangeLike = [](Oid type) {
      return type == oid::anyrange || type == anymultirange || type == anycompatiblerange ||
             type == anycompatiblemultirange;
   };
   // Elements do not say of which range type they are.
   return std::any_of(inputs.begin(), inputs.end(), [&](Oid input) {
      return isPolymorphic(input) && isAnyCompatible(input) == isAnyCompatible(result) &&
             (!isRangeLike(result) || isRangeLike(input));
   });
}

std::string_view determiningTypes(Oid result) {
   switch (result) {
   case oid::anyrange:
   case anymultirange: return "anyrange or anymultirange";
   case anycompatiblerange:
   case anycompatiblemultirange: return "anycompatiblerange or anycompatiblemultirange";
   default: break;
   }
   return isAnyCompatible(result) ? "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or "
                                    "anycompatiblemultirange"
                                  : "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange";
}

bool isGenericConsistent(std::span<const Oid> actual, std::span<const Oid> declared) {
   Generics generics;
   if (!generics.collect(actual, declared)) return false;
   // While candidates are compared, arguments that are all unknown fit, but for an enum.
   if (generics.hasEnum && !generics.element && !generics.array) return false;
   if (!generics.element && !generics.array && !generics.range && !generics.multirange) generics.hasFirstFamily = false;
   return generics.reconcile();
}

Oid enforceGenericConsistency(std::span<const Oid> actual, std::span<Oid> declared, Oid result) {
   Generics generics;
   const bool isConsistent = generics.collect(actual, declared);
   if (isConsistent && !generics.hasFirstFamily && !generics.hasCompatible) return result;
   if (!isConsistent || !generics.reconcile()) generics.raise();
   for (size_t i = 0; i < declared.size(); ++i)
      if (isAnyCompatible(declared[i]) || (actual[i] == oid::unknown && isPolymorphic(declared[i])))
         declared[i] = actualOf(generics, declared[i]);
   return actualOf(generics, result);
}

} // namespace ouzel::sql
