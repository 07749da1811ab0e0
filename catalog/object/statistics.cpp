#include "catalog/object/statistics.hpp"

#include "catalog/object/search_path.hpp"

namespace ouzel::catalog {

std::string_view withoutParentheses(std::string_view expression) {
   if (!expression.starts_with('(')) return expression;
   return expression.substr(1, expression.size() - 2);
}

StatisticsPtr findStatistics(const Snapshot& snapshot, const SearchPath& path, const QualifiedName& name) {
   if (!name.schema.empty()) {
      const bool isTemporary = name.schema == "pg_temp" && path.temporary != invalidOid;
      const SchemaPtr schema = isTemporary ? snapshot.schema(path.temporary) : snapshot.findSchema(name.schema);
      return schema ? snapshot.findStatistics(schema->oid, name.name) : nullptr;
   }
   for (const Oid schema : path.schemas)
      if (StatisticsPtr found = schema == path.temporary ? nullptr : snapshot.findStatistics(schema, name.name))
         return found;
   return nullptr;
}

bool isVisible(const Snapshot& snapshot, const SearchPath& path, const Statistics& statistics) {
   const StatisticsPtr found = findStatistics(snapshot, path, QualifiedName::of(statistics.name));
   return found && found->oid == statistics.oid;
}

std::string displayName(const Snapshot& snapshot, const SearchPath& path, const Statistics& statistics) {
   const SchemaPtr schema = isVisible(snapshot, path, statistics) ? nullptr : snapshot.schema(statistics.schema);
   return (schema ? quoteIdentifier(schema->name) + "." : std::string()) + quoteIdentifier(statistics.name);
}

} // namespace ouzel::catalog
