#include "catalog/pg_catalog/virtual_table.hpp"

#include <catch2/catch.hpp>

#include "catalog/editor/editor.hpp"
#include "catalog/object/system_relations.hpp"
#include "common/type/array.hpp"

using namespace ouzel;
using namespace ouzel::catalog;

namespace {

using Rows = std::vector<std::vector<Value>>;

Rows scan(const Snapshot& snapshot, std::string_view table, std::vector<std::string> columns,
          const SystemState* state = nullptr) {
   const RelationPtr relation = findSystemRelation(pgCatalogSchema, table);
   CATCH_REQUIRE(relation);
   std::vector<int16_t> attributes;
   for (const std::string& column : columns) {
      CATCH_REQUIRE(relation->findColumn(column) != nullptr);
      attributes.push_back(relation->findColumn(column)->attribute);
   }
   Rows rows;
   scanVirtualTable({snapshot, state}, *relation, attributes,
                    [&](std::vector<Value>& row) { rows.push_back(std::move(row)); });
   return rows;
}

const std::vector<Value>* find(const Rows& rows, int64_t oid) {
   for (const auto& row : rows)
      if (row[0].i64 == oid) return &row;
   return nullptr;
}

struct Fixture {
   Oid next = firstUserOid, table, view;
   CatalogEditor editor{Snapshot::bootstrap(), [this] { return next++; }};

   Fixture() {
      Relation draft;
      draft.schema = publicSchema;
      draft.name = "t";
      for (const char* name : {"a", "b"}) {
         Column column;
         column.name = name;
         column.type = {oid::numeric, numericTypmod(15, 2), 0};
         draft.columns.push_back(column);
      }
      draft.columns[1].defaultExpr = "7";
      Constraint key;
      key.kind = ConstraintKind::PrimaryKey;
      key.columns = {2, 1};
      draft.constraints.push_back(key);
      table = editor.createRelation(draft);
      Relation viewDraft;
      viewDraft.schema = publicSchema;
      viewDraft.name = "v";
      viewDraft.relationKind = RelationKind::View;
      viewDraft.definition = "SELECT a FROM t";
      viewDraft.columns.push_back(draft.columns[0]);
      viewDraft.dependsOn = {{table, 1}};
      view = editor.createRelation(viewDraft);
      editor.setComment(class_oid::pgClass, table, 0, "hello");
   }
   const Snapshot& snapshot() const { return editor.snapshot(); }
};

} // namespace

CATCH_TEST_CASE("every virtual table can be scanned with all of its columns") {
   Fixture f;
   const SystemState state;
   for (const RelationPtr& relation : systemRelations()) {
      if (relation->relationKind != RelationKind::Virtual) continue;
      std::vector<int16_t> all, none;
      for (const Column& column : relation->columns)
         all.push_back(column.attribute);
      size_t count = 0;
      scanVirtualTable({f.snapshot(), &state}, *relation, all, [&](std::vector<Value>& row) {
         ++count;
         CATCH_REQUIRE(row.size() == all.size());
         for (size_t i = 0; i < row.size(); ++i) {
            const PhysicalType physical = storedRepresentation(relation->columns[i].type).physical;
            if (row[i].type != physical) CATCH_FAIL(relation->name << "." << relation->columns[i].name);
            if (row[i].isNull && relation->columns[i].notNull)
               CATCH_FAIL(relation->name << "." << relation->columns[i].name << " is NULL");
         }
      });
      size_t countWithout = 0;
      scanVirtualTable({f.snapshot(), nullptr}, *relation, none, [&](std::vector<Value>&) { ++countWithout; });
      CATCH_CHECK(count == countWithout);
   }
}

