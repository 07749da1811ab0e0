#include "sql/algebra/verify.hpp"

#include <catch2/catch.hpp>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "sql/algebra/build.hpp"

// Breaks each rule of the verifier with one tree.

using namespace ouzel;
using namespace ouzel::sql;

namespace {

const SqlType int4{oid::int4}, int8{oid::int8}, text{oid::text}, boolean{oid::boolean};

ExprPtr number(int64_t value) {
   return makeConstant(int4, Value::integer(PhysicalType::I32, value));
}

ExprPtr bigNumber(int64_t value) {
   return makeConstant(int8, Value::integer(PhysicalType::I64, value));
}

const catalog::FunctionInfo* function(const char* name, std::vector<Oid> types) {
   const catalog::FunctionInfo* found = catalog::builtins().findFunction(name, types);
   CATCH_REQUIRE(found != nullptr);
   return found;
}

/// A table of columns and short ways to build a tree over it.
class Trees {
public:
   ColumnTable columns;

   ColumnId add(const char* name, const SqlType& type = int4) {
      ColumnInfo info;
      info.name = name;
      info.type = type;
      info.repr = storedRepresentation(type);
      return columns.add(std::move(info));
   }
   ExprPtr ref(ColumnId column) const { return makeColumn(column, columns[column].type); }
   ExprPtr eq(ColumnId lhs, ColumnId rhs) const { return makeCompare(CompareOp::Eq, ref(lhs), ref(rhs)); }
   static RelPtr get(std::vector<ColumnId> ids) {
      auto rel = std::make_unique<Rel>(RelKind::Get);
      for (size_t i = 0; i < ids.size(); ++i)
         rel->as<op::Get>().columns.push_back({ids[i], static_cast<int16_t>(i + 1)});
      return rel;
   }
   static RelPtr over(RelKind kind, RelPtr input) {
      auto rel = std::make_unique<Rel>(kind);
      rel->inputs.push_back(std::move(input));
      return rel;
   }
   static RelPtr select(RelPtr input, ExprPtr predicate) {
      return makeRel(RelKind::Select, op::Select{std::move(predicate)}, std::move(input));
   }
   static RelPtr join(JoinKind kind, RelPtr left, RelPtr right) {
      RelPtr rel = over(RelKind::Join, std::move(left));
      rel->as<op::Join>().kind = kind;
      rel->inputs.push_back(std::move(right));
      return rel;
   }
   static RelPtr map(RelPtr input, ColumnId column, ExprPtr expr) {
      RelPtr rel = over(RelKind::Map, std::move(input));
      rel->as<op::Map>().computed.push_back({column, std::move(expr)});
      return rel;
   }
   static RelPtr cteScan(uint32_t cte, ColumnId column, ColumnId of) {
      return makeRel(RelKind::CteScan, op::CteScan{cte, {column}, {of}});
   }
   static RelPtr with(uint32_t id, RelPtr query, std::vector<ColumnId> given, RelPtr body) {
      RelPtr rel = over(RelKind::With, std::move(body));
      Cte& cte = rel->as<op::With>().ctes.emplace_back();
      cte.id = id;
      cte.query = std::move(query);
      cte.columns = std::move(given);
      return rel;
   }

   /// The verifier's message; empty: the tree is valid.
   std::string refusal(const Rel& rel, std::vector<ColumnId> output = {}, const TreeForm& form = {}) const {
      std::vector<OutputColumn> outputs;
      for (const ColumnId column : output)
         outputs.push_back({"", column, columns[column].type});
      try {
         verify(rel, outputs, columns, "a rewrite", form);
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::internalError);
         return error.what();
      }
      return "";
   }
   bool refuses(const Rel& rel, const char* rule, const TreeForm& form = {}) const {
      const std::string message = refusal(rel, {}, form);
      CATCH_INFO(message);
      return message.find(rule) != std::string::npos;
   }
   /// Whether the verifier refuses an expression over column a by this rule.
   bool refuses(ExprPtr expr, const char* rule) {
      const ColumnId result = add("result", expr->type);
      return refuses(*map(get({a}), result, std::move(expr)), rule);
   }

   const ColumnId a = add("a"), b = add("b"), c = add("c", text);
};

