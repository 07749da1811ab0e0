#include "engine/definition/publication/published_objects.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/published_tables.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/lock_found.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::ListOf;
using sql::stringOf;

namespace {

/// The table of a name, locked with its heirs.
catalog::RelationPtr opened(CommandContext& context, const ::RangeVar& name) {
   SessionCore& core = context.core;
   return lockFound(core, LockMode::ShareUpdateExclusive, name.inh, [&] {
      auto found = requireTarget(context, core.searchPath(), name);
      if (found->index || found->relationKind == catalog::RelationKind::Composite)
         throw SqlError(sqlstate::wrongObjectType,
                        "\"" + found->name + "\" is " + (found->index ? "an index" : "a composite type"));
      return found;
   });
}

/// Throws unless publications may have the relation.
void requirePublishable(const catalog::Relation& relation) {
   if (isPublishable(relation)) return;
   const bool isTable = relation.relkind() == 'r' || relation.relkind() == 'p';
   const bool isView = relation.isBuiltin() && relation.relkind() == 'v';
   const std::string which = !isTable
                                 ? (isView ? "This operation is not supported for views." : unsupportedFor(relation))
                             : relation.isBuiltin() ? "This operation is not supported for system tables."
                             : relation.persistence == catalog::Persistence::Temporary
                                 ? "This operation is not supported for temporary tables."
                                 : "This operation is not supported for unlogged tables.";
   throw SqlError(sqlstate::invalidParameterValue, "cannot add relation \"" + relation.name + "\" to publication")
       .detail(which);
}

std::vector<int16_t> columnsOf(const catalog::Relation& table, const ::List* list) {
   std::vector<int16_t> columns;
   for (const ::Node* node : ListOf<>(list)) {
      const std::string name(stringOf(node));
      constexpr std::string_view system[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
      const catalog::Column* column = table.findColumn(name);
      if (!column && std::ranges::find(system, name) != std::end(system))
         throw SqlError(sqlstate::invalidColumnReference,
                        "cannot use system column \"" + name + "\" in publication column list");
      if (!column)
         throw SqlError(sqlstate::undefinedColumn,
                        "column \"" + name + "\" of relation \"" + table.name + "\" does not exist");
      if (column->generated)
         throw SqlError(sqlstate::invalidColumnReference,
                        "cannot use generated column \"" + name + "\" in publication column list");
      if (std::ranges::find(columns, column->attribute) != columns.end())
         throw SqlError(sqlstate::duplicateObject, "duplicate column \"" + name + "\" in publication column list");
      columns.push_back(column->attribute);
   }
   std::ranges::sort(columns);
   return columns;
}

/// Gathers tables, each once.
class Gathered {
public:
   void add(const NamedTable& named) {
      if (!seen_.insert(named.table->oid).second) return;
      if (named.where) filtered_.insert(named.table->oid);
      if (named.columnList) listed_.insert(named.table->oid);
      tables_.push_back(named);
   }
   bool has(Oid table) const { return seen_.contains(table); }
   /// Throws 42710 if the table is there and this or the earlier naming has a filter or a column list.
   void requireNoConflict(const NamedTable& named, Oid table) const {
      const char* what = named.where || filtered_.contains(table)      ? "WHERE clauses"
                         : named.columnList || listed_.contains(table) ? "column lists"
                                                                       : nullptr;
      if (what)
         throw SqlError(sqlstate::duplicateObject,
                        "conflicting or redundant " + std::string(what) + " for table \"" + named.table->name + "\"");
   }
   std::vector<NamedTable> take() { return std::move(tables_); }

private:
   std::set<Oid> seen_, filtered_, listed_;
   std::vector<NamedTable> tables_;
};

} // namespace

PublishedObjects::PublishedObjects(CommandContext& context, const ::List* objects) : context_(context) {
   SessionCore& core = context.core;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const ::PublicationObjSpec* object : ListOf<::PublicationObjSpec>(objects)) {
      if (object->pubobjtype == PUBLICATIONOBJ_TABLE) {
         tables_.push_back(object->pubtable);
         continue;
      }
      Oid schema = invalidOid;
      if (object->pubobjtype == PUBLICATIONOBJ_TABLES_IN_CUR_SCHEMA) {
         schema = core.searchPath().creation;
         if (schema == invalidOid)
            throw SqlError(sqlstate::invalidSchemaName, "no schema has been selected for CURRENT_SCHEMA");
      } else {
         const auto found = snapshot.findSchema(object->name);
         if (!found)
            throw SqlError(sqlstate::invalidSchemaName, "schema \"" + std::string(object->name) + "\" does not exist");
         schema = found->oid;
      }
      if (std::ranges::find(schemas_, schema) == schemas_.end()) schemas_.push_back(schema);
   }
}