CATCH_TEST_CASE("pg_class and its neighbours describe user relations") {
   Fixture f;
   const Rows classes = scan(f.snapshot(), "pg_class", {"oid", "relname", "relkind", "relhasindex", "relnatts"});
   CATCH_REQUIRE(find(classes, f.table) != nullptr);
   CATCH_CHECK((*find(classes, f.table))[1].bytes == "t");
   CATCH_CHECK((*find(classes, f.table))[3].i64 == 1);
   CATCH_CHECK((*find(classes, f.view))[2].bytes == "v");
   CATCH_CHECK((*find(classes, 1259))[2].bytes == "r");
   const Rows indexes = scan(f.snapshot(), "pg_index", {"indrelid", "indkey", "indisprimary"});
   CATCH_REQUIRE(indexes.size() == 1);
   const ArrayValue keys = readArray(indexes[0][1].bytes);
   CATCH_CHECK(keys.dimensions == std::vector<ArrayDimension>{{2, 0}});
   CATCH_CHECK(keys.elements[0].i64 == 2);
   const Rows constraints = scan(f.snapshot(), "pg_constraint", {"conrelid", "conname", "contype", "conkey"});
   CATCH_REQUIRE(constraints.size() == 1);
   CATCH_CHECK(constraints[0][1].bytes == "t_pkey");
   CATCH_CHECK(constraints[0][2].bytes == "p");
   const Rows attributes = scan(f.snapshot(), "pg_attribute", {"attrelid", "attname", "atttypmod", "atthasdef"});
   CATCH_CHECK((*find(attributes, f.table))[2].i64 == numericTypmod(15, 2));
   CATCH_CHECK(scan(f.snapshot(), "pg_attrdef", {"adrelid", "adbin"}).at(0).at(1).bytes == "{2} 7");
   CATCH_CHECK(scan(f.snapshot(), "pg_rewrite", {"ev_class"}).at(0).at(0).i64 == f.view);
   const Rows types = scan(f.snapshot(), "pg_type", {"oid", "typname", "typrelid"});
   CATCH_CHECK((*find(types, f.snapshot().relation(f.table)->rowType))[2].i64 == f.table);
   CATCH_CHECK((*find(types, oid::int4))[1].bytes == "int4");
}

CATCH_TEST_CASE("asking for columns in any order, or twice, works") {
   Fixture f;
   const Rows rows = scan(f.snapshot(), "pg_namespace", {"nspname", "oid", "nspname"});
   for (const auto& row : rows) {
      CATCH_CHECK(row[0].bytes == row[2].bytes);
      if (row[0].bytes == "public") CATCH_CHECK(row[1].i64 == publicSchema);
   }
   CATCH_CHECK(rows.size() == 3);
}

CATCH_TEST_CASE("built-in rows keep their arrays, and acl items print") {
   Fixture f;
   for (const auto& row : scan(f.snapshot(), "pg_proc", {"oid", "proargtypes", "proargmodes"})) {
      if (row[0].i64 == 9000) CATCH_CHECK(arraySize(row[1].bytes) == 0);
      if (row[0].i64 != 2084) continue; // pg_show_all_settings
      CATCH_CHECK(readArray(row[2].bytes).elements.at(0).bytes == "o");
   }
   for (const auto& row : scan(f.snapshot(), "pg_namespace", {"oid", "nspacl"}))
      if (row[0].i64 == publicSchema) {
         const ArrayValue acl = readArray(row[1].bytes);
         CATCH_REQUIRE(acl.elements.size() == 2);
         CATCH_CHECK(acl.elements[0].bytes == "pg_database_owner=UC/pg_database_owner");
         CATCH_CHECK(acl.elements[1].bytes == "=U/pg_database_owner");
      }
   const Rows comments = scan(f.snapshot(), "pg_description", {"objoid", "description"});
   CATCH_CHECK((*find(comments, f.table))[1].bytes == "hello");
}

CATCH_TEST_CASE("system views are views with our SQL, or empty tables") {
   const RelationPtr tables = findSystemRelation(pgCatalogSchema, "pg_tables");
   CATCH_CHECK(tables->relationKind == RelationKind::View);
   CATCH_CHECK(tables->definition.starts_with("SELECT n.nspname"));
   CATCH_CHECK(tables->definition.ends_with("IN ('r', 'p')"));
   const Snapshot snapshot = Snapshot::bootstrap();
   const RelationPtr columns = snapshot.findRelation(snapshot.findSchema("information_schema")->oid, "columns");
   CATCH_CHECK(columns->relationKind == RelationKind::View);
   CATCH_CHECK(columns->findColumn("ordinal_position")->type.oid == oid::int4); // cardinal_number
   const RelationPtr features = snapshot.findRelation(columns->schema, "sql_features");
   size_t count = 0;
   const int16_t first[] = {1};
   scanVirtualTable({snapshot, nullptr}, *features, first, [&](std::vector<Value>&) { ++count; });
   CATCH_CHECK(count > 700);
   CATCH_CHECK(findSystemRelation(pgCatalogSchema, "pg_settings")->relationKind == RelationKind::Virtual);
   CATCH_CHECK(findSystemRelation(pgCatalogSchema, "pg_settings")->relkind() == 'v');
   CATCH_CHECK(findSystemRelation(pgCatalogSchema, "ouzel_stat_memory")->columns.size() == 2);
   // A directory sends no requests.
   CATCH_CHECK(scan(snapshot, "ouzel_stat_object_store", {"request", "estimated_cost"}).empty());
}
