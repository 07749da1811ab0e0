#pragma once
#include <vector>

#include "engine/query/command_context.hpp"

struct AlterTableCmd;

namespace ouzel::engine {

/// Sub-commands of one ALTER TABLE.
using AlterCommands = std::vector<const ::AlterTableCmd*>;

/// Throws where the sub-command must not be for this table: 42P16 for what it inherits, for columns of a partition key,
/// and for a sub-command with ONLY that must reach heirs, too. `isOnly`: ONLY is given.
void requireChangeable(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command, bool isOnly);
/// Whether ALTER TABLE may have all that inherits from a table. Throws 42501 and 55006.
void requireHeirsAlterable(SessionCore& core, const catalog::Relation& table);
/// Carries sub-commands, which have changed the table, on to its heirs: all of them, or with ONLY what heirs have to
/// forget. `before`: the table before the statement.
void alterHeirs(CommandContext& context, const catalog::Relation& before, const AlterCommands& commands, bool isOnly);

} // namespace ouzel::engine
