#pragma once
#include <unordered_map>
#include <vector>

#include "optimizer/query/query.hpp"

// How many rows come out of what. Sampled evaluation of predicates first, distinct counts and bounds second, magic
// numbers last. Estimates never change results, only speed.

namespace ouzel::optimizer {

/// What is believed of one column in the output of one operator.
struct ColumnEstimate {
   double distinct = 200;
   double baseDistinct = 200; ///< in the stored table, before any predicate
   double baseRows = 1e3;     ///< of that table
   double nullFraction = 0;
   bool isKnown = false;    ///< comes from statistics, not from a default
   double min = 0, max = 0; ///< numbers, dates, timestamps as doubles in units of the stored representation
   bool hasBounds = false;
   double averageWidth = 8;
};

struct RelEstimate {
   double rows = 1;
   std::unordered_map<ColumnId, ColumnEstimate> columns;

   const ColumnEstimate& column(ColumnId id) const;
   double distinct(ColumnId id) const;
};

/// Estimates operators of one query; remembers them by address until forget().
class Estimator {
public:
   explicit Estimator(Query& query) : query_(query) {}

   const RelEstimate& estimate(const Rel& rel);
   double rows(const Rel& rel) { return estimate(rel).rows; }
   /// Operators were rewritten: their addresses mean nothing any more.
   void forget() { known_.clear(); }
   /// Columns of a CTE, for its scans.
   void setCte(uint32_t cte, const RelEstimate& estimate) { ctes_[cte] = estimate; }

   /// Fraction of the rows of `input` for which the predicate is true.
   double selectivity(const Expr& predicate, const RelEstimate& input);
   /// Distinct values left when `rows` of `total` rows with `distinct` values are drawn.
   static double distinctAfter(double distinct, double total, double rows);
   /// Fraction of the cross product that conjuncts of a join predicate leave.
   double joinSelectivity(const std::vector<const Expr*>& conjuncts, const RelEstimate& left, const RelEstimate& right);
   /// Groups that `keys` form in `input`.
   double groups(const RelEstimate& input, const std::vector<const Expr*>& keys);

private:
   RelEstimate compute(const Rel& rel);
   RelEstimate get(const Rel& rel);
   RelEstimate join(const Rel& rel);
   RelEstimate groupBy(const Rel& rel);
   /// Fraction of the stored sample for which the predicate holds; negative: no sample, or nothing matched.
   double sampled(const Rel& get, const storage::TableStatistics& statistics, const Expr& predicate, double& floor);
   double comparison(const Expr& expr, const RelEstimate& input);
   double equality(const Expr& lhs, const Expr& rhs, const RelEstimate& input);
   double distinctOf(const Expr& expr, const RelEstimate& input);
   static void scaleTo(RelEstimate& estimate, double rows);

   Query& query_;
   std::unordered_map<const Rel*, RelEstimate> known_;
   std::unordered_map<uint32_t, RelEstimate> ctes_;
};

} // namespace ouzel::optimizer
