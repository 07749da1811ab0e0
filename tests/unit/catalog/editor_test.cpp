#include "catalog/editor/editor.hpp"

#include <catch2/catch.hpp>

#include "catalog/catalog.hpp"
#include "catalog/object/codec.hpp"
#include "catalog/object/statistics.hpp"
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
      editor.setSearchPath(path(editor.snapshot()));
      return editor;
   }
   static SearchPath path(const Snapshot& snapshot) {
      const std::string setting[] = {"$user", "public"};
      return SearchPath::resolve(snapshot, setting, "postgres");
   }
   void commit(CatalogEditor& editor) { catalog.prepare(editor).publish(); }

   static Relation table(std::string name, std::vector<std::string> columns, Oid schema = publicSchema) {
      Relation relation;
      relation.name = std::move(name);
      relation.schema = schema;
      for (std::string& column : columns) {
         relation.columns.emplace_back();
         relation.columns.back().name = std::move(column);
         relation.columns.back().type = {oid::int4, -1, 0};
      }
      return relation;
   }
   static Relation view(std::string name, std::vector<Dependency> on) {
      Relation relation = table(std::move(name), {"a"});
      relation.relationKind = RelationKind::View;
      relation.definition = "SELECT a FROM t";
      relation.dependsOn = std::move(on);
      return relation;
   }
};

template <typename Action>
SqlError errorOf(Action&& action) {
   try {
      action();
   } catch (const SqlError& error) {
      return error;
   }
   return SqlError(sqlstate::successfulCompletion, "no error");
}

} // namespace

CATCH_TEST_CASE("a new cluster has PostgreSQL's databases, roles and schemas") {
   const Snapshot snapshot = Snapshot::bootstrap();
   CATCH_CHECK(snapshot.findDatabase("postgres")->oid == postgresDatabase);
   CATCH_CHECK(snapshot.databases().size() == 3);
   CATCH_CHECK(snapshot.findRole("postgres")->isSuperuser);
   CATCH_CHECK(snapshot.findSchema("public")->oid == publicSchema);
   CATCH_CHECK(snapshot.findSchema("pg_catalog")->oid == pgCatalogSchema);
   CATCH_CHECK(snapshot.relations().empty());
   CATCH_CHECK(snapshot.findRelation(pgCatalogSchema, "pg_class")->oid == 1259);
   CATCH_CHECK(snapshot.relation(1259)->findColumn("relname")->type.oid == oid::name);
   CATCH_CHECK(*snapshot.comment(class_oid::pgNamespace, publicSchema) == "standard public schema");
}

CATCH_TEST_CASE("names resolve along the search path") {
   Fixture f;
   CatalogEditor editor = f.edit();
   const Oid table = editor.createRelation(Fixture::table("t", {"a"}));
   const Oid schema = editor.createSchema("s", bootstrapRole);
   const Oid other = editor.createRelation(Fixture::table("t", {"b"}, schema));
   const Snapshot& s = editor.snapshot();
   const SearchPath path = Fixture::path(s);
   CATCH_CHECK(findRelation(s, path, QualifiedName::of("t"))->oid == table);
   CATCH_CHECK(findRelation(s, path, {"", "s", "t"})->oid == other);
   CATCH_CHECK(findRelation(s, path, {"postgres", "s", "t"})->oid == other);
   CATCH_CHECK(findRelation(s, path, QualifiedName::of("pg_class"))->oid == 1259);
   CATCH_CHECK(isVisible(s, path, *s.relation(table)));
   CATCH_CHECK(displayName(s, path, *s.relation(other)) == "s.t");
   CATCH_CHECK(errorOf([&] { requireRelation(s, path, {"", "nos", "t", 15}); }).position() == 15);
   CATCH_CHECK(errorOf([&] { requireRelation(s, path, QualifiedName::of("x")); }).what() ==
               std::string("relation \"x\" does not exist"));
   CATCH_CHECK(errorOf([&] { findRelation(s, path, {"x", "y", "z"}); }).state() == sqlstate::featureNotSupported);
   CATCH_CHECK(errorOf([&] { requireSchema(s, path, "nos"); }).state() == sqlstate::undefinedSchema);
   CATCH_CHECK(errorOf([&] {
                  creationSchema(s, path, {"", "pg_catalog", "t"});
               }).state() == sqlstate::insufficientPrivilege);
   CATCH_CHECK(errorOf([&] { creationSchema(s, SearchPath::resolve(s, {}, "x"), QualifiedName::of("t")); }).state() ==
               sqlstate::undefinedSchema);
   // pg_catalog's table hides the one in public unless public comes first in the path.
   editor.createRelation(Fixture::table("pg_class", {"a"}));
   CATCH_CHECK(findRelation(editor.snapshot(), path, QualifiedName::of("pg_class"))->oid == 1259);
   const std::string explicitly[] = {"public", "pg_catalog"};
   CATCH_CHECK(findRelation(editor.snapshot(), SearchPath::resolve(editor.snapshot(), explicitly, "x"),
                            QualifiedName::of("pg_class"))
                   ->schema == publicSchema);
}

