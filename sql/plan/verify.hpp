#pragma once
#include "sql/plan/plan.hpp"

namespace ouzel::sql::plan {

/// Throws XX000 unless the plan keeps the promises of plan.hpp: each node gives columns that its children give or that
/// it makes, once each; representations fit wherever values meet; CTEs are there before their scans; runtime filters
/// and key lookups are published by one join and used on its probe side. Costs a walk; callers are in builds with
/// DCHECK only.
void verify(const Plan& plan);

} // namespace ouzel::sql::plan
