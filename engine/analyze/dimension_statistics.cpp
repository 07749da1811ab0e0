#include "engine/analyze/dimension_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "engine/analyze/expression_statistics.hpp"

namespace ouzel::engine {

namespace {

using catalog::Statistics;
using catalog::StatisticsData;

/// The rows parted by the values of some dimensions.
struct Groups {
   std::vector<uint32_t> ofRow, sizes, firstRow;

   static Groups all(uint32_t rows) { return {std::vector<uint32_t>(rows, 0), {rows}, {0}}; }
   /// Each group parted by a further dimension. New groups are numbered as rows meet them.
   Groups parted(const SampledColumn& by) const {
      Groups result;
      std::unordered_map<uint64_t, uint32_t> known;
      known.reserve(sizes.size());
      result.ofRow.reserve(ofRow.size());
      for (uint32_t row = 0; row < ofRow.size(); ++row) {
         const uint64_t key = uint64_t{ofRow[row]} << 32 | by.ids[row];
         const auto [found, isNew] = known.try_emplace(key, static_cast<uint32_t>(result.sizes.size()));
         if (isNew) {
            result.sizes.push_back(0);
            result.firstRow.push_back(row);
         }
         ++result.sizes[found->second];
         result.ofRow.push_back(found->second);
      }
      return result;
   }
};

/// Calls `visit` with every ascending choice of `size` of `count` numbers, in lexicographic order, and the rows parted
/// by it.
template <typename Visit>
void forEachChoice(const SampledRows& sample, size_t size, const Visit& visit) {
   std::vector<size_t> choice;
   const auto extend = [&](const auto& self, const Groups& groups, size_t from) -> void {
      if (choice.size() == size) return visit(choice, groups);
      for (size_t next = from; next < sample.columns.size(); ++next) {
         choice.push_back(next);
         self(self, groups.parted(sample.columns[next]), next + 1);
         choice.pop_back();
      }
   };
   extend(extend, Groups::all(sample.count), 0);
}

/// The number of groups in a table of which these are those of a sample. Haas, Stokes ("Estimating the Number of
/// Classes in a Finite Population", 1998), the estimator Duj1.
double distinctInTable(const Groups& groups, const SampledRows& sample) {
   const auto found = static_cast<double>(groups.sizes.size());
   const auto single = static_cast<double>(std::count(groups.sizes.begin(), groups.sizes.end(), 1u));
   const double rows = sample.count;
   const double estimate = rows * found / (rows - single + single * rows / sample.tableRows);
   return std::floor(std::clamp(estimate, found, std::max(found, sample.tableRows)) + 0.5);
}

std::vector<int16_t> dimensionsOf(const Statistics& statistics, const std::vector<size_t>& choice) {
   std::vector<int16_t> dimensions;
   for (const size_t index : choice)
      dimensions.push_back(statistics.dimension(index));
   return dimensions;
}

void measureDistinct(const Statistics& statistics, const SampledRows& sample, StatisticsData& data) {
   for (size_t size = 2; size <= sample.columns.size(); ++size)
      forEachChoice(sample, size, [&](const std::vector<size_t>& choice, const Groups& groups) {
         data.distinctCounts.push_back({dimensionsOf(statistics, choice), distinctInTable(groups, sample)});
      });
}

void measureDependencies(const Statistics& statistics, const SampledRows& sample, StatisticsData& data) {
   for (size_t size = 1; size < sample.columns.size(); ++size)
      forEachChoice(sample, size, [&](const std::vector<size_t>& choice, const Groups& groups) {
         for (size_t to = 0; to < sample.columns.size(); ++to) {
            if (std::find(choice.begin(), choice.end(), to) != choice.end()) continue;
            const Groups both = groups.parted(sample.columns[to]);
            uint32_t supporting = 0; // rows of groups with one value of `to`: the pair has as many as the group
            for (size_t group = 0; group < both.sizes.size(); ++group)
               if (both.sizes[group] == groups.sizes[groups.ofRow[both.firstRow[group]]])
                  supporting += both.sizes[group];
            if (supporting > 0)
               data.dependencies.push_back({dimensionsOf(statistics, choice), statistics.dimension(to),
                                            static_cast<double>(supporting) / sample.count});
         }
      });
}

/// How often a combination has to be in the sample, so that its share of the table is known well enough.
double rowsForCommonValue(const SampledRows& sample) {
   const double rows = sample.count, all = sample.tableRows;
   const double denominator = all - rows + 0.04 * rows * (all - 1);
   return denominator == 0 ? 0 : rows * (all - rows) / denominator;
}

void measureCommonValues(const SampledRows& sample, uint32_t target, StatisticsData& data) {
   Groups groups = Groups::all(sample.count);
   for (const SampledColumn& column : sample.columns)
      groups = groups.parted(column);
   std::vector<uint32_t> order(groups.sizes.size());
   std::iota(order.begin(), order.end(), 0u);
   std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      for (const SampledColumn& column : sample.columns) {
         const uint32_t left = column.ids[groups.firstRow[a]], right = column.ids[groups.firstRow[b]];
         if (left != right) return left < right;
      }
      return false;
   });
   std::stable_sort(order.begin(), order.end(),
                    [&](uint32_t a, uint32_t b) { return groups.sizes[a] > groups.sizes[b]; });
   std::vector<std::vector<uint32_t>> counts; // by column and value
   for (const SampledColumn& column : sample.columns) {
      counts.emplace_back(column.values.size(), 0u);
      for (const uint32_t id : column.ids)
         ++counts.back()[id];
   }
   const double enough = rowsForCommonValue(sample);
   for (size_t i = 0; i < order.size() && i < target && groups.sizes[order[i]] >= enough; ++i) {
      StatisticsData::CommonValues& common = data.commonValues.emplace_back();
      common.frequency = static_cast<double>(groups.sizes[order[i]]) / sample.count;
      common.baseFrequency = 1;
      for (size_t c = 0; c < sample.columns.size(); ++c) {
         const uint32_t id = sample.columns[c].ids[groups.firstRow[order[i]]];
         common.values.push_back(sample.columns[c].values[id]);
         common.baseFrequency *= static_cast<double>(counts[c][id]) / sample.count;
      }
   }
}

} // namespace

StatisticsData measure(const Statistics& statistics, const SampledRows& sample, uint32_t target) {
   StatisticsData data;
   if (statistics.has('d')) measureDistinct(statistics, sample, data);
   if (statistics.has('f')) measureDependencies(statistics, sample, data);
   if (statistics.has('m')) measureCommonValues(sample, target, data);
   for (size_t i = statistics.columns.size(); i < sample.columns.size(); ++i)
      data.expressions.push_back(measureExpression(sample, sample.columns[i], target));
   return data;
}

} // namespace ouzel::engine
