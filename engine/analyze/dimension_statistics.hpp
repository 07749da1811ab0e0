#pragma once
#include "engine/analyze/sampled_rows.hpp"

// What sampled rows say of several columns together, and of expressions: PostgreSQL's estimators.

namespace ouzel::engine {

/// Fills the kinds of statistics that the object wants. `sample`: its columns, then its expressions. `target`: the
/// maximum number of common values and bins.
catalog::StatisticsData measure(const catalog::Statistics& statistics, const SampledRows& sample, uint32_t target);

} // namespace ouzel::engine
