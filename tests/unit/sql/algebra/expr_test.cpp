#include "sql/algebra/expr.hpp"

#include <catch2/catch.hpp>

#include "sql/algebra/rel.hpp"

using namespace ouzel;
using namespace ouzel::sql;

namespace {

const SqlType int4{oid::int4};
constexpr ColumnId a{0}, b{1}, c{2};

ExprPtr number(int64_t value) {
   return makeConstant(int4, Value::integer(PhysicalType::I32, value));
}
ExprPtr column(ColumnId id) {
   return makeColumn(id, int4);
}
ExprPtr eq(ExprPtr lhs, ExprPtr rhs) {
   return makeCompare(CompareOp::Eq, std::move(lhs), std::move(rhs));
}
ExprPtr both(ExprPtr lhs, ExprPtr rhs) {
   std::vector<ExprPtr> list;
   list.push_back(std::move(lhs));
   list.push_back(std::move(rhs));
   return makeAnd(std::move(list));
}
ExprPtr either(ExprPtr lhs, ExprPtr rhs) {
   std::vector<ExprPtr> list;
   list.push_back(std::move(lhs));
   list.push_back(std::move(rhs));
   return makeOr(std::move(list));
}
ExprPtr test(ExprKind kind, ExprPtr arg) {
   auto expr = std::make_unique<Expr>(kind, SqlType{oid::boolean});
   expr->args.push_back(std::move(arg));
   return expr;
}

} // namespace

CATCH_TEST_CASE("expressions compare and hash by structure") {
   const ExprPtr x = both(eq(column(a), number(1)), eq(column(b), number(2)));
   const ExprPtr y = clone(*x);
   CATCH_CHECK(equal(*x, *y));
   CATCH_CHECK(structuralHash(*x) == structuralHash(*y));
   CATCH_CHECK_FALSE(equal(*x, *eq(column(a), number(1))));
   CATCH_CHECK_FALSE(equal(*number(1), *number(2)));
}

CATCH_TEST_CASE("the fields of an expression are copied and compared") {
   const auto differs = [](ExprKind kind, scalar::Fields fields) {
      const Expr plain(kind, int4), other(kind, int4, std::move(fields));
      const ExprPtr copy = clone(other);
      return equal(other, *copy) && structuralHash(other) == structuralHash(*copy) && !equal(plain, other) &&
             structuralHash(plain) != structuralHash(other);
   };
   CATCH_CHECK(differs(ExprKind::Column, scalar::Column{a}));
   CATCH_CHECK(differs(ExprKind::Constant, scalar::Constant{Value::integer(PhysicalType::I32, 7)}));
   CATCH_CHECK(differs(ExprKind::Parameter, scalar::Parameter{1}));
   CATCH_CHECK(differs(ExprKind::Compare, scalar::Compare{CompareOp::Lt}));
   CATCH_CHECK(differs(ExprKind::InList, scalar::InList{true}));
   CATCH_CHECK(differs(ExprKind::TypmodCast, scalar::TypmodCast{true}));
   CATCH_CHECK(differs(ExprKind::Row, scalar::Row{{"x"}, true}));
   CATCH_CHECK(differs(ExprKind::AnyArray, scalar::AnyArray{CompareOp::Eq, true, nullptr}));
}

CATCH_TEST_CASE("an expression becomes one of another kind with its arguments") {
   const ExprPtr expr = eq(column(a), number(1));
   expr->become(ExprKind::InList);
   CATCH_CHECK(expr->args.size() == 2);
   CATCH_CHECK_FALSE(expr->as<scalar::InList>().negated);
   CATCH_CHECK(!expr->getIf<scalar::Compare>());
}

CATCH_TEST_CASE("lists flatten and split") {
   const ExprPtr all = both(both(eq(column(a), number(1)), eq(column(b), number(2))), eq(column(c), number(3)));
   CATCH_CHECK(all->args.size() == 3);
   std::vector<ExprPtr> parts;
   splitConjuncts(clone(*all), parts);
   CATCH_CHECK(parts.size() == 3);
   CATCH_CHECK(isConstantTrue(*makeAnd({})));
   CATCH_CHECK(isConstantFalseOrNull(*makeOr({})));
}

CATCH_TEST_CASE("null rejection knows three-valued logic") {
   CATCH_CHECK(rejectsNulls(*eq(column(a), number(1)), {a}));
   CATCH_CHECK_FALSE(rejectsNulls(*eq(column(b), number(1)), {a}));
   CATCH_CHECK_FALSE(rejectsNulls(*either(eq(column(a), number(1)), eq(column(b), number(1))), {a}));
   CATCH_CHECK(rejectsNulls(*either(eq(column(a), number(1)), eq(column(a), column(b))), {a}));
   CATCH_CHECK(rejectsNulls(*both(eq(column(a), number(1)), eq(column(b), number(1))), {a}));
   CATCH_CHECK(rejectsNulls(*makeNot(eq(column(a), number(1))), {a}));
   // NOT (a = 1 AND b = 2): false when b <> 2, so the whole can be true.
   CATCH_CHECK_FALSE(rejectsNulls(*makeNot(both(eq(column(a), number(1)), eq(column(b), number(2)))), {a}));
   CATCH_CHECK_FALSE(rejectsNulls(*test(ExprKind::IsNull, column(a)), {a}));
   CATCH_CHECK(rejectsNulls(*test(ExprKind::IsNotNull, column(a)), {a}));
   CATCH_CHECK_FALSE(rejectsNulls(*test(ExprKind::IsNotTrue, eq(column(a), number(1))), {a}));
   CATCH_CHECK_FALSE(rejectsNulls(*makeCompare(CompareOp::IsNotDistinctFrom, column(a), column(b)), {a}));
}

CATCH_TEST_CASE("free columns are read but not made") {
   op::Get get;
   get.columns = {{a, 1}, {b, 2}};
   const RelPtr select =
       makeRel(RelKind::Select, op::Select{eq(column(a), column(c))}, makeRel(RelKind::Get, std::move(get)));
   CATCH_CHECK(freeColumns(*select) == std::vector<ColumnId>{c});
   CATCH_CHECK(outputColumns(*select) == std::vector<ColumnId>{a, b});
   const RelPtr copy = clone(*select);
   ColumnTable columns;
   for (const char* name : {"a", "b", "c"})
      columns.add({name, int4, {}, invalidOid, 0, true});
   CATCH_CHECK(toString(*copy, columns) == "Select (a#0 = c#2)\n  Get  [a#0, b#1]\n");
}
