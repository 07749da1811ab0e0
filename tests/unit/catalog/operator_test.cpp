#include "catalog/object/operator.hpp"

#include <catch2/catch.hpp>

#include "catalog/catalog.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/codec.hpp"
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

   static OperatorDefinition op(std::string name, Oid left, Oid right, Oid function = 65) {
      OperatorDefinition draft;
      draft.schema = publicSchema;
      draft.name = std::move(name);
      draft.left = {left, -1, invalidOid};
      draft.right = {right, -1, invalidOid};
      draft.result = {oid::boolean, -1, invalidOid};
      draft.function = function; // int4eq
      return draft;
   }
};

} // namespace

CATCH_TEST_CASE("operators are found by their names and operands, and know their row") {
   Fixture f;
   CatalogEditor editor = f.edit();
   CATCH_CHECK_FALSE(editor.snapshot().hasOperators());
   const Oid infix = editor.createOperator(Fixture::op("===", oid::int4, oid::int4));
   const Oid prefix = editor.createOperator(Fixture::op("===", invalidOid, oid::int4));
   editor.createOperator(Fixture::op("====", oid::int4, oid::int4));
   CATCH_CHECK_THROWS_AS(editor.createOperator(Fixture::op("===", oid::int4, oid::int4)), SqlError);
   const Snapshot& snapshot = editor.snapshot();
   CATCH_CHECK(snapshot.hasOperators());
   CATCH_CHECK(snapshot.findOperators(publicSchema, "===").size() == 2);
   CATCH_CHECK(snapshot.findOperator(publicSchema, "===", oid::int4, oid::int4)->oid == infix);
   CATCH_CHECK(snapshot.findOperator(publicSchema, "===", invalidOid, oid::int4)->info().isPrefix());
   CATCH_CHECK(snapshot.op(prefix)->oid == prefix);
   const Oid schemas[] = {pgCatalogSchema, publicSchema};
   CATCH_CHECK(findExactOperator(snapshot, schemas, "===", oid::int4, oid::int4)->oid == infix);
   CATCH_CHECK(findExactOperator(snapshot, schemas, "=", oid::int4, oid::int4)->oid == 96);
   CATCH_CHECK(findExactOperator(snapshot, schemas, "===", oid::text, oid::int4) == nullptr);
}

CATCH_TEST_CASE("operators and casts survive their byte form") {
   Fixture f;
   CatalogEditor editor = f.edit();
   OperatorDefinition draft = Fixture::op("===", oid::int4, oid::int8);
   draft.commutator = 17;
   draft.negator = 18;
   draft.restrictEstimator = 101;
   draft.joinEstimator = 105;
   draft.canMerge = draft.canHash = true;
   const Oid op = editor.createOperator(draft);
   Cast cast;
   cast.source = {oid::uuid, -1, invalidOid};
   cast.target = {oid::int4, -1, invalidOid};
   cast.function = 77;
   cast.context = CastContext::Implicit;
   const Oid made = editor.createCast(cast);
   for (const Snapshot& snapshot :
        {decodeSnapshot(encodeSnapshot(editor.snapshot())),
         Snapshot::bootstrap().apply(decodeChanges(encodeChanges(editor.changes()))).inDatabase(postgresDatabase)}) {
      const OperatorPtr found = snapshot.op(op);
      CATCH_REQUIRE(found);
      CATCH_CHECK((found->name == "===" && found->left.oid == oid::int4 && found->right.oid == oid::int8));
      CATCH_CHECK((found->result.oid == oid::boolean && found->function == 65 && !found->isShell()));
      CATCH_CHECK((found->commutator == 17 && found->negator == 18));
      CATCH_CHECK((found->restrictEstimator == 101 && found->joinEstimator == 105));
      CATCH_CHECK((found->canMerge && found->canHash));
      const CastPtr foundCast = snapshot.findCast(oid::uuid, oid::int4);
      CATCH_REQUIRE(foundCast);
      CATCH_CHECK((foundCast->oid == made && foundCast->function == 77 && snapshot.hasCasts()));
      CATCH_CHECK((foundCast->context == CastContext::Implicit && foundCast->method == CastMethod::Function));
   }
}

CATCH_TEST_CASE("a dropped operator leaves its commutator without one") {
   Fixture f;
   CatalogEditor editor = f.edit();
   const Oid first = editor.createOperator(Fixture::op("<<<", oid::int4, oid::int4));
   OperatorDefinition other = Fixture::op(">>>", oid::int4, oid::int4);
   other.commutator = first;
   const Oid second = editor.createOperator(other);
   editor.dropTogether({.operators = {first}}, DropBehavior::Restrict);
   CATCH_CHECK(editor.snapshot().op(first) == nullptr);
   CATCH_CHECK(editor.snapshot().op(second)->commutator == invalidOid);
   CATCH_CHECK(findDamage(editor.snapshot()).empty());
}
