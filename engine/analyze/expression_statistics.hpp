#pragma once
#include "engine/analyze/sampled_rows.hpp"

namespace ouzel::engine {

/// What a sample says of one expression: PostgreSQL's compute_scalar_stats().
catalog::StatisticsData::ExpressionValues measureExpression(const SampledRows& sample, const SampledColumn& column,
                                                            uint32_t target);

} // namespace ouzel::engine
