#include "catalog/object/collation.hpp"

#include <catch2/catch.hpp>

#include "catalog/catalog.hpp"
#include "catalog/object/codec.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/object/verify.hpp"
#include "common/error/sql_error.hpp"

using namespace ouzel;
using namespace ouzel::catalog;

namespace {

struct Fixture {
   Oid next = firstUserOid;
   Catalog catalog{Snapshot::bootstrap()};
   OidSource oids = [this] { return next++; };

   CatalogEditor edit() {
      CatalogEditor editor(catalog.newest(), oids);
      const std::string setting[] = {"public"};
      editor.setSearchPath(SearchPath::resolve(editor.snapshot(), setting, "postgres"));
      return editor;
   }
   void commit(CatalogEditor& editor) { catalog.prepare(editor).publish(); }

   static Collation collation(std::string name, bool isDeterministic = true) {
      Collation draft;
      draft.schema = publicSchema;
      draft.name = std::move(name);
      draft.provider = 'i';
      draft.isDeterministic = isDeterministic;
      draft.icuLocale = "de-u-co-phonebk";
      draft.version = "153.120";
      return draft;
   }
   static Relation table(std::string name, Oid collation) {
      Relation relation;
      relation.name = std::move(name);
      relation.schema = publicSchema;
      relation.columns.emplace_back();
      relation.columns.back().name = "a";
      relation.columns.back().type = {oid::text, -1, collation};
      return relation;
   }
};

} // namespace

CATCH_TEST_CASE("names after COLLATE are found and replaced in SQL") {
   CATCH_CHECK(namesCollation("a < b COLLATE s.c", "s", "c"));
   CATCH_CHECK(namesCollation("a < b collate\n\"s\" . \"c\"", "s", "c"));
   CATCH_CHECK(namesCollation("x COLLATE c", "s", "c")); // without a schema: it may be this one
   CATCH_CHECK(namesCollation("x COLLATE s.\"C \"\"d\"", "s", "C \"d"));
   CATCH_CHECK(namesCollation("x COLLATE db.s.c", "s", "c"));
   CATCH_CHECK_FALSE(namesCollation("x COLLATE t.c", "s", "c"));
   CATCH_CHECK_FALSE(namesCollation("x COLLATE s.cc", "s", "c"));
   CATCH_CHECK_FALSE(namesCollation("'COLLATE s.c' || $$ COLLATE s.c $$ || \"COLLATE s.c\"", "s", "c"));
   CATCH_CHECK_FALSE(namesCollation("x /* COLLATE s.c */ COLLATE s.d -- COLLATE s.c", "s", "c"));
   CATCH_CHECK_FALSE(namesCollation("x COLLATE", "s", "c"));
   CATCH_CHECK(withCollationNamed("(a COLLATE s.c) < b COLLATE S.C, d COLLATE t.c", "s", "c", "u.\"D\"") ==
               "(a COLLATE u.\"D\") < b COLLATE u.\"D\", d COLLATE t.c");
   CATCH_CHECK(withCollationsMoved("a COLLATE s.c, b COLLATE s.\"D\", c COLLATE t.c, d COLLATE c", "s", "t 2") ==
               "a COLLATE \"t 2\".c, b COLLATE \"t 2\".\"D\", c COLLATE t.c, d COLLATE c");
}

CATCH_TEST_CASE("a collation survives its byte form, and so does what is said of keys and databases") {
   Fixture f;
   CatalogEditor editor = f.edit();
   const Oid c = editor.createCollation(Fixture::collation("c", false));
   Relation draft = Fixture::table("t", c);
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1};
   draft.constraints.push_back(key);
   const Oid t = editor.createRelation(draft);
   Database database;
   database.name = "d";
   database.localeProvider = 'i';
   database.icuLocale = "sv";
   database.collationVersion = "1.2";
   database.ctype = "POSIX";
   const Oid d = editor.createDatabase(database);
   CATCH_CHECK(findDamage(editor.snapshot()).empty());
   for (const Snapshot& snapshot :
        {decodeSnapshot(encodeSnapshot(editor.snapshot())),
         Snapshot::bootstrap().apply(decodeChanges(encodeChanges(editor.changes()))).inDatabase(postgresDatabase)}) {
      const CollationPtr found = snapshot.findCollation(publicSchema, "c");
      CATCH_REQUIRE(found);
      CATCH_CHECK((found->oid == c && found->provider == 'i' && !found->isDeterministic && found->encoding == -1));
      CATCH_CHECK((found->icuLocale == "de-u-co-phonebk" && found->version == "153.120"));
      CATCH_CHECK(snapshot.indexesOf(t).at(0)->index->hasCollationKeys);
      CATCH_CHECK(isNondeterministic(snapshot, c));
      CATCH_CHECK(collationInfo(snapshot.inDatabase(d), defaultCollation)->icuLocale == "sv");
      CATCH_CHECK(collationInfo(snapshot, defaultCollation)->provider == 'c');
      CATCH_CHECK(snapshot.database(d)->ctype == "POSIX");
      CATCH_CHECK(snapshot.database(d)->collationVersion == "1.2");
   }
   const Change lost{{ObjectKind::Collation, postgresDatabase, c}, nullptr, nullptr};
   CATCH_CHECK(findDamage(editor.snapshot().apply(std::span(&lost, 1))).size() == 2); // of the table and of its index
}

CATCH_TEST_CASE("a collation that was dropped meanwhile is not used") {
   Fixture f;
   CatalogEditor first = f.edit();
   const Oid c = first.createCollation(Fixture::collation("c"));
   f.commit(first);
   CatalogEditor drops = f.edit(), creates = f.edit();
   drops.dropTogether({.collations = {c}}, DropBehavior::Restrict);
   creates.createRelation(Fixture::table("t", c));
   CATCH_SECTION("by a table") {
      f.commit(drops);
      CATCH_CHECK_THROWS_AS(f.commit(creates), SqlError);
   }
   CATCH_SECTION("nor dropped when a table uses it") {
      f.commit(creates);
      CATCH_CHECK_THROWS_AS(f.commit(drops), SqlError);
   }
   CATCH_CHECK(findDamage(f.catalog.newest()).empty());
}
