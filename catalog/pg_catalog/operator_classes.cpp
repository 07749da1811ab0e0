#include "catalog/pg_catalog/operator_classes.hpp"

#include <charconv>
#include <vector>

#include "catalog/builtin/extension_classes.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/snapshot.hpp"
#include "common/error/sql_error.hpp"
#include "common/value/range_types.hpp"

// The rows of pg_opclass, pg_am and pg_amop as what CREATE INDEX asks of them.

namespace ouzel::catalog {

namespace {

Oid toOid(std::string_view text) {
   Oid oid = invalidOid;
   std::from_chars(text.data(), text.data() + text.size(), oid);
   return oid;
}

const std::vector<OperatorClassInfo>& allClasses() {
   static const std::vector<OperatorClassInfo> classes = [] {
      std::vector<OperatorClassInfo> result;
      const TextTable& table = *builtins().rows("pg_opclass");
      const uint32_t oid = table.column("oid"), method = table.column("opcmethod"), family = table.column("opcfamily"),
                     input = table.column("opcintype"), name = table.column("opcname"),
                     isDefault = table.column("opcdefault"), key = table.column("opckeytype");
      for (uint32_t r = 0; r < table.rowCount(); ++r)
         result.push_back({toOid(*table.at(r, oid)), toOid(*table.at(r, method)), toOid(*table.at(r, family)),
                           toOid(*table.at(r, input)), *table.at(r, name), *table.at(r, isDefault) == "t",
                           toOid(*table.at(r, key))});
      return result;
   }();
   return classes;
}

const std::vector<OperatorClassInfo>& madeClasses() {
   static const std::vector<OperatorClassInfo> classes = [] {
      std::vector<OperatorClassInfo> result;
      for (const ExtensionClass& one : extensionClasses())
         result.push_back(
             {one.oid, accessMethod(one.method), invalidOid, one.input, one.name, one.isDefault, one.keyType});
      return result;
   }();
   return classes;
}

/// Whether a class takes values of the type itself, or of what it is an instance of.
bool takes(const OperatorClassInfo& one, Oid type) {
   return one.input == type || standsFor(one.input, type);
}

} // namespace

bool standsFor(Oid polymorphic, Oid type) {
   switch (polymorphic) {
   case oid::anyarray: return arrayElementType(type) != invalidOid;
   case oid::anyrange: return findRangeType(type) != nullptr;
   case anyMultirange: return findMultirangeType(type) != nullptr;
   case oid::anyenum: return isEnumType(type);
   case oid::record: return isRowValue(type);
   default: return false;
   }
}

Oid accessMethod(std::string_view name) {
   const TextTable& table = *builtins().rows("pg_am");
   const uint32_t oid = table.column("oid"), nameColumn = table.column("amname"), kind = table.column("amtype");
   for (uint32_t r = 0; r < table.rowCount(); ++r)
      if (*table.at(r, nameColumn) == name && *table.at(r, kind) == "i") return toOid(*table.at(r, oid));
   return invalidOid;
}

const OperatorClassInfo* operatorClass(Oid oid) {
   for (const std::vector<OperatorClassInfo>* list : {&allClasses(), &madeClasses()})
      for (const OperatorClassInfo& one : *list)
         if (one.oid == oid) return &one;
   return nullptr;
}

const OperatorClassInfo* madeOperatorClass(const Snapshot& snapshot, Oid method, std::string_view name, Oid type) {
   const OperatorClassInfo* found = nullptr;
   for (const OperatorClassInfo& one : madeClasses()) {
      if (one.method != method || (name.empty() ? !one.isDefault : one.name != name)) continue;
      if (!snapshot.findExtension(extensionClass(one.oid)->extension)) continue;
      if (!acceptsType(one, type)) {
         if (name.empty()) continue;
         throw SqlError(sqlstate::datatypeMismatch, "operator class \"" + std::string(name) +
                                                        "\" does not accept data type " +
                                                        ouzel::formatType({type, -1, invalidOid}));
      }
      if (takes(one, type)) return &one;
      found = &one;
   }
   return found;
}

const OperatorClassInfo* findOperatorClass(Oid method, std::string_view name) {
   for (const OperatorClassInfo& one : allClasses())
      if (one.method == method && one.name == name) return &one;
   return nullptr;
}

Oid storedKeyType(const OperatorClassInfo& one, Oid type) {
   if (one.keyType == invalidOid) return type;
   const Oid element = one.keyType == oid::anyelement ? arrayElementType(type) : Oid{invalidOid};
   return element != invalidOid ? element : one.keyType;
}

bool acceptsType(const OperatorClassInfo& one, Oid type) {
   if (takes(one, type)) return true;
   if (builtins().comparisonInputType(type) == one.input) return true;
   const CastInfo* cast = builtins().cast(type, one.input);
   return cast != nullptr && cast->context == CastContext::Implicit && cast->method == CastMethod::Binary;
}

const OperatorClassInfo* defaultOperatorClass(Oid method, Oid type) {
   const Oid compared = builtins().comparisonInputType(type);
   const OperatorClassInfo* found = nullptr;
   for (const OperatorClassInfo& one : allClasses()) {
      if (one.method != method || !one.isDefault) continue;
      if (takes(one, type)) return &one;
      if (one.input == compared && compared != invalidOid) found = &one;
   }
   return found;
}

Oid namedOperatorClass(const std::string& method, const std::string& name, Oid type) {
   const Oid methodOid = accessMethod(method);
   const OperatorClassInfo* found = findOperatorClass(methodOid, name);
   if (!found)
      throw SqlError(sqlstate::undefinedObject,
                     "operator class \"" + name + "\" does not exist for access method \"" + method + "\"");
   if (!acceptsType(*found, type))
      throw SqlError(sqlstate::datatypeMismatch,
                     "operator class \"" + name + "\" does not accept data type " + formatType({type, -1, invalidOid}));
   const OperatorClassInfo* usual = defaultOperatorClass(methodOid, type);
   return usual && usual->oid == found->oid ? invalidOid : found->oid;
}

int operatorStrategy(Oid family, Oid op) {
   const TextTable& table = *builtins().rows("pg_amop");
   const uint32_t familyColumn = table.column("amopfamily"), opColumn = table.column("amopopr"),
                  strategy = table.column("amopstrategy");
   for (uint32_t r = 0; r < table.rowCount(); ++r)
      if (toOid(*table.at(r, familyColumn)) == family && toOid(*table.at(r, opColumn)) == op)
         return static_cast<int>(toOid(*table.at(r, strategy)));
   return 0;
}

std::string operatorClassName(Oid oid) {
   const OperatorClassInfo* found = operatorClass(oid);
   return found ? std::string(found->name) : "?";
}

std::string operatorFamilyName(Oid family, Oid method) {
   const TextTable& table = *builtins().rows("pg_opfamily");
   const uint32_t oid = table.column("oid"), name = table.column("opfname");
   for (uint32_t r = 0; r < table.rowCount(); ++r)
      if (toOid(*table.at(r, oid)) == family) return std::string(*table.at(r, name));
   return method == accessMethod("gist") ? "gist_ops" : "?";
}

Oid defaultOperatorClass(Oid type) {
   constexpr Oid btree = 403;
   const OperatorClassInfo* found = defaultOperatorClass(btree, type);
   return found ? found->oid : invalidOid;
}

} // namespace ouzel::catalog
