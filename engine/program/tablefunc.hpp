#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalog/object/function.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// The rows that a function of the extension tablefunc gives, as runRoutine() has them. These functions run queries
/// whose texts are their arguments. `expected`: the types that a column definition list says.
std::vector<std::string> runTablefunc(SessionCore& core, const catalog::Function& function,
                                      std::span<const BoundParameter> parameters,
                                      const std::optional<std::vector<SqlType>>& expected);

} // namespace ouzel::engine