CATCH_TEST_CASE("identifiers are quoted and parsed as PostgreSQL does") {
   CATCH_CHECK(quoteIdentifier("abc_1") == "abc_1");
   CATCH_CHECK(quoteIdentifier("Abc") == "\"Abc\"");
   CATCH_CHECK(quoteIdentifier("select") == "\"select\"");
   CATCH_CHECK(quoteIdentifier("name") == "name");
   CATCH_CHECK(quoteIdentifier("a\"b") == "\"a\"\"b\"");
   CATCH_CHECK(parseQualifiedName(" Ab . \"C\"\"d\" ") == std::vector<std::string>{"ab", "C\"d"});
   CATCH_CHECK(errorOf([] { parseQualifiedName(""); }).state() == sqlstate::invalidName);
   CATCH_CHECK(errorOf([] { parseQualifiedName("\"a"); }).state() == sqlstate::invalidName);
   CATCH_CHECK(errorOf([] { toQualifiedName({"a", "b", "c", "d"}); }).state() == sqlstate::syntaxError);
}

CATCH_TEST_CASE("creating relations checks names and makes what constraints need") {
   Fixture f;
   CatalogEditor editor = f.edit();
   Relation draft = Fixture::table("t", {"a", "b"});
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1};
   draft.constraints.push_back(key);
   Constraint unique;
   unique.kind = ConstraintKind::Unique;
   unique.columns = {1, 2};
   draft.constraints.push_back(unique);
   Constraint check;
   check.columns = {2};
   check.expression = "b > 0";
   draft.constraints.push_back(check);
   draft.constraints.push_back(check);
   const Oid t = editor.createRelation(draft);
   const RelationPtr made = editor.snapshot().relation(t);
   CATCH_REQUIRE(made->constraints.size() == 4);
   CATCH_CHECK(made->constraints[0].name == "t_pkey");
   CATCH_CHECK(made->constraints[1].name == "t_a_b_key");
   CATCH_CHECK(made->constraints[2].name == "t_b_check");
   CATCH_CHECK(made->constraints[3].name == "t_b_check1");
   CATCH_CHECK(made->column(1)->notNull);
   CATCH_CHECK_FALSE(made->column(2)->notNull);
   CATCH_CHECK(made->rowType != invalidOid);
   CATCH_CHECK(editor.snapshot().relationOfType(made->rowTypeArray)->oid == t);
   CATCH_CHECK(editor.snapshot().indexesOf(t).size() == 2);
   CATCH_CHECK(editor.snapshot().findRelation(publicSchema, "t_pkey")->index->isPrimary);

   CATCH_CHECK(errorOf([&] { editor.createRelation(Fixture::table("t", {})); }).state() == sqlstate::duplicateTable);
   CATCH_CHECK(errorOf([&] {
                  editor.createRelation(Fixture::table("u", {"a", "a"}));
               }).what() == std::string("column \"a\" specified more than once"));
   CATCH_CHECK(errorOf([&] { editor.createRelation(Fixture::table("u", {"xmin"})); }).state() ==
               sqlstate::duplicateColumn);
   Relation twoKeys = Fixture::table("u", {"a", "b"});
   twoKeys.constraints = {key, key};
   CATCH_CHECK(errorOf([&] { editor.createRelation(twoKeys); }).state() == sqlstate::invalidTableDefinition);
   CATCH_CHECK_FALSE(editor.snapshot().findRelation(publicSchema, "u")); // the failed creation left no entry
   CATCH_CHECK_FALSE(editor.snapshot().findRelation(publicSchema, "u_pkey"));
   const std::string longName(63, 'x');
   CATCH_CHECK(editor.chooseName(longName, "col", "key", publicSchema).size() == 63);
}

