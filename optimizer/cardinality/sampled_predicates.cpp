#include <algorithm>
#include <cmath>

#include "common/error/sql_error.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/cardinality/predicates.hpp"
#include "optimizer/cardinality/samples.hpp"
#include "optimizer/query/expr_lowering.hpp"
#include "optimizer/query/not_null.hpp"

// How many rows of a sample pass a predicate, and what follows for the table if these are few.

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr double sampleHitsEnough = 64;       ///< so many matches of a sample say how many rows match
constexpr uint64_t sampleTableRowsMin = 2000; ///< for smaller tables no sample is evaluated

/// Whether the conjunct compares a column with constants, so that distinct values and bounds say how many rows pass if
/// values are spread evenly. Gives the column.
ColumnId plainlyCompared(const Expr& conjunct, const RelEstimate& rows) {
   const bool isComparison = conjunct.kind == ExprKind::Compare || conjunct.kind == ExprKind::InList;
   if (!isComparison || columnOf(*conjunct.args[0]) == noColumn) return noColumn;
   for (size_t i = 1; i < conjunct.args.size(); ++i)
      if (!knownValue(*conjunct.args[i])) return noColumn;
   const ColumnEstimate& column = rows.column(columnOf(*conjunct.args[0]));
   const bool isRange = conjunct.kind == ExprKind::Compare && !isEquality(conjunct);
   return column.isKnown && (!isRange || column.hasBounds) ? columnOf(*conjunct.args[0]) : noColumn;
}

} // namespace

/// Whether distinct values and bounds say how many rows pass. `isOfOne`: all conjuncts compare one column.
bool Estimator::isPlainlyCompared(const Expr& predicate, const RelEstimate& rows, bool& isOfOne) {
   ColumnId first = noColumn;
   isOfOne = true;
   for (const Expr* conjunct : conjunctList(&predicate)) {
      const ColumnId column = plainlyCompared(*conjunct, rows);
      if (column == noColumn) return false;
      if (first == noColumn) first = column;
      isOfOne = isOfOne && column == first;
   }
   return true;
}

/// What a few matches in a sample and even distribution say together. One match more or less is much where there are
/// few. Even distribution says more, as long as the sample does not refute it.
double Estimator::reconciled(double fraction, uint32_t sampleRows, const Expr& predicate, const RelEstimate& rows) {
   const double hits = fraction * sampleRows;
   if (hits >= sampleHitsEnough) return fraction;
   bool isOfOne = false;
   if (!isPlainlyCompared(predicate, rows, isOfOne)) return fraction;
   // The number of matches is distributed after Poisson: these are 2.5 standard deviations.
   const double spread = 2.5 * std::sqrt(hits), even = selectivity(predicate, rows), expected = even * sampleRows;
   if (expected < std::max(hits / 5, hits - spread) || expected > hits + spread + 3) return fraction;
   // Several columns may depend on each other.
   return isOfOne ? even : std::sqrt(even * fraction);
}

/// The same where a sample has no match: `none` is what half a match would be. Of a hundred values that are spread
/// evenly, a sample misses some though it should have several rows of each. Whether the value is rare or was missed is
/// not known; the mean of both errs least.
double Estimator::reconciledWithNone(double none, double even, const Expr& predicate, const RelEstimate& rows) {
   if (predicate.kind == ExprKind::Or) { // as many rows as one of its parts has
      double most = none;
      for (const ExprPtr& part : predicate.args) {
         const double evenOfPart = selectivity(*part, rows);
         most = std::max(most, std::min(evenOfPart, reconciledWithNone(none, evenOfPart, *part, rows)));
      }
      return most;
   }
   constexpr double missedMax = 16; // half matches: with 8 expected matches, one value of 3000 is missed
   bool isOfOne = false;
   if (even <= none || even > missedMax * none || !isPlainlyCompared(predicate, rows, isOfOne) || !isOfOne) return none;
   return std::sqrt(even * none);
}

double Estimator::sampled(const op::Get& get, const storage::TableStatistics& statistics, const Expr& predicate,
                          double& floor) {
   if (!query_.context.evaluator || !statistics.sample || statistics.rowCount < sampleTableRowsMin) return -1;
   bool isKnown = true;
   forEachExpr(predicate, [&](const Expr& expr) {
      isKnown = isKnown && expr.kind != ExprKind::Parameter;
      return isKnown;
   });
   if (!isKnown) return -1;
   const Batch& batch = statistics.sample->batch;
   std::vector<ColumnId> used;
   collectColumns(predicate, used);
   std::vector<SampledColumn> sampledColumns;
   for (const ColumnId column : used) {
      const SampledColumn found = sampledColumn(get, column);
      if (found.attribute <= 0 || static_cast<size_t>(found.attribute) > batch.columns.size()) return -1;
      sampledColumns.push_back(found);
   }
   const uint32_t count = std::min(batch.rowCount, evaluatedRowsMax);
   if (count < 64 || used.empty()) return -1;
   // Where a column is NULL that must not be, the others are not looked for: in documents that takes time.
   const ColumnSet needed = rejectedColumns(predicate);
   std::vector<std::vector<Value>> rows;
   std::vector<Value> row;
   for (uint32_t i = 0; i < count; ++i) {
      row.clear();
      for (size_t c = 0; c < used.size(); ++c) {
         row.push_back(valueAt(batch, sampledColumns[c], static_cast<uint32_t>(uint64_t{i} * batch.rowCount / count)));
         if (row.back().isNull && needed.contains(used[c])) break;
      }
      if (row.size() == used.size() && !(row.back().isNull && needed.contains(used.back()))) rows.push_back(row);
   }
   std::vector<bool> matched;
   try {
      ExprPtr lowered = clone(predicate);
      ExprLowering lowering(query_);
      for (size_t i = 0; i < used.size(); ++i)
         lowering.setColumn(used[i],
                            sampledColumns[i].access ? sampledColumns[i].access->result()
                                                     : storedRepresentation(query_.columns[used[i]].type),
                            std::nullopt);
      lowering.lower(lowered);
      if (!rows.empty()) matched = query_.context.evaluator->matches(*lowered, used, rows);
   } catch (const SqlError&) { // a missing kernel, for example, is reported when the query runs
      return -1;
   }
   const auto hits = std::count(matched.begin(), matched.end(), true);
   if (hits == 0) {
      floor = 0.5 / count;
      return -1;
   }
   return static_cast<double>(hits) / count;
}

} // namespace ouzel::optimizer
