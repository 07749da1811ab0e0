#include <catch2/catch.hpp>
#include <random>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "executor/expression/program.hpp"
#include "tests/unit/executor/expression_support.hpp"

using namespace ouzel;
using namespace ouzel::executor;
using sql::CompareOp;
using sql::Expr;
using sql::ExprKind;
using sql::ExprPtr;
using test::Column;

namespace {

const SqlType int4{oid::int4, -1, 0}, text{oid::text, -1, defaultCollation}, boolean{oid::boolean, -1, 0};

/// Three columns: a, b int4 and t text.
struct Fixture {
   sql::ColumnTable columns;
   sql::ColumnId a = columns.add({"a", int4, storedRepresentation(int4)});
   sql::ColumnId b = columns.add({"b", int4, storedRepresentation(int4)});
   sql::ColumnId t = columns.add({"t", text, storedRepresentation(text)});
   ColumnSlots slots{std::vector{a, b, t}};

   ExprPtr A() const { return sql::makeColumn(a, int4); }
   ExprPtr B() const { return sql::makeColumn(b, int4); }
   ExprPtr T() const { return sql::makeColumn(t, text); }
};

ExprPtr number(int64_t v) {
   return sql::makeConstant(int4, Value::integer(PhysicalType::I32, v));
}
ExprPtr string(const char* v) {
   return sql::makeConstant(text, Value::string(v));
}

ExprPtr binary(const char* op, ExprPtr x, ExprPtr y) {
   const catalog::Builtins& b = catalog::builtins();
   const catalog::OperatorInfo* info = b.findOperator(op, x->type.oid, y->type.oid);
   CATCH_REQUIRE(info);
   std::vector<ExprPtr> args;
   args.push_back(std::move(x));
   args.push_back(std::move(y));
   return sql::makeCall(b.function(info->function), {info->result, -1, 0}, std::move(args));
}
template <typename... E>
ExprPtr node(ExprKind kind, SqlType type, E... args) {
   auto result = std::make_unique<Expr>(kind, type);
   (result->args.push_back(std::move(args)), ...);
   return result;
}
ExprPtr less(ExprPtr x, ExprPtr y) {
   return sql::makeCompare(CompareOp::Lt, std::move(x), std::move(y));
}
ExprPtr equals(ExprPtr x, ExprPtr y) {
   return sql::makeCompare(CompareOp::Eq, std::move(x), std::move(y));
}

struct Rowset {
   std::vector<Value> a, b, t;
   explicit Rowset(uint32_t count, uint64_t seed = 3) {
      std::mt19937_64 rng(seed);
      const auto integer = [&] {
         return rng() % 6 == 0 ? Value::null(PhysicalType::I32)
                               : Value::integer(PhysicalType::I32, static_cast<int64_t>(rng() % 9) - 4);
      };
      for (uint32_t i = 0; i < count; ++i) {
         a.push_back(integer());
         b.push_back(integer());
         t.push_back(rng() % 6 == 0 ? Value::null(PhysicalType::String)
                                    : Value::string("a string of some length " + std::to_string(rng() % 5)));
      }
   }
};

std::vector<std::string> textsOf(const Vector& v, Selection rows) {
   std::vector<std::string> result;
   for (const Value& value : test::rowsOf(v, rows))
      result.push_back(test::toText(value));
   return result;
}

/// The reference: evaluates each row separately.
std::vector<std::string> rowByRow(const Expr& expr, const Fixture& f, const Rowset& rows) {
   std::vector<std::string> result;
   auto program = ExpressionProgram::compile(expr, f.slots, f.columns);
   ExpressionState state(program, test::testContext(), test::testMemory());
   for (size_t i = 0; i < rows.a.size(); ++i) {
      const Column a = Column::flat(PhysicalType::I32, {rows.a[i]}), b = Column::flat(PhysicalType::I32, {rows.b[i]}),
                   t = Column::flat(PhysicalType::String, {rows.t[i]});
      Batch batch;
      batch.columns = {a.vector(), b.vector(), t.vector()};
      batch.setDense(1);
      result.push_back(textsOf(program->evaluate(state, batch, batch.selection), batch.selection)[0]);
   }
   return result;
}

/// Checks that all encodings, dense and listed rows, and several batches on one state agree with rowByRow().
void checkEverywhere(const Expr& expr, const Fixture& f) {
   auto program = ExpressionProgram::compile(expr, f.slots, f.columns);
   ExpressionState state(program, test::testContext(), test::testMemory());
   for (const uint32_t count : {0u, 1u, 2u, 63u, 64u, 65u, 300u, 2048u}) {
      const Rowset rows(count, count + 5);
      const std::vector<std::string> expected = rowByRow(expr, f, rows);
      std::vector<RowIndex> list;
      for (uint32_t i = 0; i < count; ++i)
         if (i % 3 != 1) list.push_back(static_cast<RowIndex>(i));
      for (int encoding = 0; encoding < 3; ++encoding) {
         const auto make = [&](PhysicalType type, const std::vector<Value>& values, uint64_t id) {
            if (encoding == 0) return Column::flat(type, values);
            return Column::dictionary(type, values, encoding == 2 ? id * 10000 + count : 0);
         };
         const Column a = make(PhysicalType::I32, rows.a, 1), b = make(PhysicalType::I32, rows.b, 2),
                      t = make(PhysicalType::String, rows.t, 3);
         Batch batch;
         batch.columns = {a.vector(), b.vector(), t.vector()};
         for (const Selection selection : {Selection::dense(count), Selection::list(list)}) {
            batch.rowCount = count;
            batch.selection = selection;
            for (int repeat = 0; repeat < 2; ++repeat) {
               const std::vector<std::string> actual = textsOf(program->evaluate(state, batch, selection), selection);
               for (uint32_t i = 0; i < selection.count(); ++i)
                  CATCH_REQUIRE(actual[i] == expected[selection.row(i)]);
            }
            if (expr.type.oid != oid::boolean) continue;
            std::vector<RowIndex> out(selection.count());
            const Selection passed = program->filter(state, batch, selection, out.data());
            std::vector<RowIndex> expectedRows;
            for (uint32_t i = 0; i < selection.count(); ++i)
               if (expected[selection.row(i)] == "t") expectedRows.push_back(selection.row(i));
            CATCH_REQUIRE(passed.count() == expectedRows.size());
            for (uint32_t i = 0; i < passed.count(); ++i)
               CATCH_REQUIRE(passed.row(i) == expectedRows[i]);
         }
      }
   }
}

} // namespace

