#include "catalog/object/system_relations.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "catalog/builtin/system_views.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/acl.hpp"
#include "catalog/object/snapshot.hpp"

namespace ouzel::catalog {

namespace {

struct System {
   std::vector<RelationPtr> byOid;
   std::map<std::pair<Oid, std::string_view>, RelationPtr> byName;
};

int64_t number(TextTable::Field field) {
   return std::stol(std::string(field.value()));
}

/// The base type of a domain, without a modifier. information_schema's columns have domain types in PostgreSQL; here
/// queries and clients see the base types.
SqlType baseOf(SqlType type) {
   const TypeInfo* info = builtins().type(type.oid);
   while (info != nullptr && info->kind == TypeKind::Domain) {
      type.oid = info->baseType;
      info = builtins().type(type.oid);
   }
   return type;
}

/// The columns of all system relations, from rows that are ordered by relation and attribute.
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
      column.type = baseOf(column.type);
      column.notNull = *table.at(row, notNull) == "t";
      column.dimensions = static_cast<int16_t>(number(table.at(row, dimensions)));
      columns[static_cast<Oid>(number(table.at(row, relation)))].push_back(std::move(column));
   }
   return columns;
}

Acl readableByAll() {
   return Acl({{bootstrapRole, bootstrapRole, aclRules(AclKind::Table).all, 0},
               {invalidOid, bootstrapRole, privilege::select, 0}});
}

void addSystemRelation(System& system, std::shared_ptr<Relation> relation) {
   system.byName.emplace(std::pair(relation->schema, std::string_view(relation->name)), relation);
   system.byOid.push_back(std::move(relation));
}

/// Adds the relations that only Ouzel has. Their columns are text: "name:type name:type".
void loadOuzelRelations(System& system) {
   const TextTable& table = *builtins().rows("ouzel_relation");
   for (uint32_t row = 0; row < table.rowCount(); ++row) {
      auto relation = std::make_shared<Relation>();
      relation->oid = static_cast<Oid>(number(table.at(row, table.column("oid"))));
      relation->name = *table.at(row, table.column("relname"));
      relation->schema = pgCatalogSchema;
      relation->acl = readableByAll();
      relation->relationKind = RelationKind::Virtual;
      relation->shownKind = 'v';
      std::string_view list = *table.at(row, table.column("columns"));
      while (!list.empty()) {
         const std::string_view item = list.substr(0, list.find(' '));
         list.remove_prefix(std::min(item.size() + 1, list.size()));
         const size_t colon = item.find(':');
         Column column;
         column.name = item.substr(0, colon);
         column.attribute = static_cast<int16_t>(relation->columns.size() + 1);
         column.type.oid = static_cast<Oid>(number(item.substr(colon + 1)));
         column.type.collation = builtins().type(column.type.oid)->collation;
         relation->columns.push_back(std::move(column));
      }
      addSystemRelation(system, std::move(relation));
   }
}

/// The list of a relation that PostgreSQL closes to all but superusers, or to all but those who may read statistics.
Acl aclOf(std::string_view name) {
   constexpr Oid readAllStats = 3375; // pg_authid.dat
   Acl acl = readableByAll();
   for (const std::string_view secret :
        {"pg_authid", "pg_shadow", "pg_user_mapping", "pg_hba_file_rules", "pg_ident_file_mappings", "pg_statistic",
         "pg_statistic_ext_data", "pg_largeobject", "pg_config", "pg_file_settings", "pg_replication_origin_status"})
      if (name == secret) acl->pop_back();
   if (name == "pg_backend_memory_contexts" || name == "pg_shmem_allocations") acl->back().grantee = readAllStats;
   return acl;
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
      relation->acl = aclOf(relation->name);
      const std::string_view sql = systemViewDefinition(relation->schema == pgCatalogSchema, relation->name);
      if (sql.empty()) {
         relation->relationKind = RelationKind::Virtual;
         relation->shownKind = (*table.at(row, kind))[0];
      } else {
         relation->relationKind = RelationKind::View;
         relation->definition = sql;
      }
      addSystemRelation(system, std::move(relation));
   }
   loadOuzelRelations(system);
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

std::vector<std::vector<int16_t>> systemKeys(const Relation& relation) {
   if (relation.relationKind != RelationKind::Virtual || relation.shownKind != 'r') return {};
   switch (relation.oid) {             // as PostgreSQL's unique indexes
   case 1249: return {{1, 2}, {1, 6}}; // pg_attribute: attrelid with attname, with attnum
   case 2224:                          // pg_sequence
   case 2600:                          // pg_aggregate
   case 2610:                          // pg_index
   case 3118:                          // pg_foreign_table
   case 3350:                          // pg_partitioned_table
   case 3541: return {{1}};            // pg_range
   case 2396: return {{1, 2}};         // pg_shdescription
   case 2609: return {{1, 2, 3}};      // pg_description
   case 2611: return {{1, 3}};         // pg_inherits
   case class_oid::pgAttrdef: return {{1}, {2, 3}};
   default: break;
   }
   if (!relation.columns.empty() && relation.columns.front().name == "oid") return {{1}};
   return {};
}

double expectedRows(const Relation& relation, const Snapshot& snapshot) {
   const Snapshot::Counts counts = snapshot.counts();
   const double relations = static_cast<double>(counts.withRowType), indexed = static_cast<double>(counts.withIndexes);
   // The rows of an empty database, and for each relation of users as many as it commonly has.
   switch (relation.oid) {
   case class_oid::pgClass: return 250 + relations + 2 * indexed;
   case class_oid::pgAttribute: return 2500 + 12 * relations;
   case class_oid::pgType: return 600 + 2 * relations;
   case 2610: return 1 + 2 * indexed;                               // pg_index
   case 2611: return 1 + 8 * static_cast<double>(counts.withHeirs); // pg_inherits
   case class_oid::pgAttrdef:
   case class_oid::pgConstraint: return 1 + relations;
   case 2608: return 10 + 5 * relations; // pg_depend
   case class_oid::pgProc: return 3300;
   case 2609: return 4300; // pg_description
   case class_oid::pgOperator:
   case class_oid::pgCollation:
   case 2602:             // pg_amop
   case 2603: return 800; // pg_amproc
   case class_oid::pgNamespace:
   case class_oid::pgAuthid:
   case class_oid::pgDatabase:
   case class_oid::pgLanguage:
   case 2601: // pg_am
   case class_oid::pgTablespace: return 10;
   default: return 200;
   }
}

} // namespace ouzel::catalog