CATCH_TEST_CASE("drops respect dependencies") {
   Fixture f;
   CatalogEditor editor = f.edit();
   Relation draft = Fixture::table("t", {"a", "b"});
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1};
   draft.constraints.push_back(key);
   const Oid t = editor.createRelation(draft);
   const Oid v = editor.createRelation(Fixture::view("v", {{t, 0}, {t, 1}}));
   editor.createRelation(Fixture::view("v2", {{v, 0}, {v, 1}}));
   Relation referencing = Fixture::table("u", {"x"}, editor.createSchema("s", bootstrapRole));
   Constraint foreign;
   foreign.kind = ConstraintKind::ForeignKey;
   foreign.columns = {1};
   foreign.foreignRelation = t;
   foreign.foreignColumns = {1};
   referencing.constraints.push_back(foreign);
   const Oid u = editor.createRelation(referencing);
   editor.setComment(class_oid::pgClass, t, 0, "a table");

   const SqlError refused = errorOf([&] { editor.dropRelation(t, DropBehavior::Restrict); });
   CATCH_CHECK(refused.state() == sqlstate::dependentObjectsStillExist);
   CATCH_CHECK(refused.what() == std::string("cannot drop table t because other objects depend on it"));
   CATCH_CHECK(refused.detailText() == "view v depends on table t\nview v2 depends on view v\n"
                                       "constraint u_x_fkey on table s.u depends on table t");
   CATCH_CHECK(errorOf([&] { editor.dropColumn(t, "a", DropBehavior::Restrict); }).detailText() ==
               "view v depends on column a of table t\nview v2 depends on view v\n"
               "constraint u_x_fkey on table s.u depends on column a of table t");
   CATCH_CHECK(errorOf([&] {
                  editor.dropSchema(editor.snapshot().findSchema("s")->oid, DropBehavior::Restrict);
               }).detailText() == "table s.u depends on schema s");

   editor.dropColumn(t, "b", DropBehavior::Restrict);
   CATCH_CHECK(editor.snapshot().relation(t)->column(2) == nullptr);
   CATCH_CHECK(editor.snapshot().relation(t)->columns.size() == 2);
   CATCH_CHECK(editor.addColumn(t, Fixture::table("", {"b"}).columns[0]) == 3);

   const Dropped dropped = editor.dropRelation(t, DropBehavior::Cascade);
   CATCH_CHECK(dropped.notice().first == "drop cascades to 3 other objects");
   CATCH_CHECK(dropped.notice().second ==
               "drop cascades to view v\ndrop cascades to view v2\ndrop cascades to constraint u_x_fkey on table s.u");
   CATCH_CHECK(editor.snapshot().relations().size() == 1);
   CATCH_CHECK(editor.snapshot().relation(u)->constraints.empty());
   CATCH_CHECK_FALSE(editor.snapshot().comment(class_oid::pgClass, t));
   CATCH_CHECK(errorOf([&] { editor.dropSchema(pgCatalogSchema, DropBehavior::Cascade); }).state() ==
               sqlstate::dependentObjectsStillExist);
}

CATCH_TEST_CASE("renames keep constraints and their indexes together") {
   Fixture f;
   CatalogEditor editor = f.edit();
   Relation draft = Fixture::table("t", {"a", "b"});
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1};
   draft.constraints.push_back(key);
   Constraint check;
   check.columns = {2};
   check.expression = "b > 0";
   draft.constraints.push_back(check);
   const Oid t = editor.createRelation(draft);
   editor.renameRelation(editor.snapshot().findRelation(publicSchema, "t_pkey")->oid, "k");
   CATCH_CHECK(editor.snapshot().relation(t)->primaryKey()->name == "k");
   editor.renameConstraint(t, "k", "k2");
   CATCH_CHECK(editor.snapshot().findRelation(publicSchema, "k2"));
   editor.renameRelation(t, "t2");
   CATCH_CHECK_FALSE(editor.snapshot().findRelation(publicSchema, "t"));
   CATCH_CHECK(errorOf([&] { editor.renameColumn(t, "b", "c"); }).state() == sqlstate::featureNotSupported);
   editor.renameColumn(t, "b", "c", [](const std::string&) { return "c > 0"; });
   CATCH_CHECK(editor.snapshot().relation(t)->findColumn("c")->attribute == 2);
   CATCH_CHECK(errorOf([&] { editor.renameColumn(t, "zz", "y"); }).what() ==
               std::string("column \"zz\" does not exist"));
   CATCH_CHECK(errorOf([&] { editor.renameColumn(t, "a", "c"); }).state() == sqlstate::duplicateColumn);
   CATCH_CHECK(errorOf([&] { editor.dropRelation(1259, DropBehavior::Restrict); }).state() ==
               sqlstate::insufficientPrivilege);
}

