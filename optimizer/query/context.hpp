#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sql/algebra/evaluator.hpp"
#include "sql/algebra/rel.hpp"
#include "sql/plan/plan.hpp"
#include "storage/block/statistics.hpp"

// What surrounds one optimisation: statistics of the tables, constant folding, settings.

namespace ouzel::optimizer {

/// What the optimizer may know of stored tables; implemented by engine/ over storage and catalog for one snapshot.
/// Bounds must hold for every row the plan will see: numeric overflow checks are dropped because of them.
class StatisticsProvider {
public:
   virtual ~StatisticsProvider() = default;
   /// Column n of the result is attribute n + 1. Null: nothing is known.
   virtual std::shared_ptr<const storage::TableStatistics> statistics(const sql::TableRef& table) = 0;
   /// Sets of attributes without duplicates (primary key, unique constraints over NOT NULL columns).
   virtual std::vector<std::vector<int16_t>> uniqueKeys(const sql::TableRef&) { return {}; }
   /// Keys and indexes by which rows can be looked up; unique ones first.
   virtual std::vector<sql::plan::IndexUse> indexes(const sql::TableRef&) { return {}; }
};

/// Switches, mostly for tests. With `enabled` false only what is needed to run is done: unnesting and plain lowering.
struct OptimizerSettings {
   bool enabled = true;
   bool joinOrder = true;
   bool narrowNumerics = true; ///< scaled I64/I128 arithmetic where bounds allow
   bool runtimeFilters = true;
   bool shareSubexpressions = true;
   uint32_t joinPairBudget = 10'000; ///< csg-cmp pairs DPhyp may look at before the greedy order takes over
   uint64_t seed = 0;                ///< tests: ≠ 0 picks random but valid join orders
};

struct OptimizerContext {
   StatisticsProvider* statistics = nullptr; ///< null: defaults
   sql::Evaluator* evaluator = nullptr;      ///< null: no folding, no sampling
   OptimizerSettings settings;
   uint64_t memoryLimit = 0;
   uint32_t threads = 1;
   /// The plan will run more than once: under later snapshots, and with values put in the place of its Parameters.
   bool forReuse = false;
};

} // namespace ouzel::optimizer
