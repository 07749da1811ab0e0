#pragma once
#include "common/value/batch.hpp"
#include "common/value/value.hpp"
#include "optimizer/cardinality/estimator.hpp"

// What the sample of a stored table says of the columns and paths that a Get gives.

namespace ouzel::optimizer {

inline constexpr uint32_t evaluatedRowsMax = 1024; ///< rows of a sample that predicates are evaluated on

/// A column of a Get in the sample of its table.
struct SampledColumn {
   int16_t attribute = 0;                    ///< 0: not in the sample
   const json::PathAccess* access = nullptr; ///< of the attribute's documents; null: the attribute itself
};
SampledColumn sampledColumn(const sql::op::Get& get, sql::ColumnId column);
Value valueAt(const Batch& sample, const SampledColumn& column, uint32_t row);

/// Estimates a path of a table of `rows` rows, which a predicate may filter. Nothing is known of it where the sample is
/// small.
ColumnEstimate pathEstimate(const Batch& sample, const sql::GetPath& path, double rows, bool isFiltered);

} // namespace ouzel::optimizer
