#include "catalog/object/function.hpp"

#include <catch2/catch.hpp>

#include "catalog/catalog.hpp"
#include "catalog/object/codec.hpp"
#include "catalog/object/function_text.hpp"
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

   static FunctionDefinition function(std::string name, std::vector<Oid> types) {
      FunctionDefinition draft;
      draft.schema = publicSchema;
      draft.name = std::move(name);
      draft.language = language_oid::sql;
      draft.returnType = {oid::int4, -1, invalidOid};
      draft.source = "SELECT 1";
      for (const Oid type : types)
         draft.parameters.push_back({"", 'i', {type, -1, invalidOid}});
      return draft;
   }
   static Relation tableCalling(Oid function) {
      Relation relation;
      relation.name = "t";
      relation.schema = publicSchema;
      relation.columns.emplace_back();
      relation.columns.back().name = "a";
      relation.columns.back().type = {oid::int4, -1, invalidOid};
      relation.columns.back().defaultExpr = storedFunctionName(function) + "(1)";
      return relation;
   }
};

} // namespace

CATCH_TEST_CASE("functions of one name are found by the types of their parameters") {
   Fixture f;
   CatalogEditor editor = f.edit();
   const Oid ofInteger = editor.createFunction(Fixture::function("f", {oid::int4}));
   const Oid ofTwo = editor.createFunction(Fixture::function("f", {oid::int4, oid::text}));
   editor.createFunction(Fixture::function("f2", {oid::int4}));
   CATCH_CHECK_THROWS_AS(editor.createFunction(Fixture::function("f", {oid::int4})), SqlError);
   const Snapshot& snapshot = editor.snapshot();
   CATCH_CHECK(snapshot.findFunctions(publicSchema, "f").size() == 2);
   CATCH_CHECK(snapshot.findFunctions(publicSchema, "g").empty());
   const Oid two[] = {oid::int4, oid::text}, other[] = {oid::text};
   CATCH_CHECK(snapshot.findFunction(publicSchema, "f", std::span(two, 1))->oid == ofInteger);
   CATCH_CHECK(snapshot.findFunction(publicSchema, "f", two)->oid == ofTwo);
   CATCH_CHECK(snapshot.findFunction(publicSchema, "f", other) == nullptr);
   FunctionDefinition renamed = *snapshot.function(ofTwo);
   renamed.name = "g";
   editor.replaceFunction(renamed);
   CATCH_CHECK(editor.snapshot().findFunctions(publicSchema, "f").size() == 1);
   CATCH_CHECK(editor.snapshot().function(ofTwo)->info().name == "g");
}

CATCH_TEST_CASE("the row of a function has its parameters as calls see them") {
   FunctionDefinition draft = Fixture::function("f", {oid::int4});
   draft.parameters[0].name = "a";
   draft.parameters.push_back({"b", 'o', {oid::text, -1, invalidOid}});
   draft.parameters.push_back({"c", 'v', {oid::int4Array, -1, invalidOid}, "'{}'"});
   const Function function(draft);
   const FunctionInfo& info = function.info();
   CATCH_CHECK(std::vector<Oid>(info.argTypes.begin(), info.argTypes.end()) ==
               std::vector<Oid>{oid::int4, oid::int4Array});
   CATCH_CHECK(info.argModes == "iov");
   CATCH_CHECK((info.argNames.size() == 3 && info.argNames[1] == "b"));
   CATCH_CHECK((info.defaults.size() == 1 && info.defaults[0] == "'{}'"));
   CATCH_CHECK(info.variadicElement == oid::int4);
}

