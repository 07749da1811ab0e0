#pragma once
#include <unordered_map>
#include <vector>

#include "optimizer/cardinality/extended.hpp"
#include "optimizer/query/query.hpp"

// Estimates how many rows an operator gives. The estimator first evaluates predicates on a sample; without a sample it
// uses distinct counts and bounds; without those it uses fixed fractions. Estimates change only speed, never results.

namespace ouzel::optimizer {

struct RelEstimate {
   double rows = 1;
   std::unordered_map<ColumnId, ColumnEstimate> columns;

   const ColumnEstimate& column(ColumnId id) const;
   double distinct(ColumnId id) const;
};

/// Estimates the operators of one query. Caches estimates by the operators' addresses until forget(), so the tree must
/// not change in between. One per query, on one thread.
class Estimator {
public:
   explicit Estimator(Query& query) : query_(query) {}

   const RelEstimate& estimate(const Rel& rel);
   double rows(const Rel& rel) { return estimate(rel).rows; }
   /// Empties the cache. REQUIRED after operators were rewritten, since addresses may be reused.
   void forget() { known_.clear(); }
   /// Sets the estimate of a CTE, for its scans.
   void setCte(uint32_t cte, const RelEstimate& estimate) { ctes_[cte] = estimate; }

   /// Fraction of the rows of `input` for which the predicate is true.
   double selectivity(const Expr& predicate, const RelEstimate& input);
   /// Expected number of distinct values in `rows` rows that are drawn from `total` rows with `distinct` values.
   static double distinctAfter(double distinct, double total, double rows);
   /// Fraction of the cross product for which all conjuncts of a join predicate are true.
   double joinSelectivity(const std::vector<const Expr*>& conjuncts, const RelEstimate& left, const RelEstimate& right);
   /// Number of groups that `keys` form in `input`.
   double groups(const RelEstimate& input, const std::vector<const Expr*>& keys);

private:
   RelEstimate compute(const Rel& rel);
   RelEstimate get(const op::Get& get);
   RelEstimate getColumns(const op::Get& get);
   void setKeysDistinct(const op::Get& get, RelEstimate& estimate);
   bool findsOneRow(const op::Get& get) const;
   RelEstimate join(const Rel& rel);
   static double matchedFraction(const Expr* predicate, const RelEstimate& left, const RelEstimate& right,
                                 double matches);
   RelEstimate groupBy(const Rel& rel);
   double reconciled(double fraction, uint32_t sampleRows, const Expr& predicate, const RelEstimate& rows);
   double reconciledWithNone(double none, double even, const Expr& predicate, const RelEstimate& rows);
   static bool isPlainlyCompared(const Expr& predicate, const RelEstimate& rows, bool& isOfOne);
   /// Fraction of the stored sample for which the predicate is true; negative: no sample, or no row matches. In the
   /// second case `floor` becomes an upper bound for the fraction.
   double sampled(const op::Get& get, const storage::TableStatistics& statistics, const Expr& predicate, double& floor);
   static double narrowPaths(const op::Get& get, RelEstimate& rows);
   double comparison(const Expr& expr, const RelEstimate& input);
   double equality(const Expr& lhs, const Expr& rhs, const RelEstimate& input);
   double distinctOf(const Expr& expr, const RelEstimate& input);
   static void scaleTo(RelEstimate& estimate, double rows);

   Query& query_;
   std::unordered_map<const Rel*, RelEstimate> known_;
   std::unordered_map<uint32_t, RelEstimate> ctes_;
   ExtendedEstimates extended_;
};

} // namespace ouzel::optimizer
