#include "catalog/pg_catalog/functions.hpp"

#include <catch2/catch.hpp>

#include "catalog/editor/editor.hpp"
#include "common/error/sql_error.hpp"

using namespace ouzel;
using namespace ouzel::catalog;

namespace {

struct Fixture {
   Oid next = firstUserOid;
   CatalogEditor editor{Snapshot::bootstrap(), [this] { return next++; }};
   SearchPath path;
   Oid schema, table, referencing;

   Fixture() {
      const std::string setting[] = {"public"};
      schema = editor.createSchema("S", bootstrapRole);
      table = editor.createRelation(make("t", publicSchema));
      Relation other = make("t", schema);
      Constraint foreign;
      foreign.kind = ConstraintKind::ForeignKey;
      foreign.columns = {1};
      foreign.foreignRelation = table;
      foreign.foreignColumns = {1};
      foreign.onDelete = 'c';
      foreign.onUpdate = 'n';
      foreign.isDeferrable = foreign.isInitiallyDeferred = true;
      other.constraints.push_back(foreign);
      referencing = editor.createRelation(other);
      path = SearchPath::resolve(editor.snapshot(), setting, "postgres");
   }
   static Relation make(std::string name, Oid schema) {
      Relation draft;
      draft.schema = schema;
      draft.name = std::move(name);
      for (const char* column : {"a", "Bc"}) {
         draft.columns.emplace_back();
         draft.columns.back().name = column;
         draft.columns.back().type = {oid::int4, -1, 0};
      }
      Constraint key;
      key.kind = ConstraintKind::PrimaryKey;
      key.columns = {1, 2};
      draft.constraints.push_back(key);
      Constraint check;
      check.columns = {1};
      check.expression = "a > 0";
      draft.constraints.push_back(check);
      return draft;
   }
   NameContext context() const { return {editor.snapshot(), path, bootstrapRole}; }
};

template <typename Action>
std::string errorOf(Action&& action) {
   try {
      action();
   } catch (const SqlError& error) {
      return error.what();
   }
   return "no error";
}

} // namespace

CATCH_TEST_CASE("format_type prints what PostgreSQL prints") {
   Fixture f;
   const NameContext c = f.context();
   const auto print = [&](Oid type, std::optional<int32_t> typmod) { return formatType(c, type, typmod); };
   CATCH_CHECK(print(oid::varchar, std::nullopt) == "character varying");
   CATCH_CHECK(print(oid::bpchar, std::nullopt) == "character");
   CATCH_CHECK(print(oid::bpchar, -1) == "bpchar");
   CATCH_CHECK(print(oid::bpchar, 14) == "character(10)");
   CATCH_CHECK(print(oid::character, -1) == "\"char\"");
   CATCH_CHECK(print(oid::numeric, numericTypmod(3, -2)) == "numeric(3,-2)");
   CATCH_CHECK(print(oid::bit, std::nullopt) == "bit");
   CATCH_CHECK(print(oid::bit, -1) == "\"bit\"");
   CATCH_CHECK(print(oid::bit, 5) == "bit(5)");
   CATCH_CHECK(print(oid::timestamptzArray, 0) == "timestamp(0) with time zone[]");
   CATCH_CHECK(print(oid::interval, 327679) == "interval year");
   CATCH_CHECK(print(oid::interval, 470286339) == "interval day to second(3)");
   CATCH_CHECK(print(oid::interval, 2147418114) == "interval(2)");
   CATCH_CHECK(print(oid::int2vector, std::nullopt) == "int2vector");
   CATCH_CHECK(print(0, std::nullopt) == "-");
   CATCH_CHECK(print(99999, std::nullopt) == "???");
   const RelationPtr other = f.editor.snapshot().relation(f.referencing);
   CATCH_CHECK(print(other->rowTypeArray, -1) == "\"S\".t[]");
}