CATCH_TEST_CASE("a function survives its byte form") {
   Fixture f;
   CatalogEditor editor = f.edit();
   FunctionDefinition draft = Fixture::function("f", {oid::int4});
   draft.parameters[0] = {"a", 'b', {oid::int4, -1, invalidOid}, "7"};
   draft.functionKind = FunctionKind::Procedure;
   draft.returnsSet = draft.isStrict = draft.isSecurityDefiner = draft.isLeakproof = true;
   draft.volatility = Volatility::Stable;
   draft.parallel = 's';
   draft.cost = 2.5;
   draft.rows = 33;
   draft.settings = {{"search_path", "a, b"}};
   draft.acl = {{bootstrapRole, bootstrapRole, privilege::execute, 0}};
   const Oid oid = editor.createFunction(draft);
   for (const Snapshot& snapshot :
        {decodeSnapshot(encodeSnapshot(editor.snapshot())),
         Snapshot::bootstrap().apply(decodeChanges(encodeChanges(editor.changes()))).inDatabase(postgresDatabase)}) {
      const FunctionPtr found = snapshot.function(oid);
      CATCH_REQUIRE(found);
      CATCH_CHECK((found->name == "f" && found->source == "SELECT 1" && found->language == language_oid::sql));
      CATCH_CHECK((found->functionKind == FunctionKind::Procedure && found->volatility == Volatility::Stable));
      CATCH_CHECK((found->returnsSet && found->isStrict && found->isSecurityDefiner && found->isLeakproof));
      CATCH_CHECK((found->parallel == 's' && found->cost == 2.5F && found->rows == 33));
      CATCH_CHECK((found->parameters.size() == 1 && found->parameters[0].name == "a"));
      CATCH_CHECK((found->parameters[0].mode == 'b' && found->parameters[0].defaultExpr == "7"));
      CATCH_CHECK(found->parameters[0].type == SqlType{oid::int4, -1, invalidOid});
      CATCH_CHECK((found->settings == draft.settings && found->acl == draft.acl));
   }
}

CATCH_TEST_CASE("an aggregate survives its byte form, and falls with its functions") {
   Fixture f;
   CatalogEditor editor = f.edit();
   const Oid transition = editor.createFunction(Fixture::function("next", {oid::int4, oid::text}));
   FunctionDefinition draft = Fixture::function("total", {oid::text});
   draft.functionKind = FunctionKind::Aggregate;
   AggregateDefinition& aggregate = draft.aggregate.emplace();
   aggregate.kind = AggregateKind::OrderedSet;
   aggregate.directArgs = 1;
   aggregate.transition = transition;
   aggregate.movingFinal = 65; // int4eq
   aggregate.finalTakesArgs = true;
   aggregate.finalModify = 'w';
   aggregate.stateType = {oid::int4, -1, invalidOid};
   aggregate.stateSpace = 100;
   aggregate.initial = "0";
   const Oid oid = editor.createFunction(draft);
   for (const Snapshot& snapshot :
        {decodeSnapshot(encodeSnapshot(editor.snapshot())),
         Snapshot::bootstrap().apply(decodeChanges(encodeChanges(editor.changes()))).inDatabase(postgresDatabase)}) {
      const AggregateDefinition* found = userAggregate(snapshot, oid);
      CATCH_REQUIRE(found);
      CATCH_CHECK((found->kind == AggregateKind::OrderedSet && found->directArgs == 1));
      CATCH_CHECK((found->transition == transition && found->movingFinal == 65 && found->final == invalidOid));
      CATCH_CHECK((found->finalTakesArgs && !found->movingFinalTakesArgs && found->finalModify == 'w'));
      CATCH_CHECK((found->stateType.oid == oid::int4 && found->stateSpace == 100));
      CATCH_CHECK((found->initial == "0" && !found->movingInitial));
      CATCH_CHECK(snapshot.function(oid)->info().kind == FunctionKind::Aggregate);
   }
   CATCH_CHECK(findDamage(editor.snapshot()).empty());
   CATCH_CHECK_THROWS_AS(editor.dropTogether({.functions = {transition}}, DropBehavior::Restrict), SqlError);
   editor.dropTogether({.functions = {transition}}, DropBehavior::Cascade);
   CATCH_CHECK(editor.snapshot().function(oid) == nullptr);
}

CATCH_TEST_CASE("stored texts call functions by OID") {
   CATCH_CHECK(storedFunctionName(16384) == "\"ouzel#16384\"");
   CATCH_CHECK(functionOfStoredName("ouzel#16384") == Oid{16384});
   for (const char* other : {"ouzel#", "ouzel#1x", "ouzel#-1", "f", "ouzel#99999999999"})
      CATCH_CHECK_FALSE(functionOfStoredName(other));
   CATCH_CHECK(callsFunction("a + \"ouzel#16384\"(b)", 16384));
   CATCH_CHECK_FALSE(callsFunction("a + \"ouzel#16384\"(b)", 1638));
   std::vector<Oid> called;
   forEachCall("\"ouzel#1\"(\"ouzel#23\"(x)) || \"ouzel#y\"", [&](Oid oid) { called.push_back(oid); });
   CATCH_CHECK(called == std::vector<Oid>{1, 23});
}