CATCH_TEST_CASE("expressions give the same in every encoding and selection", "[expression]") {
   const Fixture f;
   checkEverywhere(*binary("+", f.A(), f.B()), f);
   checkEverywhere(*binary("*", binary("+", f.A(), number(3)), binary("-", number(7), f.B())), f);
   checkEverywhere(*less(f.A(), f.B()), f);
   checkEverywhere(*node(ExprKind::And, boolean, less(f.A(), number(2)), less(number(-2), f.B())), f);
   checkEverywhere(*node(ExprKind::Or, boolean, less(f.A(), number(-2)), less(number(2), f.B()),
                         equals(f.T(), string("a string of some length 3"))),
                   f);
   checkEverywhere(
       *node(ExprKind::Not, boolean, node(ExprKind::Or, boolean, less(f.A(), number(-2)), less(number(2), f.B()))), f);
   checkEverywhere(
       *node(ExprKind::Not, boolean, node(ExprKind::Coalesce, boolean, less(f.A(), f.B()), equals(f.A(), number(1)))),
       f);
   checkEverywhere(*node(ExprKind::IsNull, boolean, binary("+", f.A(), f.B())), f);
   checkEverywhere(*node(ExprKind::IsNotTrue, boolean, less(f.A(), f.B())), f);
   checkEverywhere(*node(ExprKind::IsNotFalse, boolean, less(f.A(), f.B())), f);
   checkEverywhere(*node(ExprKind::IsFalse, boolean, less(f.A(), f.B())), f);
   checkEverywhere(*node(ExprKind::Case, text, less(f.A(), number(0)), f.T(), less(f.B(), number(0)), string("b below"),
                         string("otherwise")),
                   f);
   checkEverywhere(*node(ExprKind::Case, int4, less(f.A(), number(0)), f.B()), f);
   checkEverywhere(*node(ExprKind::Coalesce, int4, f.A(), f.B(), number(77)), f);
   checkEverywhere(*node(ExprKind::Coalesce, int4, f.A(), f.B()), f);
   checkEverywhere(*node(ExprKind::InList, boolean, f.A(), number(1), number(3), number(-4)), f);
   checkEverywhere(*node(ExprKind::InList, boolean, f.A(), number(1), number(3), number(-4), number(9), number(10),
                         number(0), f.B()),
                   f);
   auto notIn = node(ExprKind::InList, boolean, f.T(), string("a string of some length 3"), sql::makeNull(text));
   notIn->as<sql::scalar::InList>().negated = true;
   checkEverywhere(*notIn, f);
   // One subexpression in several places, at some of them for fewer rows.
   const auto shared = [&] { return binary("*", binary("+", f.A(), f.B()), number(2)); };
   checkEverywhere(*node(ExprKind::Case, int4, less(f.A(), number(0)), shared(), less(shared(), number(4)),
                         binary("+", shared(), number(1)), binary("-", number(0), shared())),
                   f);
   checkEverywhere(*node(ExprKind::And, boolean, less(binary("+", f.A(), number(1)), number(3)),
                         less(binary("+", f.A(), number(1)), f.B()), less(f.B(), shared()),
                         less(shared(), number(100))),
                   f);
}

