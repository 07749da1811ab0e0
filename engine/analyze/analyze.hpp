#pragma once
#include <optional>

#include "engine/core/session_core.hpp"

struct List;

namespace ouzel::engine {

/// ANALYZE: finds out what the table's extended statistics ask for, and of a partitioned table those of its partitions.
/// `columns`: names, or null for all columns. Statistics of single columns need no ANALYZE: storage keeps them.
void analyzeTable(SessionCore& core, Oid table, const ::List* columns);
/// The same of all tables that the role owns.
void analyzeDatabase(SessionCore& core);

} // namespace ouzel::engine