ExprPtr call(const catalog::FunctionInfo* function, const SqlType& type, std::vector<ExprPtr> args) {
   return makeCall(function, type, std::move(args));
}

template <typename... Args>
std::vector<ExprPtr> list(Args... args) {
   std::vector<ExprPtr> result;
   (result.push_back(std::move(args)), ...);
   return result;
}

ExprPtr node(ExprKind kind, const SqlType& type, std::vector<ExprPtr> args) {
   auto expr = std::make_unique<Expr>(kind, type);
   expr->args = std::move(args);
   return expr;
}

} // namespace

CATCH_TEST_CASE("sound trees pass, and a refusal names rule, rewrite and node") {
   Trees t;
   CATCH_CHECK(t.refusal(*Trees::select(Trees::get({t.a, t.b}), t.eq(t.a, t.b)), {t.a}).empty());
   const std::string message = t.refusal(*Trees::select(Trees::get({t.a}), t.eq(t.a, t.b)));
   CATCH_CHECK(message.find("verification after a rewrite, Select: a column that is read is made below: b#1") == 0);
}

CATCH_TEST_CASE("columns are made once, and below what reads them") {
   Trees t;
   CATCH_CHECK(t.refuses(*Trees::join(JoinKind::Inner, Trees::get({t.a}), Trees::get({t.a})), "made once"));
   CATCH_CHECK(t.refuses(*Trees::get({ColumnId{99}}), "in the table of columns"));
   CATCH_CHECK(t.refusal(*Trees::get({t.a}), {t.b}).find("the result: a column that is read") != std::string::npos);
   RelPtr limited = Trees::over(RelKind::Limit, Trees::get({t.a}));
   limited->as<op::Limit>().limit = node(ExprKind::Relabel, int8, list(t.ref(t.a)));
   CATCH_CHECK(t.refuses(*limited, "a column that is read")); // LIMIT sees no rows
   RelPtr distinct = Trees::over(RelKind::Distinct, Trees::get({t.a}));
   distinct->as<op::Distinct>().columns = {t.b};
   CATCH_CHECK(t.refuses(*distinct, "a column that is read"));
}

CATCH_TEST_CASE("the right side's columns end at semi, anti and mark joins") {
   for (const JoinKind kind : {JoinKind::Semi, JoinKind::Anti, JoinKind::Mark}) {
      Trees t;
      RelPtr join = Trees::join(kind, Trees::get({t.a}), Trees::get({t.b}));
      if (kind == JoinKind::Mark) join->as<op::Join>().markColumn = t.add("mark", boolean);
      join->as<op::Join>().predicate = t.eq(t.a, t.b);
      CATCH_CHECK(t.refusal(*join, {t.a}).empty());
      CATCH_CHECK(t.refuses(*Trees::select(std::move(join), t.eq(t.a, t.b)), "a column that is read"));
   }
}

CATCH_TEST_CASE("joins are of a kind that trees have") {
   Trees t;
   CATCH_CHECK(t.refuses(*Trees::join(JoinKind::RightSemi, Trees::get({t.a}), Trees::get({t.b})), "for plans"));
   CATCH_CHECK(t.refuses(*Trees::join(JoinKind::Mark, Trees::get({t.a}), Trees::get({t.b})), "have a mark"));
   RelPtr full = Trees::join(JoinKind::Full, Trees::get({t.a}), Trees::get({t.b}));
   full->as<op::Join>().dependent = true;
   CATCH_CHECK(t.refuses(*full, "does not depend"));
   RelPtr lateral =
       Trees::join(JoinKind::Inner, Trees::get({t.a}), Trees::map(Trees::get({t.b}), t.add("d"), t.ref(t.a)));
   CATCH_CHECK(t.refuses(*lateral, "a column that is read"));
   lateral->as<op::Join>().dependent = true;
   CATCH_CHECK(t.refusal(*lateral).empty());
   CATCH_CHECK(t.refuses(*lateral, "gone after unnesting", {true, false, true}));
}

