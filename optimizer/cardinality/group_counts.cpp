#include <algorithm>
#include <cmath>
#include <map>

#include "optimizer/cardinality/estimator.hpp"

// How many groups the keys of a GROUP BY form.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// The count with most values counts in full, each further one counts less: keys are rarely independent.
double combined(std::vector<double> counts, double max) {
   std::sort(counts.begin(), counts.end(), std::greater<>());
   double product = 1, exponent = 1;
   for (const double count : counts) {
      product *= std::pow(count, exponent);
      exponent = std::max(0.5, exponent * 0.9);
      if (product > max) break;
   }
   return std::max(1.0, std::min(product, max));
}

} // namespace

double Estimator::groups(const RelEstimate& input, const std::vector<const Expr*>& keys) {
   std::vector<double> counts;
   std::vector<bool> isTaken(keys.size(), false);
   while (const auto together = extended_.isEmpty() ? std::nullopt : extended_.groups(keys, isTaken, input.rows))
      counts.push_back(std::max(1.0, *together));
   struct Scan {
      double rows;
      std::vector<double> counts;
   };
   std::map<uint32_t, Scan> scans; // keys that are columns of a table, by its scan
   for (size_t i = 0; i < keys.size(); ++i) {
      if (isTaken[i]) continue;
      const double distinct = std::max(1.0, distinctOf(*keys[i], input));
      const ColumnEstimate* column = keys[i]->kind == ExprKind::Column ? &input.column(columnOf(*keys[i])) : nullptr;
      if (column && column->scan != 0)
         scans.try_emplace(column->scan, Scan{column->scanRows, {}}).first->second.counts.push_back(distinct);
      else
         counts.push_back(distinct);
   }
   for (auto& [id, scan] : scans)
      counts.push_back(combined(std::move(scan.counts), std::max(1.0, scan.rows)));
   return combined(std::move(counts), input.rows);
}

} // namespace ouzel::optimizer