CATCH_TEST_CASE("damage is found and refused where it would be obeyed") {
   Fixture f;
   CatalogEditor editor = f.edit();
   Relation parent = Fixture::table("p", {"a"});
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1};
   parent.constraints.push_back(key);
   const Oid p = editor.createRelation(parent);
   const Oid index = editor.snapshot().findRelation(publicSchema, "p_pkey")->oid;
   Relation child = Fixture::table("c", {"x"});
   Constraint foreign;
   foreign.kind = ConstraintKind::ForeignKey;
   foreign.columns = {1};
   foreign.foreignRelation = p;
   foreign.foreignColumns = {1};
   foreign.referencedIndex = index;
   child.constraints.push_back(foreign);
   const Oid c = editor.createRelation(child);
   const Oid v = editor.createRelation(Fixture::view("v", {{c, 1}}));
   CATCH_CHECK(findDamage(editor.snapshot()).empty());
   CATCH_CHECK_NOTHROW(requireOwnIndexes(editor.snapshot(), *editor.snapshot().relation(p)));

   // The primary key's index is gone, as if something had taken it for the foreign key's.
   const auto without = [&](Oid oid) {
      const RelationPtr relation = editor.snapshot().relation(oid);
      return editor.snapshot().apply(std::vector<Change>{{keyOf(*relation), relation, nullptr}});
   };
   const Snapshot damaged = without(index);
   CATCH_CHECK(findDamage(damaged) ==
               std::vector<std::string>{"constraint p_pkey on table p: its index is missing",
                                        "constraint c_x_fkey on table c: its unique index of table p is missing"});
   CATCH_CHECK(errorOf([&] { requireOwnIndexes(damaged, *damaged.relation(p)); }).state() == sqlstate::indexCorrupted);
   CATCH_CHECK(errorOf([&] {
                  requireReferencedIndex(damaged, *damaged.relation(c), damaged.relation(c)->constraints[0]);
               }).state() == sqlstate::indexCorrupted);
   CATCH_CHECK(findDamage(without(p)) ==
               std::vector<std::string>{"index p_pkey: its table is missing",
                                        "constraint c_x_fkey on table c: the table that it references is missing"});
   CATCH_CHECK(findDamage(without(c)) ==
               std::vector<std::string>{"view v: a table or column that it reads is missing"});
   CATCH_CHECK(findDamage(without(v)).empty());
}

CATCH_TEST_CASE("savepoints undo and commits rebase") {
   Fixture f;
   CatalogEditor first = f.edit(), second = f.edit();
   first.createRelation(Fixture::table("t", {"a"}));
   const auto savepoint = first.savepoint();
   first.createRelation(Fixture::table("gone", {"a"}));
   first.rollbackTo(*savepoint);
   second.createRelation(Fixture::table("u", {"a"}));
   f.commit(first);
   f.commit(second);
   CATCH_CHECK(f.catalog.newest().relations().size() == 2);
   CATCH_CHECK_FALSE(f.catalog.newest().findRelation(publicSchema, "gone"));

   CatalogEditor a = f.edit(), b = f.edit(), c = f.edit();
   a.createRelation(Fixture::table("same", {"a"}));
   b.createRelation(Fixture::table("same", {"a"}));
   f.commit(a);
   CATCH_CHECK(errorOf([&] { f.commit(b); }).state() == sqlstate::duplicateTable);
   // The name may be taken by an object that this transaction drops.
   CatalogEditor swap = f.edit();
   swap.dropRelation(swap.snapshot().findRelation(publicSchema, "same")->oid, DropBehavior::Restrict);
   swap.createRelation(Fixture::table("same", {"b"}));
   f.commit(swap);
   CATCH_CHECK(f.catalog.newest().findRelation(publicSchema, "same")->findColumn("b") != nullptr);

   CatalogEditor d = f.edit(), e = f.edit(), g = f.edit();
   const Oid t = d.snapshot().findRelation(publicSchema, "t")->oid;
   d.addColumn(t, Fixture::table("", {"x"}).columns[0]);
   e.addColumn(t, Fixture::table("", {"y"}).columns[0]);
   f.commit(d);
   CATCH_CHECK(errorOf([&] { f.commit(e); }).state() == sqlstate::tRSerializationFailure);

   CatalogEditor h = f.edit();
   const Oid schema = h.createSchema("s", bootstrapRole);
   f.commit(h);
   CatalogEditor i = f.edit(), j = f.edit();
   i.createRelation(Fixture::table("t", {"a"}, schema));
   j.dropSchema(schema, DropBehavior::Restrict);
   f.commit(j);
   CATCH_CHECK(errorOf([&] { f.commit(i); }).state() == sqlstate::undefinedSchema);
}