std::vector<NamedTable> PublishedObjects::openTables() const {
   Gathered gathered;
   for (const ::PublicationTable* object : tables_) {
      NamedTable named{opened(context_, *object->relation), object->whereClause, object->relation, object->columns};
      if (gathered.has(named.table->oid)) {
         gathered.requireNoConflict(named, named.table->oid);
         continue;
      }
      gathered.add(named);
      // Partitions are published with their table.
      if (!object->relation->inh || named.table->partitionKey) continue;
      const catalog::Snapshot snapshot = context_.core.transaction.catalog();
      for (const Oid heir : snapshot.allHeirOids(named.table->oid)) {
         if (gathered.has(heir)) gathered.requireNoConflict(named, heir);
         gathered.add({snapshot.relation(heir), named.where, named.name, named.columnList});
      }
   }
   return gathered.take();
}

std::vector<catalog::PublicationTable> PublishedObjects::read(const std::vector<NamedTable>& tables,
                                                              const std::string& publication, bool hasSchemas,
                                                              bool viaRoot) const {
   SessionCore& core = context_.core;
   std::vector<catalog::PublicationTable> read;
   for (const NamedTable& named : tables) {
      read.push_back({});
      read.back().table = named.table->oid;
      if (!named.where) continue;
      if (!viaRoot && named.table->partitionKey)
         throw SqlError(sqlstate::invalidParameterValue,
                        "cannot use publication WHERE clause for relation \"" + named.table->name + "\"")
             .detail("WHERE clause cannot be used for a partitioned table when publish_via_partition_root is false.");
      StoredFilter filter = storedFilter(context_, named);
      read.back().filter = std::move(filter.text);
      read.back().filterReads = std::move(filter.reads);
   }
   for (const NamedTable& named : tables) {
      if (!named.columnList) continue;
      const auto schema = core.transaction.catalog().schema(named.table->schema);
      const char* why =
          hasSchemas ? "Column lists cannot be specified in publications containing FOR TABLES IN SCHEMA elements."
          : !viaRoot && named.table->partitionKey
              ? "Column lists cannot be specified for partitioned tables when publish_via_partition_root is false."
              : nullptr;
      if (why)
         throw SqlError(sqlstate::invalidParameterValue,
                        "cannot use column list for relation \"" + (schema ? schema->name : std::string()) + "." +
                            named.table->name + "\" in publication \"" + publication + "\"")
             .detail(why);
   }
   for (size_t i = 0; i < tables.size(); ++i) {
      requireOwner(core, *tables[i].table);
      engine::requirePublishable(*tables[i].table);
      read[i].columns = columnsOf(*tables[i].table, tables[i].columnList);
   }
   return read;
}

void PublishedObjects::requirePublishable(SessionCore& core, Oid schema) {
   const auto found = core.transaction.catalog().schema(schema);
   const std::string name = found ? found->name : std::string();
   const char* why = name == "pg_catalog"           ? "This operation is not supported for system schemas."
                     : name.starts_with("pg_temp_") ? "Temporary schemas cannot be replicated."
                                                    : nullptr;
   if (why)
      throw SqlError(sqlstate::invalidParameterValue, "cannot add schema \"" + name + "\" to publication").detail(why);
}

} // namespace ouzel::engine