CATCH_TEST_CASE("regtype input takes SQL's and PostgreSQL's names") {
   Fixture f;
   const NameContext c = f.context();
   CATCH_CHECK(regtypeIn(c, "timestamp(3) with time zone") == oid::timestamptz);
   CATCH_CHECK(regtypeIn(c, "int[]") == oid::int4Array);
   CATCH_CHECK(regtypeIn(c, "  Double   Precision ") == oid::float8);
   CATCH_CHECK(regtypeIn(c, "\"char\"") == oid::character);
   CATCH_CHECK(regtypeIn(c, "char") == oid::bpchar);
   CATCH_CHECK(regtypeIn(c, "int4[][]") == oid::int4Array);
   CATCH_CHECK(regtypeIn(c, "integer array") == oid::int4Array);
   CATCH_CHECK(regtypeIn(c, "varchar(3)[4]") == oid::varcharArray);
   CATCH_CHECK(regtypeIn(c, "interval day to second") == oid::interval);
   CATCH_CHECK(regtypeIn(c, "pg_catalog.int4") == oid::int4);
   CATCH_CHECK(regtypeIn(c, "public.t") == f.editor.snapshot().relation(f.table)->rowType);
   CATCH_CHECK(regtypeIn(c, "23") == oid::int4);
   CATCH_CHECK(errorOf([&] { regtypeIn(c, "nosuch"); }) == "type \"nosuch\" does not exist");
   CATCH_CHECK(errorOf([&] { regtypeIn(c, "x.y"); }) == "schema \"x\" does not exist");
   CATCH_CHECK(errorOf([&] { regtypeIn(c, "setof int"); }) == "invalid type name \"setof int\"");
   CATCH_CHECK_FALSE(toRegtype(c, "nosuch"));
}

CATCH_TEST_CASE("OID alias types read and print names") {
   Fixture f;
   const NameContext c = f.context();
   CATCH_CHECK(regclassIn(c, "t") == f.table);
   CATCH_CHECK(regclassIn(c, "\"S\".t") == f.referencing);
   CATCH_CHECK(regclassIn(c, "1259") == 1259);
   CATCH_CHECK(regclassOut(c, f.referencing) == "\"S\".t");
   CATCH_CHECK(regclassOut(c, 99999) == "99999");
   CATCH_CHECK(regclassOut(c, 0) == "-");
   CATCH_CHECK(errorOf([&] { regclassIn(c, "nosuch"); }) == "relation \"nosuch\" does not exist");
   CATCH_CHECK(errorOf([&] { regclassIn(c, "nos.t"); }) == "schema \"nos\" does not exist");
   CATCH_CHECK_FALSE(toRegclass(c, "nos.t"));
   CATCH_CHECK(regprocIn(c, "int4pl") == 177);
   CATCH_CHECK(errorOf([&] { regprocIn(c, "substring"); }) == "more than one function named \"substring\"");
   CATCH_CHECK(regprocedureIn(c, "substring(text, int4)") == 937);
   CATCH_CHECK(regprocedureOut(c, 937) == "\"substring\"(text,integer)");
   CATCH_CHECK(regoperatorIn(c, "-(none,int8)") == 484);
   CATCH_CHECK(regoperatorOut(c, 484) == "-(NONE,bigint)");
   CATCH_CHECK(regoperOut(c, 551) == "pg_catalog.+");
   CATCH_CHECK(errorOf([&] { regoperatorIn(c, "=(int4)"); }) == "missing argument");
   CATCH_CHECK(errorOf([&] { regprocedureIn(c, "foo(int4"); }) == "expected a right parenthesis");
   CATCH_CHECK(regnamespaceOut(c, f.schema) == "\"S\"");
   CATCH_CHECK(regroleIn(c, "postgres") == bootstrapRole);
}

CATCH_TEST_CASE("definitions are printed as DDL") {
   Fixture f;
   const NameContext c = f.context();
   const RelationPtr other = f.editor.snapshot().relation(f.referencing);
   const ShowExpression asStored = [](std::string_view stored, const Relation&) {
      return ShownExpression{std::string(stored), false};
   };
   CATCH_CHECK(*constraintDefinition(c, other->constraints[0].oid, asStored) == "PRIMARY KEY (a, \"Bc\")");
   CATCH_CHECK(*constraintDefinition(c, other->constraints[1].oid, asStored) == "CHECK (a > 0)");
   CATCH_CHECK(*constraintDefinition(c, other->constraints[2].oid, asStored) ==
               "FOREIGN KEY (a) REFERENCES t(a) ON UPDATE SET NULL ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED");
   const Oid index = other->constraints[0].index;
   CATCH_CHECK(*indexDefinition(c, index, 0, false, asStored) ==
               "CREATE UNIQUE INDEX t_pkey ON \"S\".t USING btree (a, \"Bc\")");
   CATCH_CHECK(*indexDefinition(c, index, 2, false, asStored) == "\"Bc\"");
   CATCH_CHECK_FALSE(viewDefinition(c, f.table));
   CATCH_CHECK(*functionArguments(c, 3464, asStored) ==
               "years integer DEFAULT 0, months integer DEFAULT 0, weeks integer DEFAULT 0, days integer DEFAULT 0, "
               "hours integer DEFAULT 0, mins integer DEFAULT 0, secs double precision DEFAULT 0.0");
   CATCH_CHECK(*functionArguments(c, 3986, asStored) == "VARIADIC \"any\" ORDER BY VARIADIC \"any\"");
   CATCH_CHECK(*functionResult(c, 3464) == "interval");
}

