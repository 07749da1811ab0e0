#include "sql/bind/type/qualified_name.hpp"

#include "catalog/object/extension_types.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::sql {

void requireOwnDatabase(ListOf<> parts, const catalog::Snapshot& catalog, uint32_t position) {
   if (parts.size() < 3) return;
   if (parts.size() > 3)
      throw SqlError(sqlstate::syntaxError, "improper qualified name (too many dotted names): " + joinNames(parts))
          .at(position);
   const catalog::DatabasePtr own = catalog.database(catalog.database());
   if (own && own->name == stringOf(parts[0])) return;
   throw SqlError(sqlstate::featureNotSupported, "cross-database references are not implemented: " + joinNames(parts))
       .at(position);
}

const catalog::TypeInfo* extensionTypeNamed(const catalog::Snapshot& catalog, const catalog::SearchPath& path,
                                            ListOf<> parts) {
   const std::string_view last = stringOf(parts.back());
   if (parts.size() > 1) {
      const auto schema = catalog.findSchema(stringOf(parts[parts.size() - 2]));
      return schema ? catalog::findExtensionType(catalog, schema->oid, last) : nullptr;
   }
   for (const Oid schema : path.schemas)
      if (const auto* type = catalog::findExtensionType(catalog, schema, last)) return type;
   return nullptr;
}

} // namespace ouzel::sql
