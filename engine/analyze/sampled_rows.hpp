#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "catalog/object/statistics.hpp"
#include "engine/core/session_core.hpp"

// The rows of a table that ANALYZE looks at.

namespace ouzel::engine {

/// One column or expression of the sampled rows.
struct SampledColumn {
   SqlType type;
   bool isOrdered = true;                              ///< its type has an order
   std::vector<uint32_t> ids;                          ///< by row: the place of its value in `values`
   std::vector<catalog::StatisticsData::Datum> values; ///< different ones, ascending, NULL last; none without an order
   uint32_t nullCount = 0;
   double width = 0; ///< bytes of a value on average, as PostgreSQL would store it
};

struct SampledRows {
   double tableRows = 0; ///< of the table
   uint32_t count = 0;   ///< of the sample
   std::vector<SampledColumn> columns;
};

/// Reads at most about `rowsMax` rows. `columns`: SQL over the table's columns. `withHeirs`: the rows of what inherits
/// from the table as well.
SampledRows sampleRows(SessionCore& core, const catalog::Relation& table, const std::vector<std::string>& columns,
                       bool withHeirs, uint32_t rowsMax);

} // namespace ouzel::engine
