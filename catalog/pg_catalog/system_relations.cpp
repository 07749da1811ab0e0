#include "catalog/pg_catalog/system_relations.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "catalog/builtin/text_table.hpp"
#include "catalog/pg_catalog/system_views.hpp"

namespace ouzel::catalog {

namespace {

struct System {
   std::vector<RelationPtr> byOid;
   std::map<std::pair<Oid, std::string_view>, RelationPtr> byName;
};

int64_t number(TextTable::Field field) {
   return std::stol(std::string(field.value()));
}

/// Columns of all system relations; the rows come ordered by relation and attribute.
std::map<Oid, std::vector<Column>> loadColumns() {
   const TextTable& table = *builtins().rows("system_column");
   const uint32_t relation = table.column("attrelid"), attribute = table.column("attnum"),
                  name = table.column("attname"), type = table.column("atttypid"), typmod = table.column("atttypmod"),
                  collation = table.column("attcollation"), notNull = table.column("attnotnull"),
                  dimensions = table.column("attndims");
   std::map<Oid, std::vector<Column>> columns;
   for (uint32_t row = 0; row < table.rowCount(); ++row) {
      Column column;
      column.name = *table.at(row, name);
      column.attribute = static_cast<int16_t>(number(table.at(row, attribute)));
      column.type = {static_cast<Oid>(number(table.at(row, type))), static_cast<int32_t>(number(table.at(row, typmod))),
                     static_cast<Oid>(number(table.at(row, collation)))};
      column.notNull = *table.at(row, notNull) == "t";
      column.dimensions = static_cast<int16_t>(number(table.at(row, dimensions)));
      columns[static_cast<Oid>(number(table.at(row, relation)))].push_back(std::move(column));
   }
   return columns;
}

System load() {
   System system;
   auto columns = loadColumns();
   const TextTable& table = *builtins().rows("system_relation");
   const uint32_t oidColumn = table.column("oid"), name = table.column("relname"),
                  schema = table.column("relnamespace"), kind = table.column("relkind"),
                  rowType = table.column("reltype");
   for (uint32_t row = 0; row < table.rowCount(); ++row) {
      auto relation = std::make_shared<Relation>();
      relation->oid = static_cast<Oid>(number(table.at(row, oidColumn)));
      relation->name = *table.at(row, name);
      relation->schema = static_cast<Oid>(number(table.at(row, schema)));
      relation->rowType = static_cast<Oid>(number(table.at(row, rowType)));
      if (const TypeInfo* type = builtins().type(relation->rowType)) relation->rowTypeArray = type->array;
      relation->columns = std::move(columns[relation->oid]);
      relation->acl = {{bootstrapRole, bootstrapRole, 0xff, 0}, {invalidOid, bootstrapRole, privilege::select, 0}};
      const std::string_view sql = systemViewDefinition(relation->schema == pgCatalogSchema, relation->name);
      if (sql.empty()) {
         relation->relationKind = RelationKind::Virtual;
         relation->shownKind = (*table.at(row, kind))[0];
      } else {
         relation->relationKind = RelationKind::View;
         relation->definition = sql;
      }
      system.byName.emplace(std::pair(relation->schema, std::string_view(relation->name)), relation);
      system.byOid.push_back(std::move(relation));
   }
   std::sort(system.byOid.begin(), system.byOid.end(),
             [](const RelationPtr& a, const RelationPtr& b) { return a->oid < b->oid; });
   return system;
}

const System& loaded() {
   static const System system = load();
   return system;
}

} // namespace

RelationPtr systemRelation(Oid oid) {
   const auto& all = loaded().byOid;
   const auto found =
       std::lower_bound(all.begin(), all.end(), oid, [](const RelationPtr& r, Oid wanted) { return r->oid < wanted; });
   return found != all.end() && (*found)->oid == oid ? *found : nullptr;
}

RelationPtr findSystemRelation(Oid schema, std::string_view name) {
   if (schema >= firstUserOid || schema == publicSchema) return nullptr;
   const auto& names = loaded().byName;
   const auto found = names.find({schema, name});
   return found != names.end() ? found->second : nullptr;
}

const std::vector<RelationPtr>& systemRelations() {
   return loaded().byOid;
}

} // namespace ouzel::catalog
