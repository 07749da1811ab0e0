#include <catch2/catch.hpp>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/rewrite/rules.hpp"
#include "sql/plan/verify.hpp"
#include "tests/unit/optimizer/interpreter.hpp"
#include "tests/unit/optimizer/plan_interpreter.hpp"
#include "tests/unit/optimizer/random_query.hpp"

// Random queries give the same rows before and after every rewrite.

using namespace ouzel;
using namespace ouzel::optimizer;

namespace {

/// Small tables with many repetitions and NULLs; the first column is never NULL.
/// `isKeyed`: the first column is unique.
test::Tables makeTables(uint64_t seed, bool isKeyed = false) {
   test::Tables tables;
   uint64_t state = seed * 77 + 5;
   const auto chance = [&state](uint32_t below) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      return static_cast<uint32_t>((state >> 33) % below);
   };
   for (Oid table = 1; table <= 3; ++table) {
      auto& rows = tables[table];
      for (uint32_t i = 0; i < chance(6); ++i) {
         std::vector<test::Cell> row;
         for (int c = 0; c < 3; ++c)
            row.push_back(c == 0 && isKeyed         ? test::Cell(i)
                          : c > 0 && chance(4) == 0 ? test::Cell()
                                                    : test::Cell(chance(4)));
         rows.push_back(std::move(row));
      }
   }
   return tables;
}

std::vector<ColumnId> outputOf(const sql::BoundQuery& query) {
   std::vector<ColumnId> columns;
   for (const sql::OutputColumn& column : query.output)
      columns.push_back(column.column);
   return columns;
}

/// Claims that tables are large, so that no rewrite is skipped for small ones.
class LargeTables : public StatisticsProvider {
public:
   explicit LargeTables(bool isKeyed = false) : isKeyed_(isKeyed) {}
   std::vector<std::vector<int16_t>> uniqueKeys(const sql::TableRef&) override {
      return isKeyed_ ? std::vector<std::vector<int16_t>>{{1}} : std::vector<std::vector<int16_t>>{};
   }
   std::shared_ptr<const storage::TableStatistics> statistics(const sql::TableRef&) override {
      auto result = std::make_shared<storage::TableStatistics>();
      result->rowCount = 100'000;
      for (int i = 0; i < 3; ++i) {
         storage::ColumnStatistics column;
         column.distinct = 1000;
         column.nullFraction = 0.1;
         result->columns.push_back(column);
      }
      return result;
   }

private:
   bool isKeyed_;
};

bool hasDependence(Rel& root) {
   bool found = false;
   forEachRel(root, [&found](Rel& rel) {
      const auto* join = rel.getIf<sql::op::Join>();
      found = found || (join && join->dependent);
      forEachOwnExpr(static_cast<const Rel&>(rel), [&found](const Expr& expr) {
         forEachExpr(expr, [&found](const Expr& e) {
            found = found || e.kind == ExprKind::Subquery;
            return true;
         });
      });
   });
   return found;
}

void checkQuery(sql::BoundQuery query, uint64_t seed, const OptimizerSettings& settings, bool isKeyed = false) {
   const test::Tables tables = makeTables(seed, isKeyed);
   const auto expected = test::canonical(test::Interpreter(tables).run(*query.root), outputOf(query));
   const std::string before = sql::toString(*query.root, query.columns);
   LargeTables statistics(isKeyed);
   OptimizerContext context;
   context.settings = settings;
   if (seed % 2) context.statistics = &statistics;
   Query rewriting{query.columns, context, 1};
   RelPtr root = std::move(query.root);
   CATCH_INFO("seed " << seed << "\n" << before);
   try {
      rewrite(root, query.output, rewriting);
   } catch (const SqlError& error) {
      CATCH_FAIL(error.what());
   }
   const std::string after = sql::toString(*root, query.columns);
   CATCH_INFO(after);
   CATCH_REQUIRE_FALSE(hasDependence(*root));
   CATCH_REQUIRE(freeColumns(*root).empty());
   std::vector<std::vector<test::Cell>> actual;
   try {
      actual = test::canonical(test::Interpreter(tables).run(*root), outputOf(query));
   } catch (const std::exception& error) {
      CATCH_FAIL(error.what());
   }
   CATCH_REQUIRE(actual == expected);
}

void checkPlan(sql::BoundQuery query, uint64_t seed, const OptimizerSettings& settings) {
   const test::Tables tables = makeTables(seed);
   const std::vector<ColumnId> written = outputOf(query);
   const auto expected = test::canonical(test::Interpreter(tables).run(*query.root), written);
   CATCH_INFO("seed " << seed << "\n" << sql::toString(*query.root, query.columns));
   LargeTables statistics;
   OptimizerContext context;
   context.settings = settings;
   if (seed % 2) context.statistics = &statistics;
   std::vector<std::vector<test::Cell>> actual;
   try {
      const std::unique_ptr<sql::plan::Plan> plan = optimize(std::move(query), context);
      sql::plan::verify(*plan);
      std::vector<ColumnId> output;
      for (const sql::OutputColumn& column : plan->output)
         output.push_back(column.column);
      actual = test::canonical(test::PlanInterpreter(tables).run(*plan->root), output);
   } catch (const std::exception& error) {
      CATCH_FAIL(error.what());
   }
   CATCH_REQUIRE(actual == expected);
}

} // namespace

