#pragma once
#include "engine/definition/definition.hpp"

namespace ouzel::engine {

/// Adds EXCLUDE USING ... (...) to a table: its index, and the constraint that owns it. Does not look at the rows.
void addExclusion(CommandContext& context, Oid table, const ::Constraint& constraint);
/// Gives a table a copy of another's: `index` has the attributes of the table, and `copied` what else it says.
void copyExclusion(CommandContext& context, Oid table, catalog::Relation index, catalog::Constraint copied);

} // namespace ouzel::engine