CATCH_TEST_CASE("temporary relations stay out of the log and in the session") {
   Fixture f;
   CatalogEditor editor = f.edit();
   const Oid schema = editor.temporarySchema(7);
   Relation draft = Fixture::table("t", {"a"}, schema);
   draft.persistence = Persistence::Temporary;
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1};
   draft.constraints.push_back(key);
   const Oid t = editor.createRelation(draft);
   CATCH_CHECK_FALSE(editor.hasChanges());
   f.commit(editor);
   CATCH_CHECK(f.catalog.newest().relations().empty());
   CatalogEditor later(f.catalog.newest(), f.oids, editor.temporaryChanges());
   CATCH_CHECK(later.snapshot().relation(t));
   const std::string setting[] = {"public"};
   const SearchPath path = SearchPath::resolve(later.snapshot(), setting, "x", schema);
   CATCH_CHECK(findRelation(later.snapshot(), path, QualifiedName::of("t"))->oid == t);
   CATCH_CHECK(findRelation(later.snapshot(), path, {"", "pg_temp", "t"})->oid == t);
   later.dropRelation(t, DropBehavior::Restrict);
   CATCH_CHECK_FALSE(later.hasChanges());
   CATCH_CHECK(later.temporaryChanges().size() == 1); // the schema
}

CATCH_TEST_CASE("databases and roles") {
   Fixture f;
   CatalogEditor editor = f.edit();
   Database draft;
   draft.name = "d";
   const Oid d = editor.createDatabase(draft);
   CATCH_CHECK(errorOf([&] { editor.createDatabase(draft); }).state() == sqlstate::duplicateDatabase);
   CATCH_CHECK(editor.snapshot().inDatabase(d).findSchema("public"));
   CATCH_CHECK(errorOf([&] { editor.dropDatabase("postgres", false); }).state() == sqlstate::objectInUse);
   CATCH_CHECK(errorOf([&] { editor.dropDatabase("nosuch", false); }).state() == sqlstate::undefinedDatabase);
   f.commit(editor);
   CatalogEditor inside(f.catalog.newest().inDatabase(d), f.oids);
   inside.createRelation(Fixture::table("t", {"a"}));
   f.commit(inside);
   CATCH_CHECK(f.catalog.newest().relations().empty());
   CATCH_CHECK(f.catalog.newest().relationsOfDatabase(d).size() == 1);
   CatalogEditor dropping = f.edit();
   Dropped dropped;
   dropping.dropDatabase("d", false, &dropped);
   CATCH_CHECK(dropped.items.size() == 1);
   f.commit(dropping);
   CATCH_CHECK(f.catalog.newest().relationsOfDatabase(d).empty());
   CATCH_CHECK_FALSE(f.catalog.newest().inDatabase(d).findSchema("public"));

   CatalogEditor roles = f.edit();
   Role role;
   role.name = "r";
   const Oid r = roles.createRole(role);
   CATCH_CHECK(errorOf([&] { roles.createRole(role); }).state() == sqlstate::duplicateObject);
   role.name = "pg_x";
   CATCH_CHECK(errorOf([&] { roles.createRole(role); }).state() == sqlstate::reservedName);
   Relation owned = Fixture::table("o", {"a"});
   owned.owner = r;
   const Oid o = roles.createRelation(owned);
   CATCH_CHECK(errorOf([&] { roles.dropRole("r", false); }).detailText() == "owner of table o");
   roles.dropRelation(o, DropBehavior::Restrict);
   roles.dropRole("r", false);
   CATCH_CHECK_FALSE(roles.snapshot().findRole("r"));
}