CATCH_TEST_CASE("operators have the inputs and members of their kind") {
   Trees t;
   RelPtr two = Trees::over(RelKind::Select, Trees::get({t.a}));
   two->inputs.push_back(Trees::get({t.b}));
   CATCH_CHECK(t.refuses(*two, "inputs of its kind"));
   CATCH_CHECK(t.refuses(*Trees::over(RelKind::Map, nullptr), "an input is there"));
   CATCH_CHECK(t.refuses(*Trees::over(RelKind::Insert, Trees::get({t.a})), "say what they write"));
   CATCH_CHECK(t.refuses(*Trees::over(RelKind::With, Trees::get({t.a})), "With defines a CTE"));
   CATCH_CHECK(t.refuses(*Trees::over(RelKind::Sort, Trees::get({t.a})), "a sort has keys"));
   CATCH_CHECK(t.refuses(*Trees::over(RelKind::LockRows, Trees::get({t.a})), "locks rows of a table"));
   RelPtr scan = Trees::get({t.a});
   scan->as<op::Get>().columns[0].attribute = 0;
   CATCH_CHECK(t.refuses(*scan, "reads attributes from 1"));
   CATCH_CHECK(t.refuses(Rel(RelKind::TableFunction), "a table function is known"));
   auto values = std::make_unique<Rel>(RelKind::Values);
   values->as<op::Values>().columns = {t.a};
   values->as<op::Values>().rows.emplace_back();
   CATCH_CHECK(t.refuses(*values, "a value for each column"));
   values->as<op::Values>().rows[0].push_back(makeBoolean(true));
   CATCH_CHECK(t.refuses(*values, "a value is of its column's type"));
}

CATCH_TEST_CASE("logic is boolean") {
   Trees t;
   CATCH_CHECK(t.refuses(*Trees::select(Trees::get({t.a}), t.ref(t.a)), "a predicate is boolean"));
   CATCH_CHECK(t.refuses(node(ExprKind::And, boolean, list(makeBoolean(true), number(1))), "logic takes booleans"));
   CATCH_CHECK(t.refuses(node(ExprKind::Or, boolean, list(makeBoolean(true))), "two arguments at least"));
   CATCH_CHECK(t.refuses(node(ExprKind::Not, boolean, {}), "a test has one argument"));
   CATCH_CHECK(t.refuses(node(ExprKind::IsNull, int4, list(number(1))), "logic gives a boolean"));
   CATCH_CHECK(t.refuses(node(ExprKind::Not, boolean, list(ExprPtr())), "an argument is there"));
}

CATCH_TEST_CASE("comparisons are of one type") {
   Trees t;
   CATCH_CHECK(t.refuses(makeCompare(CompareOp::Eq, t.ref(t.a), makeNull(text)), "compared is of one type"));
   CATCH_CHECK(t.refuses(node(ExprKind::Compare, boolean, list(t.ref(t.a))), "a comparison has two arguments"));
   CATCH_CHECK(t.refuses(node(ExprKind::Compare, int4, list(t.ref(t.a), number(1))), "comparison gives a boolean"));
   CATCH_CHECK(t.refuses(node(ExprKind::InList, boolean, list(t.ref(t.a))), "something to compare with"));
   CATCH_CHECK(t.refuses(node(ExprKind::InList, boolean, list(t.ref(t.a), makeNull(text))), "compared is of one type"));
}

CATCH_TEST_CASE("alternatives are of the result's type") {
   Trees t;
   CATCH_CHECK(t.refuses(node(ExprKind::Case, int4, list(number(1), number(2))), "WHEN is boolean"));
   CATCH_CHECK(t.refuses(node(ExprKind::Case, int4, list(makeBoolean(true), makeNull(text))), "of the result's type"));
   CATCH_CHECK(t.refuses(node(ExprKind::Case, int4, list(number(1))), "there is an alternative"));
   CATCH_CHECK(t.refuses(node(ExprKind::Coalesce, int4, list(t.ref(t.a), makeNull(text))), "of the result's type"));
}

