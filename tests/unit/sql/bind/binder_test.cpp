#include <catch2/catch.hpp>
#include <thread>

#include "sql/bind/type/type_rules.hpp"
#include "tests/unit/sql/bind/test_catalog.hpp"

using namespace ouzel;
using namespace ouzel::sql;

// Bound trees, as the optimizer gets them. Names, types and errors are compared with PostgreSQL in
// tests/sql/binder/*.slt.

namespace {

TestCatalog& tables() {
   static TestCatalog catalog = [] {
      TestCatalog made;
      made.run("create table t (a int primary key, b text not null, c numeric(10,2) default 1.5, d date, "
               "e bigint default 7, check (a > 0));"
               "create table u (a int, x text, y int, z smallint);"
               "create table gen (a int, b int generated always as (a * 2) stored, c text default 'x')");
      return made;
   }();
   return catalog;
}

std::string repeat(std::string_view text, uint32_t times) {
   std::string result;
   for (uint32_t i = 0; i < times; ++i)
      result += text;
   return result;
}

} // namespace

CATCH_TEST_CASE("clauses of a query from the inside out", "[bind]") {
   CATCH_CHECK(tables().describe("select b, count(*) as n, sum(e) filter (where a > 1) from t where e < 5 group by b "
                                 "having count(*) > 1 order by n desc limit 3") == R"(Limit 3
  Sort [count#5 desc]
    Select (count#5 > 1)
      GroupBy [b#7 := b#1] count#5 := count(*) sum#6 := sum(e#4) filter (a#0 > 1)
        Select (e#4 < 5)
          Get t [a#0, b#1, c#2, d#3, e#4]
)");
   CATCH_CHECK(tables().describe("select a, rank() over (partition by b order by sum(e)) from t group by a") ==
               R"(Window partition [b#8] order [sum#6] rank#5 := rank()
  GroupBy [a#7 := a#0, b#8 := b#1] sum#6 := sum(e#4)
    Get t [a#0, b#1, c#2, d#3, e#4]
)");
   CATCH_CHECK(tables().describe("select distinct on (b) b, a from t order by b, e desc") ==
               R"(Sort [b#1, e#4 desc]
  Distinct [b#1] order [b#1, e#4 desc]
    Get t [a#0, b#1, c#2, d#3, e#4]
)");
}

CATCH_TEST_CASE("comparisons have one type on both sides", "[bind]") {
   CATCH_CHECK(tables().describe("select 1 from u where a = y and z = a and x = 'q' and a > 1.5") ==
               R"(Map [?column?#4 := 1]
  Select ((a#0 = y#2) and (int4(z#3) = a#0) and (x#1 = 'q') and (numeric(a#0) > 1.5))
    Get u [a#0, x#1, y#2, z#3]
)");
   CATCH_CHECK(tables().describe("select 1 from t where e = 5 and c > 1").find("((e#4 = 5) and (c#2 > 1))") !=
               std::string::npos);
}

CATCH_TEST_CASE("subqueries read columns of the enclosing query by their ids", "[bind]") {
   const auto query = tables().bind("select * from t where exists (select 1 from u where u.a = t.a)");
   const Rel& select = *query.root;
   CATCH_REQUIRE(select.kind == RelKind::Select);
   const Expr& predicate = *select.as<op::Select>().predicate;
   CATCH_REQUIRE(predicate.kind == ExprKind::Subquery);
   CATCH_CHECK(freeColumns(*subqueryOf(predicate)) ==
               std::vector<ColumnId>{select.inputs[0]->as<op::Get>().columns[0].column});
   CATCH_CHECK(freeColumns(select).empty());

   const auto lateral = tables().bind("select * from t, lateral (select max(y) from u where u.a = t.a) s, u as u2");
   CATCH_REQUIRE(lateral.root->kind == RelKind::Join);
   CATCH_CHECK(!lateral.root->as<op::Join>().dependent);
   CATCH_CHECK(lateral.root->inputs[0]->as<op::Join>().dependent);
}

CATCH_TEST_CASE("an aggregate belongs to the level of its arguments", "[bind]") {
   const auto outer = tables().bind("select (select sum(t.e)) from t");
   CATCH_REQUIRE(outer.root->kind == RelKind::Map);
   CATCH_CHECK(outer.root->inputs[0]->kind == RelKind::GroupBy);
   const auto inner = tables().bind("select (select sum(u.y + t.a) from u) from t");
   CATCH_CHECK(inner.root->inputs[0]->kind == RelKind::Get);
}

CATCH_TEST_CASE("the primary key determines the other columns", "[bind]") {
   const auto query = tables().bind("select t.b, t.c from t group by t.a");
   CATCH_CHECK(query.root->as<op::GroupBy>().keys.size() == 3);
   CATCH_CHECK(tables().outputs("select u.x from u group by u.a") ==
               "ERROR 42803 @8: column \"u.x\" must appear in the GROUP BY clause or be used in an aggregate function");
}

CATCH_TEST_CASE("recursive queries", "[bind]") {
   CATCH_CHECK(tables().describe("with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * "
                                 "from r") == R"(With
  cte 0 r [?column?#0]
    Map [?column?#0 := 1]
      Values [] ()
    Map [?column?#2 := int4pl(n#1, 1)]
      Select (n#1 < 5)
        RecursiveScan 0 [n#1] <- [?column?#0]
  CteScan 0 [n#3] <- [?column?#0]
)");
   // Without a reference to itself, r is an ordinary UNION. Without any reference to it, r is dropped.
   const auto plain = tables().bind("with recursive r as (select 1 union select 2.5) select * from r");
   CATCH_CHECK(plain.root->as<op::With>().ctes[0].recursive == nullptr);
   CATCH_CHECK(tables().bind("with r as (select 1) select 2").root->kind == RelKind::Map);
}

CATCH_TEST_CASE("INSERT, UPDATE and DELETE feed every column of the table", "[bind]") {
   CATCH_CHECK(tables().describe("insert into gen (a) values (1), (2) returning *") == R"(Insert gen
  Map [b#3 := int4mul(a#0, 2)]
    Map [b#1 := null, c#2 := 'x']
      Values [a#0] (1) (2)
)");
   const auto insert = tables().bind("insert into t (b, a) select x, y from u");
   CATCH_REQUIRE(insert.root->as<op::Write>().dml->target.size() == 5);
   CATCH_CHECK(insert.root->as<op::Write>().dml->checks.size() == 3); // a and b NOT NULL, a > 0
   CATCH_CHECK(insert.output.empty());
   CATCH_CHECK(!insert.readOnly);

   const auto update = tables().bind("update t set e = e + 1, b = u.x from u where u.a = t.a returning t.e, u.y");
   const Dml& dml = *update.root->as<op::Write>().dml;
   CATCH_CHECK(dml.rowId != noColumn);
   CATCH_CHECK(columnOf(*dml.returning[0].expr) == dml.target[4].column); // RETURNING sees the new value
   CATCH_CHECK(update.output.size() == 2);
   const auto remove = tables().bind("delete from t where a = 1 returning b");
   CATCH_CHECK(remove.root->as<op::Write>().dml->rowId != noColumn);
}

CATCH_TEST_CASE("parameters take their types from where they stand", "[bind]") {
   const auto types = [&](std::string_view sql) {
      std::vector<Oid> oids;
      for (const SqlType& type : tables().bind(sql).parameters)
         oids.push_back(type.oid);
      return oids;
   };
   CATCH_CHECK(types("select $1, $2::int, a = $3, b || $4, d + $5::int from t") ==
               std::vector<Oid>{oid::text, oid::int4, oid::int4, oid::text, oid::int4});
   CATCH_CHECK(types("insert into t (a, c) values ($1, $2)") == std::vector<Oid>{oid::int4, oid::numeric});
   CATCH_CHECK(types("select 1 from t where a = $1 or $1 is null") == std::vector<Oid>{oid::int4});
   CATCH_CHECK(tables().outputs("select 1 from t where $1 is null or a = $1") ==
               "ERROR 42P08 @23: could not determine data type of parameter $1");
   CATCH_CHECK(tables().outputs("select $1 is null") == "ERROR 42P18: could not determine data type of parameter $1");
   CATCH_CHECK(tables().outputs("select a = $1, b = $1 from t").substr(0, 11) == "ERROR 42883");
}

CATCH_TEST_CASE("views keep their meaning", "[bind]") {
   TestCatalog catalog;
   catalog.run("create table base (id int, name text)");
   catalog.run("create view v (i, n) as select *, 1 as one from base b where name like '*%'");
   const auto view =
       catalog::findRelation(catalog.snapshot(), catalog.context(nullptr).searchPath, catalog::QualifiedName::of("v"));
   CATCH_REQUIRE(view);
   CATCH_CHECK(view->definition == "select b.id, b.name, 1 as one from public.base b where name like '*%'");
   CATCH_CHECK(view->dependsOn.size() == 3); // the table and two of its columns
   CATCH_CHECK(catalog.outputs("select * from v") == "i integer, n text, one integer");
}

CATCH_TEST_CASE("deep expressions are an error, long ones are not", "[bind]") {
   const auto codeOf = [&](const std::string& sql) { return tables().outputs(sql).substr(0, 11); };
   CATCH_CHECK(tables().outputs("select 1" + repeat("+1", 4000)) == "?column? integer");
   CATCH_CHECK(codeOf("select 1" + repeat("+1", 100'000)) == "ERROR 54001");
   CATCH_CHECK(codeOf("select 1" + repeat("::int8::int4", 100'000)) == "ERROR 54001");
   CATCH_CHECK(codeOf("select 1" + repeat(" union all select 1", 100'000)) == "ERROR 54001");
   CATCH_CHECK(codeOf("select " + repeat("abs(", 100'000) + "1" + repeat(")", 100'000)).substr(0, 5) == "ERROR");
   CATCH_CHECK(tables().outputs("select true" + repeat(" and true", 20'000)) == "?column? boolean");
}

CATCH_TEST_CASE("binding runs on many threads", "[bind]") {
   tables();
   std::vector<std::thread> threads;
   for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
         for (int n = 0; n < 50; ++n)
            tables().bind("select b, count(*) from t group by b");
      });
   for (auto& thread : threads)
      thread.join();
}

CATCH_TEST_CASE("type rules", "[bind]") {
   CATCH_CHECK(canCoerce(oid::int4, oid::int8, CoercionContext::Implicit));
   CATCH_CHECK(!canCoerce(oid::int8, oid::int4, CoercionContext::Implicit));
   CATCH_CHECK(canCoerce(oid::int8, oid::int4, CoercionContext::Assignment));
   CATCH_CHECK(findCoercion(oid::text, oid::varchar, CoercionContext::Implicit).path == CoercionPath::Relabel);
   CATCH_CHECK(findCoercion(oid::text, oid::int4, CoercionContext::Assignment).path == CoercionPath::InOut);
   CATCH_CHECK(findCoercion(oid::int8Array, oid::int4Array, CoercionContext::Implicit).path == CoercionPath::Array);
   CATCH_CHECK(commonTypeOf(std::vector<Oid>{oid::int4, oid::numeric, oid::unknown}) == oid::numeric);
   CATCH_CHECK(commonTypeOf(std::vector<Oid>{oid::unknown}) == oid::text);
   CATCH_CHECK(commonTypeOf(std::vector<Oid>{oid::int4, oid::text}) == invalidOid);
   std::vector<Oid> declared{oid::anycompatible, oid::anycompatiblearray};
   const std::vector<Oid> actual{oid::numeric, oid::int4Array};
   CATCH_CHECK(enforceGenericConsistency(actual, declared, oid::anycompatiblearray) == oid::numericArray);
   CATCH_CHECK(declared == std::vector<Oid>{oid::numeric, oid::numericArray});
   CATCH_CHECK(typeName(oid::int4Array) == "integer[]");
}

CATCH_TEST_CASE("rows are taken apart by subqueries, comparisons and results", "[bind]") {
   CATCH_CHECK(tables().outputs("select (s.r).b, (s.r).a + 1 as q from (select t as r from t) s") ==
               "b text, q integer");
   CATCH_CHECK(tables()
                   .describe("select 1 from u where (a, y) < (z, 3)")
                   .find("((a#0 < int4(z#3)) or ((a#0 = int4(z#3)) and "
                         "(y#2 < 3)))") != std::string::npos);
   CATCH_CHECK(tables().outputs("select t from t").substr(0, 2) == "t ");
   CATCH_CHECK(tables().outputs("select distinct t from t") == "t record");
   CATCH_CHECK(tables().outputs("select (information_schema._pg_expandarray(array['a', 'b'])).n") == "n integer");
}

CATCH_TEST_CASE("SQL functions are bound in place of their calls", "[bind]") {
   CATCH_CHECK(tables().describe("select round(c) from t").find("numeric_round") == std::string::npos);
   CATCH_CHECK(tables().describe("select round(c) from t").find("round(c#2, 0)") != std::string::npos);
   CATCH_CHECK(tables().describe("select 1 || b from t").find("textcat") != std::string::npos);
}

CATCH_TEST_CASE("views and expressions follow renamed columns and tables", "[bind]") {
   TestCatalog catalog;
   catalog.run("create table base (id int, name text, check (id > 0 and name <> 'id'))");
   const auto context = catalog.context(nullptr);
   const auto base = catalog::findRelation(catalog.snapshot(), context.searchPath, catalog::QualifiedName::of("base"));
   const auto rename = [&](const char* text) { return renameInView(text, base->oid, 1, "key", context); };
   CATCH_CHECK(rename("select id, b.id + 1 as i from public.base b where \"id\" > 1 and name = 'id'") ==
               "select key AS id, b.key + 1 as i from public.base b where key > 1 and name = 'id'");
   CATCH_CHECK(rename("select s.id from (select base.id from public.base) s") ==
               "select s.id from (select base.key AS id from public.base) s");
   CATCH_CHECK(renameInView("select base.id from public.base", base->oid, 0, "Other", context) ==
               "select base.id from public.\"Other\" AS base");
   CATCH_CHECK(renameInExpression(base->constraints[0].expression, *base, 1, "key", context) ==
               "(key > 0 and name <> 'id')");
}
