#include "executor/function/aggregate/aggregate.hpp"

#include "executor/function/aggregate/aggregate_loops.hpp"

namespace ouzel::executor {

const AggregateKernel* findAggregate(std::string_view name, std::span<const SqlType> argTypes,
                                     std::span<const Representation> args, Representation result) {
   const AggregateRequest request{name, argTypes, args, result};
   for (const auto find : {findSumAggregate, findQuotientAggregate, findIntervalAggregate, findExtremeAggregate,
                           findBitAggregate, findStatisticalAggregate, findOrderedAggregate, findPercentileAggregate,
                           findJsonAggregate, findXmlAggregate, findHypotheticalAggregate, findRangeAggregate})
      if (const AggregateKernel* kernel = find(request)) return kernel;
   return nullptr;
}

} // namespace ouzel::executor
