#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sql/algebra/evaluator.hpp"
#include "sql/algebra/rel.hpp"
#include "sql/plan/plan.hpp"
#include "storage/block/statistics.hpp"

// Inputs of one optimisation other than the query: statistics of tables, the evaluator of constants, settings.

namespace ouzel::optimizer {

struct ExtendedStatistics; // extended_statistics.hpp

/// Statistics and keys of stored tables. engine/ implements the interface over storage and catalog, for one snapshot.
/// Invariant: bounds hold for every row that the plan reads, because the optimizer omits overflow checks where bounds
/// exclude an overflow.
class StatisticsProvider {
public:
   virtual ~StatisticsProvider() = default;
   /// Column n of the result is attribute n + 1. Null: no statistics.
   virtual std::shared_ptr<const storage::TableStatistics> statistics(const sql::TableRef& table) = 0;
   /// Sets of attributes that no two rows share at any moment (primary key, unique constraints over NOT NULL columns;
   /// no deferrable ones).
   virtual std::vector<std::vector<int16_t>> uniqueKeys(const sql::TableRef&) { return {}; }
   /// How many rows a virtual table of the catalog is likely to have.
   virtual double virtualRows(const sql::TableRef&) { return 500; }
   /// What ANALYZE has found of several attributes together and of expressions; null: nothing.
   virtual std::shared_ptr<const ExtendedStatistics> extended(const sql::TableRef&) { return nullptr; }
   /// What the documents of an attribute have at a path. Holds for every row that the plan reads, if it is exact.
   virtual storage::PathSummary pathSummary(const sql::TableRef&, int16_t, std::span<const std::string>) {
      storage::PathSummary unknown;
      unknown.isExact = false;
      return unknown;
   }
   /// Keys and indexes for lookups; unique indexes come first.
   virtual std::vector<sql::plan::IndexUse> indexes(const sql::TableRef&) { return {}; }
};

/// Switches, mostly for tests. With `enabled` false only the necessary steps run: unnesting and plain lowering.
struct OptimizerSettings {
   bool enabled = true;
   bool joinOrder = true;
   bool narrowNumerics = true; ///< scaled I64/I128 arithmetic where bounds allow it
   bool runtimeFilters = true;
   bool shareSubexpressions = true;
   uint32_t joinPairBudget = 10'000; ///< csg-cmp pairs that DPhyp may visit before greedy ordering runs instead
   uint64_t seed = 0;                ///< tests: ≠ 0 chooses random valid join orders, and groups early where it can
};

struct OptimizerContext {
   StatisticsProvider* statistics = nullptr; ///< null: estimates use defaults
   sql::Evaluator* evaluator = nullptr;      ///< null: no constant folding, no samples
   OptimizerSettings settings;
   uint64_t memoryLimit = 0;
   uint32_t threads = 1;
   /// The plan may run several times, under later snapshots, with values in place of its Parameters.
   bool forReuse = false;
};

} // namespace ouzel::optimizer
