#pragma once
#include "sql/plan/plan.hpp"

namespace ouzel::sql::plan {

/// Throws XX000 unless the plan keeps the invariants of plan.hpp: each node gives columns that its children give or
/// that the node makes, once each; operands have the same representation; a CTE is materialised above its scans; one
/// join publishes each runtime filter and key lookup, and scans of its probe side use them. Costs a walk of the plan:
/// only builds with DCHECK call.
void verify(const Plan& plan);

} // namespace ouzel::sql::plan