CATCH_TEST_CASE("a copied database has objects of its own that refer to each other as the originals do") {
   Fixture f;
   CatalogEditor making = f.edit();
   Database draft;
   draft.name = "source";
   const Oid source = making.createDatabase(draft);
   f.commit(making);
   CatalogEditor inside(f.catalog.newest().inDatabase(source), f.oids);
   Relation sequence = Fixture::table("s", {});
   sequence.relationKind = RelationKind::Sequence;
   sequence.sequence = SequenceDefinition();
   const Oid s = inside.createRelation(sequence);
   Relation table = Fixture::table("t", {"a"});
   table.storage = StorageId{5};
   table.columns[0].defaultExpr = "nextval('" + std::to_string(s) + "'::regclass)";
   table.columns[0].defaultSequence = s;
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1};
   table.constraints.push_back(key);
   const Oid t = inside.createRelation(table);
   inside.createRelation(Fixture::view("v", {{t, 1}}));
   inside.setComment(class_oid::pgClass, t, 1, "first");
   f.commit(inside);

   CatalogEditor copying = f.edit();
   draft.name = "copy";
   const Oid copy = copying.createDatabase(draft, source, [](const Relation& original, Relation& made) {
      if (original.storage != noStorage) made.storage = StorageId{static_cast<uint64_t>(original.storage) + 1};
   });
   f.commit(copying);
   const Snapshot seen = f.catalog.newest().inDatabase(copy);
   CATCH_CHECK(findDamage(f.catalog.newest()).empty());
   const RelationPtr t2 = seen.findRelation(publicSchema, "t"), s2 = seen.findRelation(publicSchema, "s");
   CATCH_REQUIRE((t2 && s2));
   CATCH_CHECK((t2->oid != t && s2->oid != s && t2->storage == StorageId{6}));
   // Types are the same ones: values name them.
   CATCH_CHECK(seen.relationOfType(t2->rowTypeArray) == t2);
   CATCH_CHECK(f.catalog.newest().inDatabase(source).relationOfType(t2->rowType)->oid == t);
   CATCH_CHECK_FALSE(f.catalog.newest().relationOfType(t2->rowType));
   CATCH_CHECK(t2->columns[0].defaultSequence == s2->oid);
   CATCH_CHECK(t2->columns[0].defaultExpr == "nextval('" + std::to_string(s2->oid) + "'::regclass)");
   CATCH_CHECK(seen.relation(t2->constraints.at(0).index)->index->table == t2->oid);
   CATCH_CHECK(seen.findRelation(publicSchema, "v")->dependsOn.at(0).relation == t2->oid);
   CATCH_CHECK(*seen.comment(class_oid::pgClass, t2->oid, 1) == "first");
   CATCH_CHECK_FALSE(seen.relation(t));

   // A relation that a dropped database leaves behind is damage.
   CatalogEditor dropping = f.edit();
   dropping.dropDatabase("source", false);
   f.commit(dropping);
   CATCH_CHECK(findDamage(f.catalog.newest()).empty());
   const Change lost{{ObjectKind::Database, copy}, nullptr, nullptr};
   CATCH_CHECK_FALSE(findDamage(f.catalog.newest().apply(std::span(&lost, 1))).empty());
}