CATCH_TEST_CASE("visibility, schemas, comments") {
   Fixture f;
   const NameContext c = f.context();
   CATCH_CHECK(isTableVisible(c, f.table) == true);
   CATCH_CHECK(isTableVisible(c, f.referencing) == false);
   CATCH_CHECK(isTableVisible(c, 99999) == std::nullopt);
   CATCH_CHECK(isFunctionVisible(c, 177) == true);
   CATCH_CHECK(isTypeVisible(c, oid::int4) == true);
   CATCH_CHECK(currentSchema(c) == "public");
   CATCH_CHECK(currentSchemas(c, true) == std::vector<std::string>{"pg_catalog", "public"});
   CATCH_CHECK(currentSchemas(c, false) == std::vector<std::string>{"public"});
   CATCH_CHECK(userName(c.snapshot, 10) == "postgres");
   CATCH_CHECK(userName(c.snapshot, 12345) == "unknown (OID=12345)");
   CATCH_CHECK(*objDescription(c.snapshot, 177, "pg_proc") == "implementation of + operator");
   CATCH_CHECK(*shobjDescription(c.snapshot, 5, "pg_database") == "default administrative connection database");
}

CATCH_TEST_CASE("privileges follow owner, grants, membership and superuser") {
   Fixture f;
   Role role;
   role.name = "r";
   const Oid r = f.editor.createRole(role);
   role.name = "member";
   role.memberOf = {{r, false, bootstrapRole}};
   const Oid member = f.editor.createRole(role);
   const Snapshot* s = &f.editor.snapshot();
   CATCH_CHECK(hasTablePrivilege(*s, bootstrapRole, f.table, "select, insert with grant option") == true);
   CATCH_CHECK(hasTablePrivilege(*s, r, f.table, "SELECT") == false);
   CATCH_CHECK(hasTablePrivilege(*s, r, 99999, "SELECT") == std::nullopt);
   CATCH_CHECK(hasTablePrivilege(*s, r, 1259, "SELECT") == true);
   CATCH_CHECK(errorOf([&] { hasTablePrivilege(*s, r, f.table, "foo"); }) == "unrecognized privilege type: \"foo\"");
   CATCH_CHECK(hasSchemaPrivilege(*s, r, publicSchema, "USAGE") == true);
   CATCH_CHECK(hasSchemaPrivilege(*s, r, publicSchema, "CREATE") == false);
   CATCH_CHECK(hasDatabasePrivilege(*s, r, postgresDatabase, "CONNECT") == true);
   CATCH_CHECK(hasDatabasePrivilege(*s, r, postgresDatabase, "CREATE") == false);
   CATCH_CHECK(hasRole(*s, member, r, "MEMBER"));
   CATCH_CHECK_FALSE(hasRole(*s, r, member, "MEMBER"));
   Relation changed = *s->relation(f.table);
   changed.acl = {{bootstrapRole, bootstrapRole, 0xff, 0}, {r, bootstrapRole, privilege::select, 0}};
   f.editor.replaceRelation(changed);
   s = &f.editor.snapshot();
   CATCH_CHECK(hasTablePrivilege(*s, member, f.table, "INSERT,SELECT") == true);
   CATCH_CHECK(hasTablePrivilege(*s, member, f.table, "SELECT WITH GRANT OPTION") == false);
   CATCH_CHECK(hasColumnPrivilege(*s, member, f.table, 1, "SELECT") == true);
   CATCH_CHECK(hasColumnPrivilege(*s, member, f.table, 9, "SELECT") == std::nullopt);
}
