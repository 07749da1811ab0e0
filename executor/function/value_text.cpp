#include "executor/function/value_text.hpp"

#include "catalog/pg_catalog/acl_items.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array_text.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/object_names.hpp"
#include "executor/function/name_scope.hpp"

namespace ouzel::executor {

namespace {

const catalog::Snapshot& requireCatalog(const FunctionContext& context) {
   if (!context.catalog) throwInternal("no catalog to look names up in");
   return *context.catalog;
}

Oid roleOf(const catalog::Snapshot& snapshot, std::string_view name) {
   const catalog::RolePtr role = snapshot.findRole(name);
   return role ? role->oid : catalog::bootstrapRole;
}

} // namespace

NameScope::NameScope(const FunctionContext& context)
   : path_(catalog::SearchPath::resolve(requireCatalog(context), context.searchPath, context.user,
                                        context.temporarySchema)),
     names_{*context.catalog, path_, roleOf(*context.catalog, context.user)} {}

const SessionFormat& sessionFormat(const FunctionContext& context) {
   static const SessionFormat standard;
   return context.format ? *context.format : standard;
}

void appendValueText(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                     const void* value) {
   if (isObjectName(type.oid) && context.catalog) {
      int64_t object;
      std::memcpy(&object, value, sizeof object);
      out.append(catalog::regOut(NameScope(context).names(), type.oid, static_cast<Oid>(object)));
   } else if (repr.physical == PhysicalType::String && context.catalog && isObjectName(arrayElementType(type.oid))) {
      const NameScope scope(context);
      appendArrayText(out, static_cast<const StringView*>(value)->view(), [&](const SqlType& element, const Value& v) {
         return catalog::regOut(scope.names(), element.oid, static_cast<Oid>(v.i64));
      });
   } else {
      appendText(out, type, repr, value, sessionFormat(context));
   }
}

void appendRowText(std::string& out, const FunctionContext& context, const SqlType& type, Representation repr,
                   const Vector& vector, uint32_t row) {
   const auto* values = static_cast<const std::byte*>(vector.data);
   appendValueText(out, context, type, repr, values + size_t{vector.positionOf(row)} * physicalSize(vector.type));
}

void appendRowText(ValueBuilder& out, const FunctionContext& context, const SqlType& type, Representation repr,
                   const Vector& vector, uint32_t row) {
   if (type.oid == oid::text || type.oid == oid::varchar) { // its text is its bytes
      out.append(vector.value<StringView>(row).view());
      return;
   }
   std::string text;
   appendRowText(text, context, type, repr, vector, row);
   out.append(text);
}

void parseValueText(void* target, const FunctionContext& context, const SqlType& type, std::string_view text,
                    Arena& arena) {
   if (isObjectName(type.oid) && context.catalog) {
      const int64_t object = catalog::regIn(NameScope(context).names(), type.oid, text);
      std::memcpy(target, &object, sizeof object);
   } else if (catalog::isAclType(type.oid) && context.catalog) {
      const StringView value =
          arena.copyString(catalog::parseAclText(*context.catalog, type, text, sessionFormat(context)));
      std::memcpy(target, &value, sizeof value);
   } else {
      parseTextInto(target, type, text, sessionFormat(context), arena);
   }
}

} // namespace ouzel::executor
