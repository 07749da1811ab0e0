#include "optimizer/cardinality/samples.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "common/error/sql_error.hpp"
#include "common/json/path_access.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr uint32_t sampleRowsMin = 64;   ///< of smaller samples nothing is concluded
constexpr uint32_t sampleValuesMin = 30; ///< at a path; fewer say little of how many differ
constexpr uint32_t sampleRowsMax = 256;  ///< of a path: each row is a search in a document
constexpr uint32_t widthRowsMax = 32;    ///< of a path of which all is known but the width

/// The distinct values of a column of `rows` values of which `sampled` were drawn: `distinct` different ones, `single`
/// of these once. Haas, Naughton, Seshadri, Stokes ("Sampling-Based Estimation of the Number of Distinct Values of an
/// Attribute", 1995), the first-order jackknife.
double distinctOf(double distinct, double single, double sampled, double rows) {
   if (sampled >= rows) return distinct;
   return std::clamp(sampled * distinct / (sampled - single + single * sampled / rows), distinct, rows);
}

} // namespace

SampledColumn sampledColumn(const op::Get& get, ColumnId column) {
   for (const GetColumn& one : get.columns)
      if (one.column == column) return {one.attribute, nullptr};
   for (const GetPath& path : get.paths)
      if (path.column == column) return {path.attribute, &path.access};
   return {};
}

Value valueAt(const Batch& sample, const SampledColumn& column, uint32_t row) {
   const Vector& stored = sample.columns[static_cast<size_t>(column.attribute - 1)];
   if (!column.access) return Value::fromVector(stored, row);
   const PhysicalType type = column.access->resultType();
   if (stored.isNull(row)) return Value::null(type);
   alignas(16) std::byte place[16] = {};
   Arena arena;
   try {
      const json::JsonbView document(stored.value<StringView>(row).view());
      if (!json::giveOf(*column.access, document, place, arena)) return Value::null(type);
   } catch (const SqlError&) { // the sample is newer than the snapshot for which the access is certain
      return Value::null(type);
   }
   return Value::fromVector(Vector::constant(type, place, nullptr), 0);
}

ColumnEstimate pathEstimate(const Batch& sample, const GetPath& path, double rows, bool isFiltered) {
   ColumnEstimate estimate;
   if (sample.rowCount < sampleRowsMin || static_cast<size_t>(path.attribute) > sample.columns.size()) return estimate;
   // Of a path that few documents have, all of the sample is searched, if that gives enough values and they matter.
   const double expected = path.present >= 0 ? path.present / rows : 1;
   const bool isRare = isFiltered && !path.access.isTest() && expected * sampleRowsMax < sampleValuesMin &&
                       expected * sample.rowCount >= sampleValuesMin;
   const bool isBounded = path.smallest <= path.largest;
   const bool isOnlyWidth = path.distinct >= 0 && (isBounded || isVariableSize(path.access.resultType()));
   const uint32_t wanted = isOnlyWidth ? widthRowsMax : isRare ? sample.rowCount : sampleRowsMax;
   const uint32_t count = std::min(sample.rowCount, wanted);
   const SampledColumn column{path.attribute, &path.access};
   const double unit = std::pow(10.0, path.access.result().scale); // of scaled numbers
   std::unordered_map<std::string, uint32_t> seen;
   double bytes = 0, lowest = 0, highest = 0;
   uint32_t values = 0;
   for (uint32_t i = 0; i < count; ++i) {
      const Value value = valueAt(sample, column, static_cast<uint32_t>(uint64_t{i} * sample.rowCount / count));
      if (value.isNull) continue;
      const bool isText = isVariableSize(value.type);
      ++seen[isText ? value.bytes : std::to_string(value.type == PhysicalType::F64 ? value.f64 : double(value.i64))];
      bytes += isText ? static_cast<double>(value.bytes.size()) : physicalSize(value.type);
      if (!isText) {
         const double number = value.type == PhysicalType::F64 ? value.f64 : static_cast<double>(value.i64) / unit;
         lowest = values == 0 ? number : std::min(lowest, number);
         highest = values == 0 ? number : std::max(highest, number);
         estimate.hasBounds = true;
      }
      ++values;
   }
   const auto single = std::count_if(seen.begin(), seen.end(), [](const auto& one) { return one.second == 1; });
   const double share = static_cast<double>(values) / count;
   const double present = std::clamp(path.present >= 0 ? path.present : rows * share, 1.0, std::max(1.0, rows));
   estimate.isKnown = true;
   estimate.baseRows = present;
   estimate.nullFraction = std::max(0.0, 1 - present / rows);
   if (isBounded) {
      estimate.hasBounds = true;
      lowest = static_cast<double>(path.smallest) / unit;
      highest = static_cast<double>(path.largest) / unit;
   }
   // Of a rare path the sample has few values. They differ then, as keys do, and bounds say how many there can be.
   if (path.distinct >= 0)
      estimate.distinct = std::min(path.distinct, present);
   else if (values >= sampleValuesMin)
      estimate.distinct = distinctOf(static_cast<double>(seen.size()), static_cast<double>(single), values, present);
   else
      estimate.distinct = present;
   if (isBounded) estimate.distinct = std::min(estimate.distinct, (highest - lowest) * unit + 1);
   estimate.baseDistinct = estimate.distinct;
   estimate.min = lowest;
   estimate.max = highest;
   if (values > 0) estimate.averageWidth = bytes / values;
   return estimate;
}

} // namespace ouzel::optimizer
