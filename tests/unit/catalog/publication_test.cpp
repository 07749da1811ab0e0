#include "catalog/object/publication.hpp"

#include <catch2/catch.hpp>

#include "catalog/catalog.hpp"
#include "catalog/object/codec.hpp"
#include "catalog/object/published_tables.hpp"
#include "common/error/sql_error.hpp"

using namespace ouzel;
using namespace ouzel::catalog;

namespace {

struct Fixture {
   Oid next = firstUserOid;
   Catalog catalog{Snapshot::bootstrap()};
   OidSource oids = [this] { return next++; };
   CatalogEditor editor{catalog.newest(), oids};

   Oid table(const std::string& name, Oid schema = publicSchema) {
      Relation draft;
      draft.schema = schema;
      draft.name = name;
      draft.columns.resize(2);
      draft.columns[0].name = "a";
      draft.columns[1].name = "b";
      for (Column& column : draft.columns)
         column.type = {oid::int4, -1, invalidOid};
      return editor.createRelation(std::move(draft));
   }
   void publish(Publication publication) {
      Database database = *editor.snapshot().database(editor.snapshot().database());
      database.publications.push_back(std::move(publication));
      editor.replaceDatabase(std::move(database));
   }
   const Publication& published(size_t i = 0) const { return publicationsOf(editor.snapshot()).at(i); }

   Publication ofTable(Oid table) {
      Publication publication;
      publication.oid = oids();
      publication.name = "p";
      publication.tables.push_back({oids(), table, {1}, "b > 1", {2}});
      return publication;
   }
};

} // namespace

CATCH_TEST_CASE("publications and replica identities outlive the bytes of a catalog") {
   Fixture f;
   const Oid table = f.table("t");
   Relation changed = *f.editor.snapshot().relation(table);
   changed.replicaIdentity = 'i';
   changed.identityIndex = 77;
   f.editor.replaceRelation(changed);
   Publication draft = f.ofTable(table);
   draft.update = draft.truncate = false;
   draft.viaRoot = true;
   draft.schemas.push_back({f.oids(), publicSchema});
   f.publish(draft);
   for (const Snapshot& snapshot :
        {decodeSnapshot(encodeSnapshot(f.editor.snapshot())),
         Snapshot::bootstrap().apply(decodeChanges(encodeChanges(f.editor.changes()))).inDatabase(postgresDatabase)}) {
      const Publication* found = findPublication(snapshot, "p");
      CATCH_REQUIRE(found);
      CATCH_CHECK((found->oid == draft.oid && found->insert && !found->update && found->del && !found->truncate));
      CATCH_CHECK((found->viaRoot && !found->hasAllTables && found->schemas.at(0).schema == publicSchema));
      const PublicationTable& entry = found->tables.at(0);
      CATCH_CHECK((entry.table == table && entry.columns == std::vector<int16_t>{1} && entry.filter == "b > 1"));
      CATCH_CHECK((entry.needs(1) && entry.needs(2) && !entry.needs(3)));
      CATCH_CHECK((snapshot.relation(table)->replicaIdentity == 'i' && snapshot.relation(table)->identityIndex == 77));
   }
}

CATCH_TEST_CASE("publications lose tables and schemas that fall, and hold columns that they need") {
   Fixture f;
   const Oid schema = f.editor.createSchema("s", bootstrapRole);
   const Oid kept = f.table("t"), moved = f.table("u", schema);
   f.publish(f.ofTable(kept));
   Publication other = f.ofTable(moved);
   other.name = "q";
   other.schemas.push_back({f.oids(), schema});
   f.publish(other);
   CATCH_CHECK_THROWS_AS(f.editor.dropColumn(kept, "b", DropBehavior::Restrict), SqlError);
   const Dropped dropped = f.editor.dropColumn(kept, "b", DropBehavior::Cascade);
   CATCH_REQUIRE(dropped.items.size() == 1);
   CATCH_CHECK(dropped.items[0].description.ends_with("in publication p"));
   CATCH_CHECK(f.published().tables.empty());
   CATCH_CHECK(f.published(1).tables.size() == 1);
   f.editor.dropSchema(schema, DropBehavior::Cascade);
   CATCH_CHECK((f.published(1).tables.empty() && f.published(1).schemas.empty()));
}

CATCH_TEST_CASE("the tables of a publication are those that it names, and all of its schemas") {
   Fixture f;
   const Oid schema = f.editor.createSchema("s", bootstrapRole);
   const Oid named = f.table("t"), inSchema = f.table("u", schema);
   f.table("v");
   Publication draft = f.ofTable(named);
   draft.schemas.push_back({f.oids(), schema});
   draft.tables.push_back({f.oids(), inSchema, {}, "a > 1", {1}});
   f.publish(draft);
   const auto tables = publishedTables(f.editor.snapshot(), f.published());
   CATCH_REQUIRE(tables.size() == 2);
   CATCH_CHECK((tables[0].table->oid == named && tables[0].named));
   CATCH_CHECK((tables[1].table->oid == inSchema && !tables[1].named)); // the schema is published as a whole
   const auto publications = publicationsOfTable(f.editor.snapshot(), *f.editor.snapshot().relation(named));
   CATCH_REQUIRE(publications.size() == 1);
   CATCH_CHECK((publications[0].publication->name == "p" && publications[0].as->oid == named));
}
