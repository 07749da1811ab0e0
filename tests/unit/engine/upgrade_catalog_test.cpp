#include "engine/core/upgrade_catalog.hpp"

#include <catch2/catch.hpp>

#include "catalog/catalog.hpp"
#include "catalog/editor/editor.hpp"
#include "catalog/object/codec.hpp"
#include "executor/function/registry.hpp"

// What earlier formats of the catalog did not note is found again.

using namespace ouzel;
using namespace ouzel::catalog;

namespace {

Relation relation(const std::string& name, RelationKind kind) {
   Relation draft;
   draft.name = name;
   draft.schema = publicSchema;
   draft.database = postgresDatabase;
   draft.relationKind = kind;
   return draft;
}

Column column(const std::string& name, const SqlType& type, const std::string& value) {
   Column column;
   column.name = name;
   column.type = type;
   column.defaultExpr = value;
   return column;
}

} // namespace

CATCH_TEST_CASE("dependencies of an old catalog are derived from its texts") {
   executor::registerAllKernels();
   Catalog catalog(Snapshot::bootstrap());
   Oid nextOid = 20000;
   CatalogEditor editor(catalog.newest().inDatabase(postgresDatabase), [&] { return nextOid++; });
   Oid sequences[2];
   for (int i = 0; i < 2; ++i) {
      Relation sequence = relation(i == 0 ? "a" : "b", RelationKind::Sequence);
      sequence.sequence = SequenceDefinition();
      sequences[i] = editor.createRelation(sequence);
   }
   Relation table = relation("t", RelationKind::Table);
   const SqlType bigint{oid::int8, -1, invalidOid};
   table.columns = {column("sum", bigint, "nextval('a') + nextval('b'::regclass)"), column("plain", bigint, "1 + 1"),
                    column("broken", bigint, "nextval('nowhere')"), column("tracked", bigint, "nextval('a')")};
   table.columns[3].defaultSequence = sequences[0];
   table.columns[0].attribute = 1;
   const Oid t = editor.createRelation(table);
   Relation view = relation("v", RelationKind::View);
   view.definition = "SELECT 't'::regclass AS name, plain FROM public.t";
   view.columns = {column("name", {oid::regclass, -1, invalidOid}, ""), column("plain", bigint, "")};
   view.dependsOn = {{t, 0}, {t, 2}};
   const Oid v = editor.createRelation(view);
   Relation named = relation("w", RelationKind::View);
   named.definition = "SELECT 'v'::regclass AS name";
   named.columns = {column("name", {oid::regclass, -1, invalidOid}, "")};
   const Oid w = editor.createRelation(named);

   const Snapshot upgraded = engine::upgradeCatalog(editor.snapshot());
   const auto& columns = upgraded.relation(t)->columns;
   CATCH_CHECK(columns[0].relationsInDefault == std::vector<Oid>{sequences[0], sequences[1]});
   CATCH_CHECK(columns[0].defaultExpr == "nextval('" + std::to_string(sequences[0]) + "'::regclass) + nextval('" +
                                             std::to_string(sequences[1]) + "'::regclass)");
   CATCH_CHECK(columns[1].relationsInDefault.empty());
   CATCH_CHECK(columns[1].defaultExpr == "1 + 1");
   CATCH_CHECK(columns[2].defaultExpr == "nextval('nowhere')");
   CATCH_CHECK(columns[3].defaultSequence == sequences[0]);
   CATCH_CHECK(columns[3].relationsInDefault.empty());
   CATCH_CHECK(upgraded.relation(w)->dependsOn == std::vector<Dependency>{{v, 0}});
   CATCH_CHECK(encodeSnapshot(engine::upgradeCatalog(upgraded)) == encodeSnapshot(upgraded));
}

CATCH_TEST_CASE("bytes tell whether an earlier version has written them") {
   Snapshot snapshot = Snapshot::bootstrap();
   std::vector<Change> removed; // databases have had other fields since
   for (const DatabasePtr& database : snapshot.databases())
      removed.push_back({keyOf(*database), database, nullptr});
   snapshot = snapshot.apply(removed);
   std::string bytes = encodeSnapshot(snapshot);
   CATCH_CHECK(isComplete(bytes));
   bytes[4] = 2;
   CATCH_CHECK(!isComplete(bytes));
   CATCH_CHECK(decodeSnapshot(bytes).findRole("postgres") != nullptr);
   std::string changes = encodeChanges({});
   CATCH_CHECK(isComplete(changes));
   changes[4] = 1;
   CATCH_CHECK(!isComplete(changes));
}
