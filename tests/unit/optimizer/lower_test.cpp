#include <catch2/catch.hpp>

#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"
#include "optimizer/optimizer.hpp"
#include "sql/algebra/rel.hpp"
#include "sql/plan/verify.hpp"
#include "tests/unit/optimizer/plan_interpreter.hpp"

// Decisions of the lowering: representations, build sides, runtime filters, limits.

using namespace ouzel;
using namespace ouzel::sql;

namespace {

const SqlType int4{oid::int4}, int8{oid::int8}, numeric{oid::numeric};
const SqlType money{oid::numeric, numericTypmod(15, 2)};

class FakeStatistics : public optimizer::StatisticsProvider {
public:
   std::shared_ptr<const storage::TableStatistics> statistics(const TableRef& table) override {
      const auto it = tables.find(table.relation);
      return it == tables.end() ? nullptr : it->second;
   }
   storage::TableStatistics& add(Oid relation, uint64_t rows) {
      auto table = std::make_shared<storage::TableStatistics>();
      table->rowCount = rows;
      tables[relation] = table;
      return *table;
   }
   std::map<Oid, std::shared_ptr<storage::TableStatistics>> tables;
};

storage::ColumnStatistics range(PhysicalType type, int64_t low, int64_t high, double distinct) {
   storage::ColumnStatistics column;
   column.min = Value::integer(type, low);
   column.max = Value::integer(type, high);
   column.distinct = distinct;
   return column;
}

ExprPtr decimalConstant(int64_t value, int32_t scale) {
   const StringView bytes = decimal::fromInt64(value, scale);
   ExprPtr expr = makeConstant(numeric, Value::string(std::string(bytes.data(), bytes.size()), PhysicalType::Decimal));
   return expr;
}

ExprPtr call(const char* name, ExprPtr a, ExprPtr b) {
   const Oid types[2] = {oid::numeric, oid::numeric};
   std::vector<ExprPtr> args;
   args.push_back(std::move(a));
   args.push_back(std::move(b));
   return makeCall(catalog::builtins().findFunction(name, types), numeric, std::move(args));
}

ColumnId add(BoundQuery& query, const char* name, const SqlType& type) {
   ColumnInfo info;
   info.name = name;
   info.type = type;
   info.repr = storedRepresentation(type);
   info.nullable = false;
   return query.columns.add(std::move(info));
}

RelPtr get(Oid relation, std::vector<ColumnId> columns) {
   auto rel = std::make_unique<Rel>(RelKind::Get);
   rel->as<op::Get>().table.relation = relation;
   rel->as<op::Get>().table.name = "t" + std::to_string(relation);
   for (size_t i = 0; i < columns.size(); ++i)
      rel->as<op::Get>().columns.push_back({columns[i], static_cast<int16_t>(i + 1)});
   return rel;
}

AggregateCall sumOf(BoundQuery& query, ExprPtr arg) {
   AggregateCall result;
   const Oid type = arg->type.oid;
   result.function = catalog::builtins().findFunction("sum", std::span<const Oid>(&type, 1));
   result.type = numeric;
   result.column = add(query, "sum", numeric);
   query.output.push_back({"sum", result.column, numeric});
   result.args.push_back(std::move(arg));
   return result;
}

const plan::Node* find(const plan::Node& node, plan::NodeKind kind) {
   if (node.kind == kind) return &node;
   for (const plan::NodePtr& child : node.children)
      if (const plan::Node* found = find(*child, kind)) return found;
   return nullptr;
}

std::unique_ptr<plan::Plan> run(BoundQuery query, FakeStatistics& statistics) {
   optimizer::OptimizerContext context;
   context.statistics = &statistics;
   auto result = optimizer::optimize(std::move(query), context);
   sql::plan::verify(*result);
   return result;
}

} // namespace

