#pragma once
#include <bit>

#include "catalog/object/coder.hpp"
#include "catalog/object/statistics.hpp"

// The bytes of extended statistics; codec.cpp has those of the other objects.

namespace ouzel::catalog {

/// A number as its bits.
template <typename Coder, typename T>
void real(Coder& coder, T& value) {
   auto bits = std::bit_cast<uint64_t>(value);
   coder(bits);
   if constexpr (Coder::isReading) value = std::bit_cast<double>(bits);
}
template <typename Coder, typename T>
void statisticsDatum(Coder& coder, T& datum) {
   coder(datum.text);
   coder(datum.key);
   coder(datum.isNull);
}
template <typename Coder, typename T>
void statisticsData(Coder& coder, T& data) {
   const auto datum = [&](auto& value) { statisticsDatum(coder, value); };
   const auto number = [&](auto& value) { real(coder, value); };
   coder(data.isInherited);
   structures(coder, data.distinctCounts, [&](auto& entry) {
      elements(coder, entry.dimensions);
      real(coder, entry.count);
   });
   structures(coder, data.dependencies, [&](auto& entry) {
      elements(coder, entry.from);
      coder(entry.to);
      real(coder, entry.degree);
   });
   structures(coder, data.commonValues, [&](auto& entry) {
      structures(coder, entry.values, datum);
      real(coder, entry.frequency);
      real(coder, entry.baseFrequency);
   });
   structures(coder, data.expressions, [&](auto& entry) {
      real(coder, entry.nullFraction);
      coder(entry.averageWidth);
      real(coder, entry.distinct);
      structures(coder, entry.commonValues, datum);
      structures(coder, entry.commonFrequencies, number);
      elements(coder, entry.histogram);
      optional(coder, entry.correlation, number);
   });
}
template <typename Coder, typename T>
void statisticsFields(Coder& coder, T& statistics) {
   coder(statistics.database);
   coder(statistics.oid);
   coder(statistics.schema);
   coder(statistics.name);
   coder(statistics.owner);
   coder(statistics.table);
   coder(statistics.kinds);
   elements(coder, statistics.columns);
   elements(coder, statistics.expressions);
   elements(coder, statistics.columnsRead);
   coder(statistics.target);
   structures(coder, statistics.data, [&](auto& data) { statisticsData(coder, data); });
}

} // namespace ouzel::catalog
