#include "engine/analyze/expression_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace ouzel::engine {

namespace {

using Found = catalog::StatisticsData::ExpressionValues;

/// A value that the sample has more than once.
struct Repeated {
   uint32_t id, count;
};

/// Goes through the values of one expression.
class Measurement {
public:
   Measurement(const SampledRows& sample, const SampledColumn& column, uint32_t target)
      : sample_(sample), column_(column), target_(target), counts_(column.values.size(), 0) {
      for (const uint32_t id : column.ids)
         ++counts_[id];
      for (uint32_t id = 0; id < counts_.size(); ++id) {
         if (column.values[id].isNull) continue;
         ++distinct_;
         if (counts_[id] > 1) repeated_.push_back({id, counts_[id]});
      }
      std::stable_sort(repeated_.begin(), repeated_.end(),
                       [](const Repeated& a, const Repeated& b) { return a.count > b.count; });
   }

   Found measure() {
      found_.nullFraction = static_cast<double>(column_.nullCount) / sample_.count;
      found_.averageWidth = static_cast<int32_t>(column_.width);
      if (!column_.isOrdered || column_.nullCount == sample_.count) return std::move(found_);
      found_.distinct = distinctInTable();
      const size_t common = commonCount();
      for (size_t i = 0; i < common; ++i) {
         found_.commonValues.push_back(column_.values[repeated_[i].id]);
         found_.commonFrequencies.push_back(static_cast<double>(repeated_[i].count) / sample_.count);
         counts_[repeated_[i].id] = 0; // not in the histogram
      }
      makeHistogram(distinct_ - common);
      correlate();
      return std::move(found_);
   }

private:
   double distinctInTable() const {
      const double all = sample_.tableRows, rows = sample_.count - column_.nullCount;
      if (repeated_.empty()) return -(1 - found_.nullFraction);
      const auto found = static_cast<double>(distinct_), single = found - static_cast<double>(repeated_.size());
      double estimate = found;
      if (single > 0) {
         const double values = all * (1 - found_.nullFraction);
         estimate = rows * found / (rows - single + single * rows / values);
         estimate = std::floor(std::clamp(estimate, found, std::max(found, values)) + 0.5);
      }
      return estimate > 0.1 * all ? -(estimate / all) : estimate;
   }

   /// How many of the repeated values are common: all if the list is complete, else those that are more common than the
   /// average of the rest by two standard deviations (PostgreSQL's analyze_mcv_list()).
   size_t commonCount() const {
      if (repeated_.size() == distinct_ && found_.distinct > 0 && distinct_ <= target_) return distinct_;
      size_t count = std::min<size_t>(repeated_.size(), target_);
      const double n = sample_.count, all = sample_.tableRows;
      if (n >= all || all <= 1 || count == 0) return count;
      const double distinct = found_.distinct < 0 ? -found_.distinct * all : found_.distinct;
      double before = 0; // rows of the more common ones
      for (size_t i = 0; i + 1 < count; ++i)
         before += repeated_[i].count;
      while (count > 0) {
         double share = std::clamp(1 - before / n - found_.nullFraction, 0.0, 1.0);
         const double others = distinct - static_cast<double>(count - 1);
         if (others > 1) share /= others;
         const double rows = repeated_[count - 1].count, inTable = all * rows / n;
         const double variance = n * inTable * (all - inTable) * (all - n) / (all * all * (all - 1));
         if (rows > share * n + 2 * std::sqrt(variance) + 0.5) break;
         if (--count > 0) before -= repeated_[count - 1].count;
      }
      return count;
   }

   void makeHistogram(size_t values) {
      const size_t bounds = std::min<size_t>(values, size_t{target_} + 1);
      if (bounds < 2) return;
      std::vector<uint32_t> ids; // of the rows that have them, ascending
      for (uint32_t id = 0; id < counts_.size(); ++id)
         if (!column_.values[id].isNull) ids.insert(ids.end(), counts_[id], id);
      for (size_t i = 0; i < bounds; ++i)
         found_.histogram.push_back(column_.values[ids[i * (ids.size() - 1) / (bounds - 1)]].text);
   }

   /// Between the order of the rows and that of their values.
   void correlate() {
      const double n = sample_.count - column_.nullCount;
      if (n < 2) return;
      std::vector<uint32_t> next(column_.values.size(), 0); // the place of the next row with the value
      for (const uint32_t id : column_.ids)
         if (id + 1 < next.size()) ++next[id + 1];
      for (size_t id = 1; id < next.size(); ++id)
         next[id] += next[id - 1];
      double sum = 0, row = 0;
      for (const uint32_t id : column_.ids)
         if (!column_.values[id].isNull) sum += row++ * next[id]++;
      const double first = (n - 1) * n / 2, second = (n - 1) * n * (2 * n - 1) / 6;
      found_.correlation = (n * sum - first * first) / (n * second - first * first);
   }

   const SampledRows& sample_;
   const SampledColumn& column_;
   const uint32_t target_;
   std::vector<uint32_t> counts_; ///< by value
   std::vector<Repeated> repeated_;
   size_t distinct_ = 0; ///< values besides NULL
   Found found_;
};

} // namespace

Found measureExpression(const SampledRows& sample, const SampledColumn& column, uint32_t target) {
   return Measurement(sample, column, target).measure();
}

} // namespace ouzel::engine
