#pragma once
#include <vector>

#include "engine/definition/definition.hpp"

struct TypeName;

namespace ouzel::engine {

/// The composite type of CREATE TABLE ... OF. Throws 42809 unless CREATE TYPE made it.
catalog::RelationPtr requireTableType(CommandContext& context, const ::TypeName& name);

/// ALTER TABLE ... OF and NOT OF. Throws 42804 unless the columns are those of the type.
void attachType(CommandContext& context, const catalog::Relation& table, const ::TypeName& name);
void detachType(SessionCore& core, const catalog::Relation& table);

/// Throws 42809 if the sub-command would change the columns or parents of a typed table.
void requireNotTyped(const catalog::Relation& table, const ::AlterTableCmd& command);
/// The tables of a type whose attributes are to change, locked. Throws 2BP01 if there are some, unless it cascades.
std::vector<catalog::RelationPtr> typedTables(SessionCore& core, const catalog::Relation& type, bool cascades);
/// ALTER TYPE ... ATTRIBUTE: runs the sub-command over the tables of the type.
void alterTypedTables(CommandContext& context, const std::vector<catalog::RelationPtr>& tables,
                      const ::AlterTableCmd& command);

} // namespace ouzel::engine
