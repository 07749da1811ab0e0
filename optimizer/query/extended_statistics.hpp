#pragma once
#include <memory>
#include <vector>

#include "catalog/object/statistics.hpp"
#include "sql/algebra/expr.hpp"

namespace ouzel::optimizer {

/// What ANALYZE has found for the objects of CREATE STATISTICS on one table.
struct ExtendedStatistics {
   struct Object {
      catalog::StatisticsPtr statistics;
      const catalog::StatisticsData* data; ///< of `statistics`
      /// Its expressions, over columns whose ids are attribute numbers. Null: it cannot be bound any more.
      std::vector<sql::ExprPtr> expressions;
   };
   std::vector<Object> objects;
   double tableRows = 1;
};

} // namespace ouzel::optimizer
