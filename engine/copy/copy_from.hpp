#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/copy/options.hpp"
#include "engine/core/session_core.hpp"
#include "engine/query/query_execution.hpp"
#include "io/format/external_table.hpp"
#include "sql/bind/binder.hpp"

namespace ouzel::engine {

/// What COPY FROM reads and where it goes.
struct CopyTarget {
   catalog::RelationPtr relation;
   std::vector<int16_t> columns; ///< attnums in the order of the input
   CopyOptions options;
   const ::Node* where = nullptr; ///< keeps the rows for which it is true
   CopyProgress* progress = nullptr;
};

/// The next bytes of the input; nothing at the end.
using CopyInput = std::function<std::optional<std::string_view>()>;

/// Loads rows of all formats but parquet. Returns how many. Throws the error of the first bad row, with its
/// line in the context; the caller takes the statement's rows back then.
uint64_t copyFrom(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target, const CopyInput& input);

/// The INSERT of `input`'s columns that are named as those of target.columns; only its BEFORE STATEMENT triggers have
/// fired.
std::unique_ptr<QueryExecution> planCopy(SessionCore& core, const sql::BindContext& bind, const CopyTarget& target,
                                         io::ExternalTablePtr input);

} // namespace ouzel::engine