CATCH_TEST_CASE("calls fit their function") {
   Trees t;
   const catalog::FunctionInfo* upper = function("upper", {oid::text});
   CATCH_CHECK(t.refuses(call(nullptr, text, {}), "a call has a function"));
   CATCH_CHECK(t.refuses(call(upper, text, {}), "number of arguments"));
   CATCH_CHECK(t.refuses(call(upper, text, list(number(1))), "of the declared type"));
   CATCH_CHECK(t.refuses(call(upper, int4, list(makeNull(text))), "of its function's type"));
   CATCH_CHECK(t.refuses(call(function("sum", {oid::int4}), int8, list(number(1))), "of a plain function"));
   const ExprPtr series = call(function("generate_series", {oid::int4, oid::int4}), int4, list(number(1), number(2)));
   CATCH_CHECK(t.refuses(clone(*series), "at the top of ProjectSet"));
}

CATCH_TEST_CASE("casts take what they can") {
   Trees t;
   CATCH_CHECK(t.refuses(node(ExprKind::Relabel, text, list(number(1))), "leaves the bytes"));
   CATCH_CHECK(t.refuses(node(ExprKind::TypmodCast, text, list(number(1))), "a value of its type"));
   CATCH_CHECK(t.refuses(node(ExprKind::Convert, int4, list(number(1))), "only lowering converts"));
   CATCH_CHECK(t.refuses(node(ExprKind::TextCast, text, {}), "a cast has one argument"));
   CATCH_CHECK(t.refuses(node(ExprKind::Array, {oid::int4Array}, list(makeNull(text))), "its array's element type"));
   CATCH_CHECK(t.refuses(node(ExprKind::AnyArray, boolean, list(number(1), number(2))), "take an array"));
   CATCH_CHECK(t.refuses(node(ExprKind::SubscriptRef, int4, list(number(1))), "a subscripted array has subscripts"));
   ExprPtr wrong = number(1);
   wrong->as<scalar::Constant>().value.type = PhysicalType::I64;
   CATCH_CHECK(t.refuses(std::move(wrong), "a constant is of its representation"));
   CATCH_CHECK(t.refuses(makeColumn(t.a, text), "a reference has its column's type"));
   CATCH_CHECK(t.refuses(*Trees::map(Trees::get({t.a}), t.c, t.ref(t.a)), "has its expression's type"));
}

CATCH_TEST_CASE("subqueries give what they are asked for") {
   const auto subquery = [](Trees& t, ColumnId reads) {
      return makeSubquery(SubqueryKind::Scalar, int4, Trees::map(Trees::get({t.b}), t.add("x"), t.ref(reads)), {t.b});
   };
   Trees sound;
   // Correlated with the operator's input.
   CATCH_CHECK(sound.refusal(*Trees::map(Trees::get({sound.a}), sound.add("r"), subquery(sound, sound.a))).empty());
   Trees foreign;
   CATCH_CHECK(foreign.refuses(subquery(foreign, foreign.c), "a column that is read"));
   Trees gone;
   RelPtr map = Trees::map(Trees::get({gone.a}), gone.add("r"), subquery(gone, gone.a));
   CATCH_CHECK(gone.refuses(*map, "subqueries have become joins", {false, true, true}));
   Trees wrong;
   ExprPtr typed = subquery(wrong, wrong.a);
   typed->type = text;
   CATCH_CHECK(wrong.refuses(std::move(typed), "of its column's type"));
   Trees exists;
   ExprPtr test = subquery(exists, exists.a);
   test->as<scalar::Subquery>().kind = SubqueryKind::Exists;
   CATCH_CHECK(exists.refuses(std::move(test), "give a boolean"));
   Trees any;
   ExprPtr in = subquery(any, any.a);
   in->as<scalar::Subquery>() = {SubqueryKind::Any, CompareOp::Eq, Trees::get({any.b}), {}};
   in->type = boolean;
   in->args.push_back(any.ref(any.a));
   CATCH_CHECK(any.refuses(std::move(in), "each argument with one column"));
   Trees types;
   ExprPtr compared = subquery(types, types.a);
   compared->as<scalar::Subquery>().kind = SubqueryKind::Any;
   compared->type = boolean;
   compared->args.push_back(makeNull(text));
   CATCH_CHECK(types.refuses(std::move(compared), "compare values of one type"));
}