CATCH_TEST_CASE("errors come from wanted rows only", "[expression]") {
   const Fixture f;
   // a <> 0 AND 10 / a > 1, CASE WHEN a <> 0 THEN 10 / a END
   const auto nonZero = [&] { return sql::makeCompare(CompareOp::Ne, f.A(), number(0)); };
   checkEverywhere(*node(ExprKind::And, boolean, nonZero(), less(number(1), binary("/", number(10), f.A()))), f);
   checkEverywhere(*node(ExprKind::Case, int4, nonZero(), binary("/", number(10), f.A())), f);
   const ExprPtr bad = binary("/", number(10), f.A());
   auto program = ExpressionProgram::compile(*bad, f.slots, f.columns);
   ExpressionState state(program, test::testContext(), test::testMemory());
   const Column a = Column::flat(PhysicalType::I32, {test::intValue(2), test::intValue(0), test::intValue(5)});
   Batch batch;
   batch.columns = {a.vector(), a.vector(), a.vector()};
   batch.setDense(3);
   CATCH_CHECK_THROWS_AS(program->evaluate(state, batch, batch.selection), SqlError);
   const std::vector<RowIndex> fine{0, 2};
   CATCH_CHECK(textsOf(program->evaluate(state, batch, Selection::list(fine)), Selection::list(fine)) ==
               std::vector<std::string>{"5", "2"});
}

CATCH_TEST_CASE("constant expressions stay constant and several roots share work", "[expression]") {
   const Fixture f;
   const ExprPtr constant = binary("+", number(40), number(2));
   const ExprPtr sum = binary("+", f.A(), f.B()), twice = binary("*", binary("+", f.A(), f.B()), number(2));
   const Expr* exprs[] = {constant.get(), sum.get(), twice.get()};
   auto program = ExpressionProgram::compile(exprs, f.slots, f.columns);
   ExpressionState state(program, test::testContext(), test::testMemory());
   const Rowset rows(100);
   const Column a = Column::flat(PhysicalType::I32, rows.a), b = Column::flat(PhysicalType::I32, rows.b),
                t = Column::flat(PhysicalType::String, rows.t);
   Batch batch;
   batch.columns = {a.vector(), b.vector(), t.vector()};
   batch.setDense(100);
   Vector out[3];
   program->evaluateAll(state, batch, batch.selection, out);
   CATCH_CHECK(out[0].encoding == Encoding::Constant);
   CATCH_CHECK(textsOf(out[0], Selection::dense(1))[0] == "42");
   CATCH_CHECK(textsOf(out[1], batch.selection) == rowByRow(*sum, f, rows));
   CATCH_CHECK(textsOf(out[2], batch.selection) == rowByRow(*twice, f, rows));
}
