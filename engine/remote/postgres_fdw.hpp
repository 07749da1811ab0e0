#pragma once
#include <span>
#include <string>
#include <vector>

#include "catalog/object/function.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// The rows that a function of the extension postgres_fdw gives, as runRoutine() has them.
std::vector<std::string> runPostgresFdw(SessionCore& core, const catalog::Function& function,
                                        std::span<const BoundParameter> parameters);

} // namespace ouzel::engine