CATCH_TEST_CASE("aggregates and windows are of functions that are") {
   Trees t;
   const auto group = [&](const catalog::FunctionInfo* of, const SqlType& type) {
      RelPtr rel = Trees::over(RelKind::GroupBy, Trees::get({t.a}));
      AggregateCall& aggregate = rel->as<op::GroupBy>().aggregates.emplace_back();
      aggregate.function = of;
      aggregate.type = type;
      aggregate.column = t.add("sum", int8);
      aggregate.args.push_back(t.ref(t.a));
      return rel;
   };
   const catalog::FunctionInfo* sum = function("sum", {oid::int4});
   CATCH_CHECK(t.refusal(*group(sum, int8)).empty());
   CATCH_CHECK(t.refuses(*group(nullptr, int8), "an aggregate has a function"));
   CATCH_CHECK(t.refuses(*group(function("upper", {oid::text}), int8), "an aggregate's function is one"));
   CATCH_CHECK(t.refuses(*group(sum, text), "of the aggregate's type"));
   RelPtr star = group(sum, int8);
   star->as<op::GroupBy>().aggregates[0].star = true;
   CATCH_CHECK(t.refuses(*star, "has no arguments"));
   RelPtr filtered = group(sum, int8);
   filtered->as<op::GroupBy>().aggregates[0].filter = number(1);
   CATCH_CHECK(t.refuses(*filtered, "a predicate is boolean"));
   RelPtr sets = group(sum, int8);
   sets->as<op::GroupBy>().groupingSets = {{0}};
   CATCH_CHECK(t.refuses(*sets, "a grouping set names keys"));
   RelPtr grouping = group(sum, int8);
   grouping->as<op::GroupBy>().groupingCalls.push_back({t.add("g"), {3}});
   CATCH_CHECK(t.refuses(*grouping, "GROUPING names keys"));
   RelPtr window = Trees::over(RelKind::Window, Trees::get({t.a}));
   window->as<op::Window>().calls.emplace_back();
   CATCH_CHECK(t.refuses(*window, "a window call has a function"));
   window->as<op::Window>().calls[0].function = function("upper", {oid::text});
   CATCH_CHECK(t.refuses(*window, "of a window function or an aggregate"));
   window->as<op::Window>().spec.start.kind = FrameBoundKind::OffsetPreceding;
   CATCH_CHECK(t.refuses(*window, "the offset that its kind wants"));
   window->as<op::Window>().spec.start.kind = FrameBoundKind::UnboundedFollowing;
   CATCH_CHECK(t.refuses(*window, "starts before the end"));
}

CATCH_TEST_CASE("set operations have one number and type of columns") {
   Trees t;
   const auto both = [&](std::vector<ColumnId> left, std::vector<ColumnId> right, std::vector<ColumnId> out) {
      RelPtr rel = Trees::over(RelKind::SetOp, Trees::get({t.a}));
      rel->inputs.push_back(Trees::get({t.b, t.c}));
      rel->as<op::SetOp>().inputColumns[0] = std::move(left);
      rel->as<op::SetOp>().inputColumns[1] = std::move(right);
      rel->as<op::SetOp>().columns = std::move(out);
      return rel;
   };
   const ColumnId out = t.add("out");
   CATCH_CHECK(t.refusal(*both({t.a}, {t.b}, {out})).empty());
   CATCH_CHECK(t.refuses(*both({t.a}, {t.b, t.c}, {out}), "one number of columns"));
   CATCH_CHECK(t.refuses(*both({t.a}, {t.c}, {out}), "are of one type"));
   CATCH_CHECK(t.refuses(*both({t.b}, {t.b}, {out}), "a column that is read"));
   RelPtr except = both({t.a}, {t.b}, {out});
   except->as<op::SetOp>().kind = SetOpKind::Except;
   CATCH_CHECK(t.refuses(*except, "have become joins", {true, true, false}));
   RelPtr limit = Trees::over(RelKind::Limit, Trees::get({t.a}));
   limit->as<op::Limit>().limit = number(1);
   CATCH_CHECK(t.refuses(*limit, "LIMIT is bigint"));
   limit->as<op::Limit>().limit = bigNumber(1);
   limit->as<op::Limit>().offset = number(1);
   CATCH_CHECK(t.refuses(*limit, "OFFSET is bigint"));
}

