#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/copy/options.hpp"
#include "engine/core/session_core.hpp"
#include "sql/bind/binder.hpp"

namespace ouzel::engine {

/// What COPY FROM reads and where it goes.
struct CopyTarget {
   catalog::RelationPtr relation;
   std::vector<int16_t> columns; ///< attnums in the order of the input
   CopyOptions options;
   const ::Node* where = nullptr; ///< keeps the rows for which it is true
};

/// The next bytes of the input; nothing at the end.
using CopyInput = std::function<std::optional<std::string_view>()>;

/// Load rows: the session's thread cuts the input at row ends, workers parse and append. Returns the rows loaded.
/// Throws what the input deserves, with line and column in the context; nothing of the statement stays then.
uint64_t copyFrom(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target, const CopyInput& input);

} // namespace ouzel::engine