CATCH_TEST_CASE("sums of products run in scaled integers where bounds allow") {
   FakeStatistics statistics;
   storage::TableStatistics& lineitem = statistics.add(1, 6'000'000);
   lineitem.columns.push_back(range(PhysicalType::I64, 90'000, 10'500'000, 900'000)); // price
   lineitem.columns.push_back(range(PhysicalType::I64, 0, 10, 11));                   // discount
   lineitem.columns.push_back(range(PhysicalType::I64, 0, 8, 9));                     // tax
   BoundQuery query;
   const ColumnId price = add(query, "price", money), discount = add(query, "discount", money),
                  tax = add(query, "tax", money);
   const auto discounted = [&] {
      return call("numeric_mul", makeColumn(price, money),
                  call("numeric_sub", decimalConstant(1, 0), makeColumn(discount, money)));
   };
   auto group = std::make_unique<Rel>(RelKind::GroupBy);
   group->inputs.push_back(get(1, {price, discount, tax}));
   group->as<op::GroupBy>().aggregates.push_back(sumOf(query, discounted()));
   group->as<op::GroupBy>().aggregates.push_back(sumOf(
       query, call("numeric_mul", discounted(), call("numeric_add", decimalConstant(1, 0), makeColumn(tax, money)))));
   query.root = std::move(group);
   const auto result = run(std::move(query), statistics);
   CATCH_CHECK(result->boundToSnapshot);
   CATCH_REQUIRE(result->root->kind == plan::NodeKind::Aggregate);
   const auto& aggregate = result->root->as<plan::Aggregate>();
   CATCH_CHECK(aggregate.aggregates[0].args[0]->repr == Representation{PhysicalType::I64, 4});
   CATCH_CHECK(aggregate.aggregates[1].args[0]->repr == Representation{PhysicalType::I64, 6});
   CATCH_CHECK(result->columns[aggregate.aggregates[1].column].repr == Representation{PhysicalType::I128, 6});
   // The product that both sums read is computed once, below.
   CATCH_CHECK(aggregate.aggregates[0].args[0]->kind == ExprKind::Column);
   const plan::Node* project = find(*result->root, plan::NodeKind::Project);
   CATCH_REQUIRE(project);
   CATCH_CHECK(project->as<plan::Project>().computed.size() == 1);
}

CATCH_TEST_CASE("without bounds products widen, and fall back to Decimal") {
   FakeStatistics statistics;
   BoundQuery query;
   const SqlType wide{oid::numeric, numericTypmod(38, 2)};
   const ColumnId a = add(query, "a", money), b = add(query, "b", money), c = add(query, "c", wide);
   auto group = std::make_unique<Rel>(RelKind::GroupBy);
   group->inputs.push_back(get(1, {a, b, c}));
   group->as<op::GroupBy>().aggregates.push_back(
       sumOf(query, call("numeric_mul", makeColumn(a, money), makeColumn(b, money))));
   group->as<op::GroupBy>().aggregates.push_back(
       sumOf(query, call("numeric_mul", makeColumn(a, money), makeColumn(c, wide))));
   query.root = std::move(group);
   const auto result = run(std::move(query), statistics);
   CATCH_CHECK(result->root->as<plan::Aggregate>().aggregates[0].args[0]->repr.physical !=
               PhysicalType::I64); // 10^30 fits 128 bits, sums may not
   CATCH_CHECK(result->root->as<plan::Aggregate>().aggregates[1].args[0]->repr.physical == PhysicalType::Decimal);
}

CATCH_TEST_CASE("comparisons bring constants to the column's scale") {
   FakeStatistics statistics;
   BoundQuery query;
   const ColumnId quantity = add(query, "quantity", money);
   auto select = std::make_unique<Rel>(RelKind::Select);
   select->inputs.push_back(get(1, {quantity}));
   select->as<op::Select>().predicate = makeCompare(CompareOp::Lt, makeColumn(quantity, money), decimalConstant(24, 0));
   query.root = std::move(select);
   query.output.push_back({"quantity", quantity, money});
   const auto result = run(std::move(query), statistics);
   CATCH_REQUIRE(result->root->kind == plan::NodeKind::TableScan);
   const Expr& predicate = *result->root->as<plan::Scan>().predicates.at(0);
   CATCH_CHECK(predicate.args[0]->kind == ExprKind::Column);
   CATCH_CHECK(predicate.args[1]->repr == Representation{PhysicalType::I64, 2});
   CATCH_CHECK(knownValue(*predicate.args[1])->i64 == 2400);
}

