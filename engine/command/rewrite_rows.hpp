#pragma once
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Makes `changed` the definition of the table, and gives it a new storage with the table's rows. `value`: SQL over the
/// present columns for the column `attribute`, whose type or which itself is new; cast as an assignment to it casts
/// (42804, 22001). Checks unique keys, no other constraints.
void rewriteRows(SessionCore& core, Oid table, catalog::Relation changed, int16_t attribute, const std::string& value);

} // namespace ouzel::engine
