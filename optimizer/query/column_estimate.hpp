#pragma once
#include <cstdint>

namespace ouzel::optimizer {

/// Estimates for one column in the output of one operator.
struct ColumnEstimate {
   double distinct = 200;
   double baseDistinct = 200; ///< in the stored table, before any predicate
   double baseRows = 1e3;     ///< rows of the stored table
   double nullFraction = 0;
   double min = 0, max = 0; ///< numbers, dates, timestamps as doubles in units of the stored representation
   double averageWidth = 8;
   double scanRows = 0;            ///< of the scan that gives the column
   double mean = 0, deviation = 0; ///< of an aggregate's results, where their spread is known
   /// The scan: columns of one scan have no more combinations than it has rows. 0: unknown.
   uint32_t scan = 0;
   bool isKnown = false; ///< from statistics, not from a default
   bool hasBounds = false;
   /// How the results of an aggregate spread over the groups: counts geometrically, sums and averages normally.
   enum class Spread : uint8_t { Unknown, Geometric, Normal };
   Spread spread = Spread::Unknown;
};
/// Deep queries have a million of them: each operator knows the columns below it.
static_assert(sizeof(ColumnEstimate) <= 88);

} // namespace ouzel::optimizer