namespace {

/// Statistics with something in each of their members.
Statistics someStatistics(CatalogEditor& editor, Oid table) {
   Statistics draft;
   draft.schema = publicSchema;
   draft.table = table;
   draft.kinds = "dfme";
   draft.columns = {1};
   draft.expressions = {"lower(b)"};
   draft.columnsRead = {2};
   draft.target = 17;
   StatisticsData data;
   data.isInherited = true;
   data.distinctCounts = {{{1, -1}, 12.5}};
   data.dependencies = {{{1}, -1, 0.25}};
   data.commonValues = {{{{"x", "key", false}, {"", "", true}}, 0.5, 0.125}};
   data.expressions.emplace_back();
   data.expressions[0].distinct = -0.75;
   data.expressions[0].commonValues = {{"y", "k", false}};
   data.expressions[0].commonFrequencies = {0.375};
   data.expressions[0].histogram = {"a", "z"};
   data.expressions[0].correlation = -1;
   draft.data = {data};
   const Oid oid = editor.createStatistics(std::move(draft));
   return *editor.snapshot().statistics(oid);
}

void checkStatistics(const Snapshot& snapshot, const Statistics& wanted) {
   const StatisticsPtr found = snapshot.findStatistics(publicSchema, "t_a_expr_stat");
   CATCH_REQUIRE(found);
   CATCH_CHECK(found->oid == wanted.oid);
   CATCH_CHECK((found->table == wanted.table && found->kinds == "dfme" && found->target == 17));
   CATCH_CHECK((found->columns == wanted.columns && found->columnsRead == wanted.columnsRead));
   CATCH_CHECK(found->expressions == wanted.expressions);
   CATCH_REQUIRE(found->data.size() == 1);
   const StatisticsData& data = found->data[0];
   CATCH_CHECK(data.isInherited);
   CATCH_CHECK((data.distinctCounts.at(0).dimensions == std::vector<int16_t>{1, -1}));
   CATCH_CHECK(data.distinctCounts.at(0).count == 12.5);
   CATCH_CHECK((data.dependencies.at(0).to == -1 && data.dependencies.at(0).degree == 0.25));
   const auto& common = data.commonValues.at(0);
   CATCH_CHECK((common.values.at(0).text == "x" && common.values.at(0).key == "key" && common.values.at(1).isNull));
   CATCH_CHECK((common.frequency == 0.5 && common.baseFrequency == 0.125));
   const auto& expression = data.expressions.at(0);
   CATCH_CHECK((expression.distinct == -0.75 && expression.commonValues.at(0).key == "k"));
   CATCH_CHECK((expression.commonFrequencies.at(0) == 0.375 && expression.histogram.at(1) == "z"));
   CATCH_CHECK(expression.correlation == -1.0);
}

} // namespace

