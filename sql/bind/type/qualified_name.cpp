#include "sql/bind/type/qualified_name.hpp"

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

} // namespace ouzel::sql