CATCH_TEST_CASE("plans mean what the queries mean") {
   for (uint64_t seed = 1; seed <= 4000; ++seed) {
      OptimizerSettings settings;
      settings.enabled = seed % 4 != 0;
      checkPlan(test::RandomQuery(seed).make(static_cast<uint32_t>(1 + seed % 4)), seed, settings);
   }
   for (uint64_t seed = 1; seed <= 2000; ++seed) {
      OptimizerSettings settings;
      settings.seed = seed % 3;
      checkPlan(test::RandomQuery(seed).makeJoins(static_cast<uint32_t>(2 + seed % 5), seed % 3 != 0), seed, settings);
   }
}

CATCH_TEST_CASE("unnesting keeps results") {
   OptimizerSettings settings;
   settings.enabled = false;
   for (uint64_t seed = 1; seed <= 3000; ++seed) {
      settings.seed = seed % 2;
      checkQuery(test::RandomQuery(seed).make(static_cast<uint32_t>(1 + seed % 4)), seed, settings);
   }
}

CATCH_TEST_CASE("all rewrites keep results") {
   OptimizerSettings settings;
   for (uint64_t seed = 1; seed <= 3000; ++seed)
      checkQuery(test::RandomQuery(seed).make(static_cast<uint32_t>(1 + seed % 4)), seed, settings);
}

CATCH_TEST_CASE("every join order the graph allows gives the same rows") {
   for (uint64_t seed = 1; seed <= 2000; ++seed)
      for (uint64_t order = 0; order < 3; ++order) {
         OptimizerSettings settings;
         settings.seed = order;
         checkQuery(test::RandomQuery(seed).makeJoins(static_cast<uint32_t>(2 + seed % 5), seed % 3 != 0), seed,
                    settings);
      }
}

CATCH_TEST_CASE("groups before joins are the groups after them") {
   OptimizerSettings settings;
   settings.seed = 1;
   for (uint64_t seed = 1; seed <= 4000; ++seed)
      checkQuery(test::RandomQuery(seed).makeGroupedJoins(static_cast<uint32_t>(2 + seed % 4)), seed, settings,
                 seed % 4 == 3);
}

CATCH_TEST_CASE("what may fail does not pass a barrier") {
   // Rows of a table that a filter keeps, a barrier, and above it a predicate that cannot fail (c = 1) and one that can
   // (c + c = 2 may overflow).
   using namespace sql;
   const auto seen = [](const Rel& root) { // the predicates at or below the barrier
      std::vector<std::string> texts;
      forEachRel(const_cast<Rel&>(root), [&](Rel& rel) {
         if (const auto* get = rel.getIf<op::Get>())
            for (const Expr* conjunct : conjunctList(get->predicate.get()))
               texts.push_back(mayFail(*conjunct) ? "fails" : "safe");
      });
      return texts;
   };
   for (const bool withFailing : {false, true}) {
      BoundQuery query;
      const SqlType int8{oid::int8, -1, invalidOid};
      ColumnInfo info;
      info.name = "c";
      info.type = int8;
      info.repr = storedRepresentation(int8);
      const ColumnId c = query.columns.add(std::move(info));
      op::Get get;
      get.table.relation = 1;
      get.columns.push_back({c, 1});
      RelPtr rel = makeRel(RelKind::Get, std::move(get));
      rel = makeRel(RelKind::Barrier, op::Barrier{}, std::move(rel));
      const auto is = [&](ExprPtr value, int64_t number) {
         return makeCompare(CompareOp::Eq, std::move(value), makeInt8(number));
      };
      std::vector<ExprPtr> conjuncts;
      conjuncts.push_back(is(makeColumn(c, int8), 1));
      if (withFailing) {
         constexpr Oid types[] = {oid::int8, oid::int8};
         std::vector<ExprPtr> args;
         args.push_back(makeColumn(c, int8));
         args.push_back(makeColumn(c, int8));
         conjuncts.push_back(is(makeCall(catalog::builtins().findFunction("int8pl", types), int8, std::move(args)), 2));
      }
      rel = makeSelect(std::move(rel), std::move(conjuncts));
      OptimizerContext context;
      Query rewritten{query.columns, context, 1};
      pushDown(rel, rewritten);
      CATCH_CHECK(seen(*rel) == std::vector<std::string>{"safe"});
      CATCH_CHECK((rel->kind == RelKind::Get) == !withFailing); // the barrier goes when all have passed
   }
}