CATCH_TEST_CASE("snapshots and changes survive their byte form") {
   Fixture f;
   CatalogEditor editor = f.edit();
   Relation draft = Fixture::table("t", {"a", "b"});
   draft.columns[1].defaultExpr = "nextval('s')";
   draft.columns[1].acl = {{1, 2, 3, 4}};
   draft.storage = StorageId{77};
   draft.options = {"fillfactor=10"};
   draft.hasRowSecurity = draft.forcesRowSecurity = true;
   Policy policy;
   policy.oid = 7;
   policy.name = "p";
   policy.command = PolicyCommand::Update;
   policy.isPermissive = false;
   policy.roles = {3, 4};
   policy.tableName = "was";
   policy.usingExpr = "a > 1";
   policy.checkExpr = "b > 1";
   draft.policies = {policy};
   Rule rule;
   rule.oid = 8;
   rule.name = "r";
   rule.event = RuleEvent::Delete;
   rule.isInstead = true;
   rule.enabled = 'A';
   rule.condition = "old.a > 1";
   rule.actions = {"DELETE FROM public.x", "DELETE FROM public.y"};
   draft.rules = {rule};
   Constraint key;
   key.kind = ConstraintKind::PrimaryKey;
   key.columns = {1, 2};
   draft.constraints.push_back(key);
   const Oid t = editor.createRelation(draft);
   Relation withPolicy = *editor.snapshot().relation(t);
   withPolicy.policies[0].dependsOn = policy.dependsOn = {{t, 2}};
   withPolicy.rules[0].dependsOn = rule.dependsOn = {{t, 0}, {t, 1}};
   editor.replaceRelation(withPolicy);
   editor.createRelation(Fixture::view("v", {{t, 1}}));
   Relation sequence = Fixture::table("s", {});
   sequence.relationKind = RelationKind::Sequence;
   sequence.sequence = SequenceDefinition();
   sequence.sequence->minimum = INT64_MIN;
   editor.createRelation(sequence);
   editor.setComment(class_oid::pgClass, t, 2, "second");
   editor.setSettings(0, bootstrapRole, {{"work_mem", "1GB"}});
   DefaultAcl defaults;
   defaults.database = editor.snapshot().database();
   defaults.role = 3;
   defaults.schema = publicSchema;
   defaults.objects = 'S';
   defaults.acl = {{1, 2, 3, 4}};
   editor.setDefaultAcl(defaults);
   ForeignServer server;
   server.oid = 20000;
   server.database = editor.snapshot().database();
   server.name = "lake";
   server.acl = {{5, 6, 7, 8}};
   server.version = "1";
   server.options = {{"url", "s3://bucket/x"}};
   server.mappings = {{20001, 9, {{"access_key_id", "k"}}}};
   editor.replaceServer(server);
   const Statistics statistics = someStatistics(editor, t);
   Role role = *editor.snapshot().findRole("postgres");
   role.verifier = "SCRAM-SHA-256$...";
   role.validUntil = -5;
   editor.replaceRole(role);
   auto commit = f.catalog.prepare(editor);
   const std::string record = commit.record();
   const Snapshot replayed = Snapshot::bootstrap().apply(decodeChanges(record));
   commit.publish();
   const Snapshot reread = decodeSnapshot(encodeSnapshot(f.catalog.newest()));
   for (const Snapshot& s : {replayed, reread}) {
      CATCH_CHECK(encodeSnapshot(s) == encodeSnapshot(f.catalog.newest()));
      CATCH_CHECK(s.relation(t)->storage == StorageId{77});
      CATCH_CHECK(s.relation(t)->hasRowSecurity);
      CATCH_CHECK(s.relation(t)->forcesRowSecurity);
      const Policy& kept = *s.relation(t)->findPolicy("p");
      CATCH_CHECK(
          (kept.oid == 7 && kept.command == PolicyCommand::Update && !kept.isPermissive && kept.roles == policy.roles));
      CATCH_CHECK((kept.tableName == "was" && kept.usingExpr == "a > 1" && kept.checkExpr == "b > 1"));
      CATCH_CHECK(kept.dependsOn == policy.dependsOn);
      const Rule& keptRule = *s.relation(t)->findRule("r");
      CATCH_CHECK((keptRule.oid == 8 && keptRule.event == RuleEvent::Delete && keptRule.isInstead));
      CATCH_CHECK((keptRule.enabled == 'A' && keptRule.condition == rule.condition));
      CATCH_CHECK((keptRule.actions == rule.actions && keptRule.dependsOn == rule.dependsOn));
      CATCH_REQUIRE(s.defaultAcls().size() == 1);
      const auto& entry = *s.defaultAcls()[0];
      CATCH_CHECK((entry.role == 3 && entry.schema == publicSchema && entry.objects == 'S' && entry.oid != invalidOid));
      CATCH_CHECK(entry.acl == defaults.acl);
      const ServerPtr lake = s.findServer("lake");
      CATCH_REQUIRE(lake);
      CATCH_CHECK((lake->oid == 20000 && lake->version == "1" && lake->type.empty()));
      CATCH_CHECK((lake->acl == server.acl && lake->options == server.options));
      CATCH_REQUIRE(lake->mappingOf(9));
      CATCH_CHECK(lake->mappingOf(9)->options == server.mappings[0].options);
      CATCH_CHECK(!lake->mappingOf(invalidOid));
      CATCH_CHECK(s.relation(t)->columns[1].acl->at(0) == AclItem{1, 2, 3, 4});
      CATCH_CHECK(s.findRelation(publicSchema, "s")->sequence->minimum == INT64_MIN);
      CATCH_CHECK(s.findRole("postgres")->validUntil == -5);
      CATCH_CHECK(s.settingsFor(0, bootstrapRole).at(0).second == "1GB");
      CATCH_CHECK(*s.comment(class_oid::pgClass, t, 2) == "second");
      checkStatistics(s, statistics);
   }
   for (size_t size = 0; size < record.size(); size += 7)
      CATCH_CHECK(errorOf([&] { decodeChanges(std::string_view(record).substr(0, size)); }).state() ==
                  sqlstate::dataCorrupted);
}

CATCH_TEST_CASE("many relations stay balanced and ordered") {
   Fixture f;
   CatalogEditor editor = f.edit();
   for (int i = 0; i < 500; ++i)
      editor.createRelation(Fixture::table("t" + std::to_string(i * 7919 % 500), {"a"}));
   const auto relations = editor.snapshot().relations();
   CATCH_REQUIRE(relations.size() == 500);
   for (size_t i = 1; i < relations.size(); ++i)
      CATCH_CHECK(relations[i - 1]->oid < relations[i]->oid);
   for (int i = 0; i < 500; i += 2)
      editor.dropRelation(editor.snapshot().findRelation(publicSchema, "t" + std::to_string(i))->oid,
                          DropBehavior::Restrict);
   CATCH_CHECK(editor.snapshot().relations().size() == 250);
   CATCH_CHECK(editor.snapshot().findRelation(publicSchema, "t499"));
   CATCH_CHECK_FALSE(editor.snapshot().findRelation(publicSchema, "t0"));
}