CATCH_TEST_CASE("what calls a function keeps it, or falls with it") {
   Fixture f;
   CatalogEditor editor = f.edit();
   const Oid function = editor.createFunction(Fixture::function("f", {oid::int4}));
   const Oid table = editor.createRelation(Fixture::tableCalling(function));
   CATCH_CHECK(findDamage(editor.snapshot()).empty());
   CATCH_CHECK_THROWS_AS(editor.dropTogether({.functions = {function}}, DropBehavior::Restrict), SqlError);
   const Dropped dropped = editor.dropTogether({.functions = {function}}, DropBehavior::Cascade);
   CATCH_CHECK(dropped.notice().first == "drop cascades to default value for column a of table t");
   CATCH_CHECK(editor.snapshot().function(function) == nullptr);
   CATCH_CHECK_FALSE(editor.snapshot().relation(table)->columns[0].hasDefault());
}

CATCH_TEST_CASE("a function that was dropped meanwhile is not called") {
   Fixture f;
   CatalogEditor first = f.edit();
   const Oid function = first.createFunction(Fixture::function("f", {oid::int4}));
   f.commit(first);
   CatalogEditor drops = f.edit(), creates = f.edit();
   drops.dropTogether({.functions = {function}}, DropBehavior::Restrict);
   creates.createRelation(Fixture::tableCalling(function));
   CATCH_SECTION("by a table") {
      f.commit(drops);
      CATCH_CHECK_THROWS_AS(f.commit(creates), SqlError);
   }
   CATCH_SECTION("nor dropped when a table calls it") {
      f.commit(creates);
      CATCH_CHECK_THROWS_AS(f.commit(drops), SqlError);
   }
   CATCH_CHECK(findDamage(f.catalog.newest()).empty());
}

CATCH_TEST_CASE("a trigger survives its byte form, and falls with its function") {
   Fixture f;
   CatalogEditor editor = f.edit();
   FunctionDefinition draft = Fixture::function("on_t", {});
   draft.returnType = {oid::trigger, -1, invalidOid};
   draft.bodyForm = 'a';
   draft.bodyPath = "public, pg_catalog";
   draft.dependsOn = {{firstUserOid + 7, 0}};
   const Oid function = editor.createFunction(std::move(draft));
   Relation table = Fixture::tableCalling(function);
   table.columns[0].defaultExpr.clear();
   Trigger trigger;
   trigger.oid = editor.allocateOid();
   trigger.name = "b";
   trigger.function = function;
   trigger.type = trigger_bit::row | trigger_bit::before | trigger_bit::update;
   trigger.enabled = 'A';
   trigger.constraint = editor.allocateOid();
   trigger.isDeferrable = trigger.isDeferred = true;
   trigger.columns = {1};
   trigger.arguments = {"x", ""};
   trigger.condition = "old.a < new.a";
   trigger.oldTable = "o";
   trigger.newTable = "n";
   table.triggers.push_back(trigger);
   table.triggers.push_back(trigger);
   table.triggers[1].name = "part";
   table.triggers[1].parent = 77;
   const Oid oid = editor.createRelation(std::move(table));
   const Snapshot again = decodeSnapshot(encodeSnapshot(editor.snapshot()));
   const FunctionPtr body = again.function(function);
   CATCH_REQUIRE(body);
   CATCH_CHECK(body->bodyForm == 'a');
   CATCH_CHECK(body->bodyPath == "public, pg_catalog");
   CATCH_REQUIRE(body->dependsOn.size() == 1);
   const RelationPtr read = again.relation(oid);
   CATCH_REQUIRE(read);
   CATCH_REQUIRE(read->triggers.size() == 2);
   const Trigger& same = read->triggers[0];
   CATCH_CHECK(same.oid == trigger.oid);
   CATCH_CHECK(same.name == "b");
   CATCH_CHECK(same.function == function);
   CATCH_CHECK(same.type == trigger.type);
   CATCH_CHECK(same.enabled == 'A');
   CATCH_CHECK(same.constraint == trigger.constraint);
   CATCH_CHECK((same.isDeferrable && same.isDeferred));
   CATCH_CHECK(same.columns == trigger.columns);
   CATCH_CHECK(same.arguments == trigger.arguments);
   CATCH_CHECK(same.condition == trigger.condition);
   CATCH_CHECK((same.oldTable == "o" && same.newTable == "n" && same.parent == invalidOid));
   CATCH_CHECK(read->triggers[1].parent == 77);

   CATCH_CHECK_THROWS_AS(editor.dropTogether({.functions = {function}}, DropBehavior::Restrict), SqlError);
   editor.dropTogether({.functions = {function}}, DropBehavior::Cascade);
   CATCH_CHECK(editor.snapshot().relation(oid)->triggers.empty());
}
