#include "executor/function/aggregate/aggregate.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "common/number/decimal.hpp"
#include "tests/unit/executor/expression_support.hpp"

using namespace ouzel;
using namespace ouzel::executor;
using test::Column;

namespace {

struct Case {
   const char* name;
   std::vector<SqlType> types;
   std::vector<Representation> reprs;
   Representation result;
   /// PostgreSQL 15's result over the rows of values(), as text.
   std::string expected;
};

constexpr Representation i32{PhysicalType::I32, 0}, i64{PhysicalType::I64, 0}, f64{PhysicalType::F64, 0},
    decimalRepr{PhysicalType::Decimal, 0}, textRepr{PhysicalType::String, 0}, boolRepr{PhysicalType::Bool, 0};

Value decimalValue(const char* text) {
   Arena arena;
   return Value::string(std::string(decimal::parse(text, arena).view()), PhysicalType::Decimal);
}

/// select agg(x) from (values (3), (null), (-7), (100), (3)) with the column cast as needed.
std::vector<Value> values(Representation repr) {
   const auto make = [&](int64_t v) {
      switch (repr.physical) {
      case PhysicalType::Bool: return Value::boolean(v > 0);
      case PhysicalType::F64: return Value::real(repr.physical, static_cast<double>(v));
      case PhysicalType::Decimal: return decimalValue((std::to_string(v) + ".50").c_str());
      case PhysicalType::String: return Value::string("text number " + std::to_string(v));
      default: return Value::integer(repr.physical, v);
      }
   };
   return {make(3), Value::null(repr.physical), make(-7), make(100), make(3)};
}

struct States {
   States(const AggregateKernel& k, uint32_t count) : kernel(k), memory((k.stateSize / 16 + 1) * count) {
      for (uint32_t i = 0; i < count; ++i) {
         pointers.push_back(reinterpret_cast<std::byte*>(memory.data() + (k.stateSize / 16 + 1) * i));
         k.initialize(pointers.back());
      }
   }
   std::vector<std::string> results(Representation repr) {
      std::vector<uint128> data(pointers.size() + 1);
      std::vector<ValidityWord> validity(validityWords(static_cast<uint32_t>(pointers.size())) + 1, ~ValidityWord{0});
      Arena strings;
      ResultVector result(repr.physical, data.data(), validity.data(), strings);
      kernel.finalize(pointers.data(), static_cast<uint32_t>(pointers.size()), test::testContext(), result);
      const Vector vector = Vector::flat(repr.physical, data.data(), result.hasNulls() ? validity.data() : nullptr);
      std::vector<std::string> texts;
      for (uint32_t i = 0; i < pointers.size(); ++i) {
         if (repr.physical == PhysicalType::I128 && !vector.isNull(i)) {
            std::string text;
            decimal::appendScaled(text, vector.value<int128>(i), repr.scale);
            texts.push_back(text);
         } else {
            texts.push_back(test::toText(Value::fromVector(vector, i)));
         }
      }
      return texts;
   }
   const AggregateKernel& kernel;
   std::vector<uint128> memory;
   std::vector<std::byte*> pointers;
};

} // namespace