CATCH_TEST_CASE("joins build the smaller side and filter the scan of the other") {
   FakeStatistics statistics;
   statistics.add(1, 1'000'000).columns.push_back(range(PhysicalType::I32, 0, 1000, 1000));
   statistics.add(2, 1000).columns.push_back(range(PhysicalType::I32, 0, 1000, 1000));
   for (const JoinKind kind : {JoinKind::Inner, JoinKind::Semi, JoinKind::Anti, JoinKind::Left}) {
      BoundQuery query;
      const ColumnId small = add(query, "small", int4), large = add(query, "large", int4);
      auto join = std::make_unique<Rel>(RelKind::Join);
      join->as<op::Join>().kind = kind;
      join->inputs.push_back(get(2, {small}));
      join->inputs.push_back(get(1, {large}));
      join->as<op::Join>().predicate = makeCompare(CompareOp::Eq, makeColumn(small, int4), makeColumn(large, int4));
      query.root = std::move(join);
      query.output.push_back({"small", small, int4});
      const auto result = run(std::move(query), statistics);
      const plan::Node& node = *result->root;
      CATCH_REQUIRE(node.kind == plan::NodeKind::HashJoin);
      CATCH_CHECK(node.children[1]->as<plan::Scan>().table.name == "t2");
      const JoinKind expected = kind == JoinKind::Semi   ? JoinKind::RightSemi
                                : kind == JoinKind::Anti ? JoinKind::RightAnti
                                : kind == JoinKind::Left ? JoinKind::Right
                                                         : JoinKind::Inner;
      CATCH_CHECK(node.as<plan::Join>().kind == expected);
      CATCH_CHECK(node.children[0]->as<plan::TableScan>().runtimeFilters.size() == 1);
      CATCH_CHECK(result->runtimeFilterCount == 1);
   }
}

CATCH_TEST_CASE("a limit over a projection of a sort is a top-n") {
   FakeStatistics statistics;
   BoundQuery query;
   const ColumnId a = add(query, "a", int4), b = add(query, "b", int4);
   auto sort = std::make_unique<Rel>(RelKind::Sort);
   sort->inputs.push_back(get(1, {a, b}));
   sort->as<op::Sort>().keys.push_back({makeColumn(b, int4), true, true});
   auto limit = std::make_unique<Rel>(RelKind::Limit);
   limit->as<op::Limit>().limit = makeConstant(int8, Value::integer(PhysicalType::I64, 10));
   limit->inputs.push_back(std::move(sort));
   query.root = std::move(limit);
   query.output.push_back({"a", a, int4});
   const auto result = run(std::move(query), statistics);
   CATCH_CHECK(result->root->kind == plan::NodeKind::TopN);
   CATCH_CHECK(result->root->output == std::vector<ColumnId>{a});
}

CATCH_TEST_CASE("casts of all rows of VALUES run in a projection") {
   FakeStatistics statistics;
   BoundQuery query;
   const ColumnId a = add(query, "a", int8);
   auto values = std::make_unique<Rel>(RelKind::Values);
   values->as<op::Values>().columns = {a};
   const Oid from = oid::int4;
   for (int i = 0; i < 10; ++i) {
      std::vector<ExprPtr> args;
      args.push_back(makeConstant(int4, Value::integer(PhysicalType::I32, i)));
      values->as<op::Values>().rows.emplace_back();
      if (i == 5)
         values->as<op::Values>().rows.back().push_back(makeNull(int8));
      else
         values->as<op::Values>().rows.back().push_back(
             makeCall(catalog::builtins().findFunction("int8", std::span<const Oid>(&from, 1)), int8, std::move(args)));
   }
   query.root = std::move(values);
   query.output.push_back({"a", a, int8});
   const auto result = run(std::move(query), statistics);
   CATCH_REQUIRE(result->root->kind == plan::NodeKind::Project);
   CATCH_CHECK(result->root->as<plan::Project>().computed[0].expr->kind == ExprKind::Call);
   const auto& rows = result->root->children[0]->as<plan::Values>().rows;
   CATCH_CHECK(rows[0][0]->kind == ExprKind::Constant);
   CATCH_CHECK(rows[5][0]->repr.physical == PhysicalType::I32);
}