CATCH_TEST_CASE("CTEs are defined before they are scanned, and gone after their With") {
   Trees t;
   const ColumnId x = t.add("x"), y = t.add("y");
   const auto with = [&](RelPtr body) { return Trees::with(1, Trees::get({t.a}), {t.a}, std::move(body)); };
   CATCH_CHECK(t.refusal(*with(Trees::cteScan(1, x, t.a)), {x}).empty());
   CATCH_CHECK(t.refuses(*with(Trees::cteScan(2, x, t.a)), "defined before it is scanned"));
   CATCH_CHECK(t.refuses(*with(Trees::cteScan(1, x, t.b)), "a column that is read"));
   CATCH_CHECK(t.refuses(*with(Trees::cteScan(1, t.c, t.a)), "is of the CTE's type"));
   CATCH_CHECK(t.refuses(*Trees::join(JoinKind::Inner, with(Trees::cteScan(1, x, t.a)), Trees::cteScan(1, y, t.a)),
                         "in its With's body"));
   CATCH_CHECK(t.refuses(*Trees::with(1, Trees::get({t.a}), {t.b}, Trees::get({t.c})), "a column that is read"));
   CATCH_CHECK(t.refuses(*Trees::with(1, Trees::get({t.b}), {t.b}, with(Trees::cteScan(1, x, t.a))), "defined once"));
   RelPtr few = with(Trees::cteScan(1, x, t.a));
   few->inputs[0]->as<op::CteScan>().cteColumns.clear();
   CATCH_CHECK(t.refuses(*few, "stands for one of the CTE"));
   auto outside = std::make_unique<Rel>(RelKind::RecursiveScan);
   outside->as<op::CteScan>().cte = 1;
   outside->as<op::CteScan>().columns = {x};
   CATCH_CHECK(t.refuses(*with(std::move(outside)), "inside its recursion"));
   RelPtr recursive = with(Trees::cteScan(1, x, t.a));
   recursive->as<op::With>().ctes[0].recursive = Trees::get({t.b});
   CATCH_CHECK(t.refuses(*recursive, "a recursive term gives its CTE's columns"));
   recursive->as<op::With>().ctes[0].recursive = Trees::get({t.c});
   recursive->as<op::With>().ctes[0].recursiveColumns = {t.c};
   CATCH_CHECK(t.refuses(*recursive, "of the CTE's types"));
}

CATCH_TEST_CASE("DML writes columns of its input") {
   const auto update = [](Trees& t) {
      RelPtr rel = Trees::over(RelKind::Update, Trees::get({t.a, t.b}));
      rel->as<op::Write>().dml = std::make_unique<Dml>();
      rel->as<op::Write>().dml->target = {{t.a, 1}, {t.b, 2}};
      rel->as<op::Write>().dml->rowId = t.a;
      return rel;
   };
   Trees t;
   CATCH_CHECK(t.refusal(*update(t)).empty());
   RelPtr row = update(t);
   row->as<op::Write>().dml->rowId = noColumn;
   CATCH_CHECK(t.refuses(*row, "know the row"));
   RelPtr order = update(t);
   order->as<op::Write>().dml->target[1].attribute = 1;
   CATCH_CHECK(t.refuses(*order, "in order, each once"));
   RelPtr missing = update(t);
   missing->as<op::Write>().dml->target[1].column = t.c;
   CATCH_CHECK(t.refuses(*missing, "a column that is read"));
   RelPtr clause = update(t);
   clause->as<op::Write>().dml->clause = t.b;
   CATCH_CHECK(t.refuses(*clause, "come together"));
   RelPtr check = update(t);
   check->as<op::Write>().dml->checks.emplace_back();
   CATCH_CHECK(t.refuses(*check, "an expression or NOT NULL"));
   check->as<op::Write>().dml->checks[0].expr = number(1);
   CATCH_CHECK(t.refuses(*check, "a predicate is boolean"));
   RelPtr returning = update(t);
   returning->as<op::Write>().dml->returning.push_back({t.c, t.ref(t.a)});
   CATCH_CHECK(t.refuses(*returning, "has its expression's type"));
   RelPtr lock = Trees::over(RelKind::LockRows, Trees::get({t.a}));
   lock->as<op::LockRows>().locks.push_back({{}, t.a});
   CATCH_CHECK(t.refuses(*lock, "a row id is bigint"));
}