CATCH_TEST_CASE("aggregates of five rows give what PostgreSQL gives", "[aggregate]") {
   const SqlType int4{oid::int4, -1, 0}, int8{oid::int8, -1, 0}, float8{oid::float8, -1, 0},
       numeric{oid::numeric, -1, 0}, text{oid::text, -1, 100}, boolean{oid::boolean, -1, 0};
   const Representation scaled2{PhysicalType::I64, 2}, wide2{PhysicalType::I128, 2}, wide0{PhysicalType::I128, 0};
   const std::vector<Case> cases{
       {"count", {int4}, {i32}, i64, "4"},
       {"sum", {int4}, {i32}, i64, "99"},
       {"avg", {int4}, {i32}, decimalRepr, "24.7500000000000000"},
       {"min", {int4}, {i32}, i32, "-7"},
       {"max", {int4}, {i32}, i32, "100"},
       {"sum", {int8}, {i64}, wide0, "99"},
       {"avg", {int8}, {i64}, decimalRepr, "24.7500000000000000"},
       {"sum", {numeric}, {scaled2}, wide2, "0.99"},
       {"avg", {numeric}, {scaled2}, decimalRepr, "0.24750000000000000000"},
       {"sum", {numeric}, {decimalRepr}, decimalRepr, "100.00"}, // -7.50
       {"avg", {numeric}, {decimalRepr}, decimalRepr, "25.0000000000000000"},
       {"min", {numeric}, {decimalRepr}, decimalRepr, "-7.50"},
       {"sum", {float8}, {f64}, f64, "99.000000"},
       {"avg", {float8}, {f64}, f64, "24.750000"},
       {"min", {text}, {textRepr}, textRepr, "text number -7"},
       {"max", {text}, {textRepr}, textRepr, "text number 3"},
       {"bool_and", {boolean}, {boolRepr}, boolRepr, "f"},
       {"bool_or", {boolean}, {boolRepr}, boolRepr, "t"},
       {"bit_and", {int4}, {i32}, i32, "0"},
       {"bit_or", {int4}, {i32}, i32, "-1"},
       {"bit_xor", {int4}, {i32}, i32, "-99"},
       {"var_pop", {int4}, {i32}, decimalRepr, "1904.1875000000000000"},
       {"variance", {int4}, {i32}, decimalRepr, "2538.9166666666666667"},
       {"stddev_pop", {int4}, {i32}, decimalRepr, "43.6369969177531739"},
       {"stddev", {int8}, {i64}, decimalRepr, "50.3876638341833295"},
       {"stddev", {numeric}, {decimalRepr}, decimalRepr, "50.5997364947025523"},
       {"var_samp", {float8}, {f64}, f64, "2538.916667"},
       {"mode", {int4}, {i32}, i32, "3"},
       {"any_value", {int4}, {i32}, i32, "3"},
   };
   for (const Case& c : cases) {
      CATCH_INFO(c.name << " of " << c.types[0].oid);
      const AggregateKernel* kernel = findAggregate(c.name, c.types, c.reprs, c.result);
      CATCH_REQUIRE(kernel);
      Arena arena;
      const std::vector<Value> rows = values(c.reprs[0]);
      for (const Column& column :
           {Column::flat(c.reprs[0].physical, rows), Column::dictionary(c.reprs[0].physical, rows)}) {
         const Vector args[] = {column.vector()};
         const AggregateInput input{args, Selection::dense(5), test::testContext(), arena, c.types};
         States one(*kernel, 1), grouped(*kernel, 1), empty(*kernel, 1);
         kernel->updateOne(input, one.pointers[0]);
         CATCH_CHECK(one.results(c.result)[0] == c.expected);
         const std::vector<std::byte*> same(5, grouped.pointers[0]);
         kernel->update(input, same.data());
         CATCH_CHECK(grouped.results(c.result)[0] == c.expected);
         CATCH_CHECK(empty.results(c.result)[0] == (std::string(c.name) == "count" ? "0" : "NULL"));
         if (kernel->ordered) continue;
         kernel->combine(empty.pointers.data(), one.pointers.data(), 1, arena);
         CATCH_CHECK(empty.results(c.result)[0] == c.expected);
      }
   }
}

CATCH_TEST_CASE("parts combine to the whole, over many rows and groups", "[aggregate]") {
   std::mt19937_64 rng(5);
   const SqlType int8{oid::int8, -1, 0}, numeric{oid::numeric, -1, 0};
   struct Sum {
      SqlType type;
      Representation arg, result;
   };
   for (const Sum& c :
        {Sum{int8, i64, {PhysicalType::I128, 0}}, Sum{numeric, {PhysicalType::I64, 3}, {PhysicalType::I128, 3}},
         Sum{numeric, decimalRepr, decimalRepr}}) {
      const AggregateKernel& kernel = *findAggregate("sum", {&c.type, 1}, {&c.arg, 1}, c.result);
      constexpr uint32_t rowCount = 2048, groups = 7;
      std::vector<Value> rows;
      std::vector<uint32_t> groupOf;
      std::vector<int128> expected(groups);
      int128 total = 0;
      for (uint32_t i = 0; i < rowCount; ++i) {
         const int64_t v = static_cast<int64_t>(rng());
         groupOf.push_back(static_cast<uint32_t>(rng() % groups));
         expected[groupOf.back()] += v;
         total += v;
         if (c.arg.physical == PhysicalType::Decimal) {
            rows.push_back(Value::string(std::string(decimal::fromInt64(v).view()), PhysicalType::Decimal));
         } else {
            rows.push_back(Value::integer(PhysicalType::I64, v));
         }
      }
      const Column column = Column::flat(c.arg.physical, rows);
      const Vector args[] = {column.vector()};
      Arena arena;
      const AggregateInput input{args, Selection::dense(rowCount), test::testContext(), arena, {&c.type, 1}};
      States states(kernel, groups), other(kernel, groups), one(kernel, 1);
      std::vector<std::byte*> targets;
      for (uint32_t i = 0; i < rowCount; ++i)
         targets.push_back((i % 2 ? states : other).pointers[groupOf[i]]);
      kernel.update(input, targets.data());
      kernel.combine(states.pointers.data(), other.pointers.data(), groups, arena);
      kernel.updateOne(input, one.pointers[0]);
      const std::vector<std::string> actual = states.results(c.result);
      for (uint32_t g = 0; g < groups; ++g) {
         std::string text;
         decimal::appendScaled(text, expected[g], c.result.scale);
         CATCH_CHECK(actual[g] == text);
      }
      std::string text;
      decimal::appendScaled(text, total, c.result.scale);
      CATCH_CHECK(one.results(c.result)[0] == text);
   }
}

