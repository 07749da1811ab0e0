#pragma once
#include <string>
#include <vector>

#include "common/type/row.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// The rows of the query whose text is the only argument, as records: for built-in functions that run a query, which
/// are ts_stat() and ts_rewrite().
std::vector<std::string> runQueryOfText(SessionCore& core, const RowView& args);

} // namespace ouzel::engine
