#include <catch2/catch.hpp>
#include <functional>

#include "optimizer/join_order/join_planner.hpp"
#include "optimizer/rewrite/rules.hpp"

// Compares DPhyp with a search of all orders, on graphs of up to six relations. Large graphs must be planned quickly.

using namespace ouzel;
using namespace ouzel::optimizer;

namespace {

const SqlType int8{oid::int8};

class FakeStatistics : public StatisticsProvider {
public:
   std::shared_ptr<const storage::TableStatistics> statistics(const sql::TableRef& table) override {
      auto result = std::make_shared<storage::TableStatistics>();
      result->rowCount = rows.at(table.relation);
      for (int i = 0; i < 70; ++i) {
         storage::ColumnStatistics column;
         column.distinct = std::max(1.0, static_cast<double>(result->rowCount) / (1 + i % 3));
         result->columns.push_back(column);
      }
      return result;
   }
   std::vector<uint64_t> rows;
};

struct Shape {
   uint32_t relations;
   std::vector<std::pair<uint32_t, uint32_t>> edges;
};

/// Inner joins in the order of the relations. Each edge compares different columns.
RelPtr makeTree(const Shape& shape, Query& query) {
   std::vector<std::vector<ColumnId>> columns(shape.relations);
   std::vector<RelPtr> tables;
   for (uint32_t i = 0; i < shape.relations; ++i) {
      auto get = std::make_unique<Rel>(RelKind::Get);
      get->as<op::Get>().table.relation = i;
      for (size_t e = 0; e < shape.edges.size(); ++e) {
         columns[i].push_back(query.newColumn("c", int8, false));
         get->as<op::Get>().columns.push_back({columns[i].back(), static_cast<int16_t>(e + 1)});
      }
      tables.push_back(std::move(get));
   }
   RelPtr tree = std::move(tables[0]);
   for (uint32_t i = 1; i < shape.relations; ++i) {
      std::vector<ExprPtr> conjuncts;
      for (size_t e = 0; e < shape.edges.size(); ++e) {
         const auto [a, b] = shape.edges[e];
         if (std::max(a, b) == i)
            conjuncts.push_back(sql::makeCompare(CompareOp::Eq, query.ref(columns[a][e]), query.ref(columns[b][e])));
      }
      tree = makeJoin(JoinKind::Inner, std::move(tree), std::move(tables[i]),
                      conjuncts.empty() ? nullptr : sql::makeAnd(std::move(conjuncts)));
   }
   return tree;
}

double bruteForce(const JoinGraph& graph, const std::function<JoinPlan(const JoinPlan&, const JoinPlan&)>& combine) {
   const uint32_t n = static_cast<uint32_t>(graph.relations.size());
   std::vector<JoinPlan> best(1u << n);
   const auto toSet = [](uint32_t mask) {
      RelationSet set;
      for (uint32_t i = 0; i < 32; ++i)
         if (mask >> i & 1) set |= RelationSet::single(i);
      return set;
   };
   for (uint32_t mask = 1; mask < best.size(); ++mask) {
      if ((mask & (mask - 1)) == 0) {
         best[mask].relations = toSet(mask);
         best[mask].rows = graph.estimates[static_cast<uint32_t>(__builtin_ctz(mask))].rows;
         best[mask].isValid = true;
         continue;
      }
      for (uint32_t part = (mask - 1) & mask; part; part = (part - 1) & mask) {
         if (!best[part].isValid || !best[mask ^ part].isValid) continue;
         const JoinPlan plan = combine(best[part], best[mask ^ part]);
         if (plan.isValid && (!best[mask].isValid || plan.cost < best[mask].cost)) best[mask] = plan;
      }
   }
   return best.back().cost;
}

} // namespace

CATCH_TEST_CASE("DPhyp finds what trying everything finds") {
   const std::vector<Shape> shapes = {
       {2, {{0, 1}}},
       {4, {{0, 1}, {1, 2}, {2, 3}}},                                 // chain
       {5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}},                         // star
       {6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}},         // cycle
       {5, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}}}, // clique and tail
       {6, {{0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}}},
   };
   for (uint64_t seed = 0; seed < 20; ++seed)
      for (const Shape& shape : shapes) {
         FakeStatistics statistics;
         for (uint32_t i = 0; i < shape.relations; ++i)
            statistics.rows.push_back(10 + (seed * 7919 + i * i * 104'729 + i * seed * 31) % 100'000);
         sql::ColumnTable columns;
         OptimizerContext context;
         context.statistics = &statistics;
         Query query{columns, context, 1};
         Estimator estimator(query);
         JoinGraphBuilder builder(query, estimator);
         const JoinGraph graph = builder.build(makeTree(shape, query));
         JoinPlanner planner(graph, context.settings);
         planner.run(builder.originalOrder());
         const double expected = bruteForce(graph, [&](const JoinPlan& a, const JoinPlan& b) {
            const auto step = planner.step(a.relations, b.relations);
            return step && !step->operators.empty() ? planner.combine(a, b, *step) : JoinPlan();
         });
         CATCH_CHECK(planner.plan(graph.all()).cost == Approx(expected));
      }
}

CATCH_TEST_CASE("the number of pairs is that of the paper") {
   // Moerkotte & Neumann 2006, table 1: connected subgraph pairs of chains, cycles, stars and cliques of 5 relations.
   const std::pair<Shape, uint32_t> cases[] = {
       {{5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}}, 20},
       {{5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}}, 40},
       {{5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}}, 32},
       {{5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}}}, 90},
   };
   for (const auto& [shape, pairs] : cases) {
      FakeStatistics statistics;
      statistics.rows.assign(shape.relations, 100);
      sql::ColumnTable columns;
      OptimizerContext context;
      context.statistics = &statistics;
      Query query{columns, context, 1};
      Estimator estimator(query);
      JoinGraphBuilder builder(query, estimator);
      const JoinGraph graph = builder.build(makeTree(shape, query));
      JoinPlanner planner(graph, context.settings);
      planner.run(builder.originalOrder());
      CATCH_CHECK(planner.pairsSeen() == pairs);
   }
}

CATCH_TEST_CASE("sixty-four tables in a chain, listed in a bad order, stay within the budget of pairs") {
   Shape shape{64, {}};
   // FROM lists the relations by number; neighbours in the chain are 23 apart.
   for (uint32_t i = 0; i + 1 < 64; ++i)
      shape.edges.emplace_back(i * 23 % 64, (i + 1) * 23 % 64);
   FakeStatistics statistics;
   statistics.rows.assign(64, 10);
   sql::ColumnTable columns;
   OptimizerContext context;
   context.statistics = &statistics;
   Query query{columns, context, 1};
   {
      Estimator estimator(query);
      JoinGraphBuilder builder(query, estimator);
      const JoinGraph graph = builder.build(makeTree(shape, query));
      JoinPlanner planner(graph, context.settings);
      planner.run(builder.originalOrder());
      CATCH_CHECK(planner.pairsSeen() == context.settings.joinPairBudget + 1); // the chain has 43,680 pairs
   }
   RelPtr tree = makeTree(shape, query);
   std::vector<sql::OutputColumn> output{{"c", outputColumns(*tree)[0], int8}};
   rewrite(tree, output, query);
   // The plan has no cross product.
   forEachRel(*tree, [](Rel& rel) {
      if (rel.kind == RelKind::Join) CATCH_CHECK(rel.as<sql::op::Join>().predicate != nullptr);
   });
}