CATCH_TEST_CASE("string_agg, array_agg and percentiles keep the order they are given", "[aggregate]") {
   const SqlType text{oid::text, -1, 100}, float8{oid::float8, -1, 0};
   const std::vector<SqlType> texts{text, text}, floats{float8, float8};
   Arena arena;
   const Column words =
       Column::flat(PhysicalType::String, {Value::string("one"), Value::null(PhysicalType::String),
                                           Value::string("a somewhat longer word"), Value::string("three")});
   const Column comma = Column::constant(PhysicalType::String, Value::string(", "));
   const Vector args[] = {words.vector(), comma.vector()};
   const std::vector<Representation> textReprs{textRepr, textRepr};
   const AggregateKernel& join = *findAggregate("string_agg", texts, textReprs, textRepr);
   CATCH_CHECK(join.ordered);
   States joined(join, 1);
   join.updateOne({args, Selection::dense(4), test::testContext(), arena, texts}, joined.pointers[0]);
   CATCH_CHECK(joined.results(textRepr)[0] == "one, a somewhat longer word, three");

   const Column numbers =
       Column::flat(PhysicalType::F64, {Value::real(PhysicalType::F64, 1), Value::real(PhysicalType::F64, 2),
                                        Value::real(PhysicalType::F64, 4), Value::real(PhysicalType::F64, 10)});
   const Column half = Column::constant(PhysicalType::F64, Value::real(PhysicalType::F64, 0.5));
   const Vector pair[] = {numbers.vector(), half.vector()};
   const std::vector<Representation> reprs{f64, f64};
   for (const auto& [name, expected] :
        {std::pair{"percentile_cont", "3.000000"}, std::pair{"percentile_disc", "2.000000"}}) {
      const AggregateKernel& kernel = *findAggregate(name, floats, reprs, f64);
      States state(kernel, 1);
      const AggregateInput input{pair, Selection::dense(4), test::testContext(), arena, floats};
      const std::vector<std::byte*> same(4, state.pointers[0]);
      kernel.expect(input, same.data());
      kernel.updateOne(input, state.pointers[0]);
      CATCH_CHECK(state.results(f64)[0] == expected);
   }
}

CATCH_TEST_CASE("ordered aggregates keep little more than their results", "[aggregate]") {
   const SqlType text{oid::text, -1, 100}, float8{oid::float8, -1, 0};
   const std::vector<SqlType> texts{text, text}, orders{text, float8};
   constexpr uint32_t batches = 500;
   MemoryLedger ledger(size_t{1} << 30);
   const auto feed = [&](const char* name, const std::vector<SqlType>& types, const Column& second, Arena& arena,
                         size_t length) {
      const std::vector<Representation> reprs{textRepr, second.vector().type == PhysicalType::F64 ? f64 : textRepr};
      const AggregateKernel& kernel = *findAggregate(name, types, reprs, textRepr);
      States state(kernel, 1);
      const std::vector<std::byte*> same(batchRowsMax, state.pointers[0]);
      const auto each = [&](auto use) {
         for (uint32_t batch = 0; batch < batches; ++batch) {
            std::vector<Value> values;
            for (uint32_t row = 0; row < 100; ++row)
               values.push_back(
                   Value::string(std::string(length - 6, 'x') + std::to_string(100'000 + batch * 100 + row)));
            const Column column = Column::flat(PhysicalType::String, values);
            const Vector args[] = {column.vector(), second.vector()};
            use(AggregateInput{args, Selection::dense(100), test::testContext(), arena, types});
         }
      };
      if (kernel.expect) each([&](const AggregateInput& input) { kernel.expect(input, same.data()); });
      each([&](const AggregateInput& input) { kernel.update(input, same.data()); });
      return state.results(textRepr)[0];
   };
   constexpr size_t length = 100, all = batches * 100 * length;
   const Column none = Column::constant(PhysicalType::String, Value::string(""));
   const Column part = Column::constant(PhysicalType::F64, Value::real(PhysicalType::F64, 0.5));
   {
      Reservation memory(ledger);
      Arena arena(&memory);
      CATCH_CHECK(feed("string_agg", texts, none, arena, length).size() == all);
      CATCH_CHECK(memory.used() < all + (size_t{3} << 19)); // an arena's chunks have up to 1 MiB
   }
   Reservation memory(ledger);
   Arena arena(&memory);
   CATCH_CHECK(feed("percentile_disc", orders, part, arena, length) == std::string(length - 6, 'x') + "124999");
   CATCH_CHECK(feed("mode", {text}, part, arena, length) == std::string(length - 6, 'x') + "100000");
   CATCH_CHECK(memory.used() < all / 20);
}
