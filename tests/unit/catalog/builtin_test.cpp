#include "catalog/builtin/builtin.hpp"

#include <catch2/catch.hpp>

#include "catalog/builtin/extension_operators.hpp"
#include "catalog/builtin/text_table.hpp"

using namespace ouzel;
using namespace ouzel::catalog;

CATCH_TEST_CASE("every row of PostgreSQL 15 is there") {
   const Builtins& b = builtins();
   CATCH_CHECK(b.types().size() > 580);
   CATCH_CHECK(b.functions().size() >= 3240);
   CATCH_CHECK(b.operators().size() == 799 + extensionOperators().size()); // which stand behind PostgreSQL's
   CATCH_CHECK(b.casts().size() == 229);
   CATCH_CHECK(b.aggregates().size() == 148);
   CATCH_CHECK(&b == &builtins());
}

CATCH_TEST_CASE("types are found by OID, name and SQL name") {
   const Builtins& b = builtins();
   CATCH_REQUIRE(b.type(oid::int4) != nullptr);
   CATCH_CHECK(b.type(oid::int4)->name == "int4");
   CATCH_CHECK(b.type(oid::int4)->category == 'N');
   CATCH_CHECK(b.type(oid::int4)->array == oid::int4Array);
   CATCH_CHECK(b.type(oid::int4Array)->isArray());
   CATCH_CHECK_FALSE(b.type(oid::name)->isArray());
   CATCH_CHECK(b.findType("bpchar")->oid == oid::bpchar);
   CATCH_CHECK(b.findType("nosuch") == nullptr);
   CATCH_CHECK(b.findTypeBySqlName("double precision")->oid == oid::float8);
   CATCH_CHECK(b.findTypeBySqlName("timestamp with time zone")->oid == oid::timestamptz);
   CATCH_CHECK(b.type(oid::text)->isPreferred);
   CATCH_CHECK(b.type(oid::text)->collation == defaultCollation);
   CATCH_CHECK(b.type(16383) == nullptr);
}

CATCH_TEST_CASE("functions are found with their overloads") {
   const Builtins& b = builtins();
   CATCH_CHECK(b.functions("substring").size() >= 6);
   CATCH_CHECK(b.functions("nosuch").empty());
   const Oid pair[] = {oid::int4, oid::int4};
   const FunctionInfo* plus = b.findFunction("int4pl", pair);
   CATCH_REQUIRE(plus != nullptr);
   CATCH_CHECK(plus->isStrict);
   CATCH_CHECK(plus->volatility == Volatility::Immutable);
   CATCH_CHECK(plus->returnType == oid::int4);
   const FunctionInfo* interval = b.functions("make_interval")[0];
   CATCH_CHECK(interval->defaults.size() == 7);
   CATCH_CHECK(interval->defaults[6] == "0.0");
   CATCH_CHECK(interval->argNames[0] == "years");
   const FunctionInfo* concat = b.functions("concat")[0];
   CATCH_CHECK(concat->variadicElement == oid::any);
   const FunctionInfo* settings = b.functions("pg_show_all_settings")[0];
   CATCH_CHECK(settings->argModes.size() == settings->allArgTypes.size());
   CATCH_CHECK(settings->returnsSet);
   CATCH_REQUIRE(b.functions("ouzel_version").size() == 1);
   CATCH_CHECK(b.function(9000)->source == "ouzel_version");
}

CATCH_TEST_CASE("operators know their families") {
   const Builtins& b = builtins();
   const OperatorInfo* less = b.findOperator("<", oid::int4, oid::int8);
   CATCH_REQUIRE(less != nullptr);
   CATCH_CHECK(b.btreeStrategy(less->oid)->strategy == BtreeStrategy::Less);
   CATCH_CHECK(b.btreeStrategy(less->oid)->family == b.defaultBtreeFamily(oid::int2));
   CATCH_CHECK(b.operatorByOid(less->commutator)->name == ">");
   const OperatorInfo* textEqual = b.findOperator("=", oid::text, oid::text);
   CATCH_CHECK(b.btreeStrategy(textEqual->oid)->family == 1994); // text_ops, not text_pattern_ops
   CATCH_CHECK(b.isEqualityOperator(textEqual->oid));
   CATCH_CHECK_FALSE(b.isEqualityOperator(less->oid));
   CATCH_CHECK_FALSE(b.btreeStrategy(b.findOperator("+", oid::int4, oid::int4)->oid));
   CATCH_CHECK(b.isEqualityOperator(b.findOperator("=", oid::xid, oid::xid)->oid)); // hash only
   CATCH_CHECK(b.equalityOperator(oid::varchar) == textEqual);
   CATCH_CHECK(b.comparisonOperator(oid::int4Array, BtreeStrategy::Less)->left == oid::anyarray);
   CATCH_CHECK(b.comparisonOperator(oid::regclass, BtreeStrategy::Less)->left == oid::oid);
   CATCH_CHECK(b.comparisonOperator(oid::json, BtreeStrategy::Less) == nullptr);
   CATCH_CHECK(b.equalityOperator(oid::xid)->left == oid::xid);
   CATCH_CHECK(b.findOperator("-", invalidOid, oid::int4)->isPrefix());
}

CATCH_TEST_CASE("casts and aggregates") {
   const Builtins& b = builtins();
   CATCH_CHECK(b.cast(oid::int4, oid::int8)->context == CastContext::Implicit);
   CATCH_CHECK(b.cast(oid::int8, oid::int4)->context == CastContext::Assignment);
   CATCH_CHECK(b.cast(oid::varchar, oid::text)->method == CastMethod::Binary);
   CATCH_CHECK(b.cast(oid::date, oid::int4) == nullptr);
   const FunctionInfo* sum = nullptr;
   for (const FunctionInfo* f : b.functions("sum"))
      if (f->argTypes[0] == oid::int4) sum = f;
   CATCH_REQUIRE(sum != nullptr);
   CATCH_CHECK(sum->kind == FunctionKind::Aggregate);
   CATCH_CHECK(b.aggregate(sum->oid)->transitionType == oid::int8);
}

CATCH_TEST_CASE("text tables unescape and keep NULL apart from empty") {
   const TextTable table("a\tb\n1\t\\N\n# comment\nx\\ty\t\n");
   CATCH_REQUIRE(table.rowCount() == 2);
   CATCH_CHECK_FALSE(table.at(0, 1));
   CATCH_CHECK(*table.at(1, 0) == "x\ty");
   CATCH_CHECK(table.at(1, 1)->empty());
}
