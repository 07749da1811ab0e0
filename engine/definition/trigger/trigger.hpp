#pragma once
#include <string>
#include <utility>
#include <vector>

#include "engine/query/command_context.hpp"

// CREATE TRIGGER and what changes triggers afterwards. engine/trigger fires them.

struct AlterTableCmd;
struct CreateTrigStmt;
struct DropStmt;
struct RenameStmt;

namespace ouzel::engine {

std::string createTrigger(CommandContext& context, const ::CreateTrigStmt& statement);
std::string dropTriggers(CommandContext& context, const ::DropStmt& statement);
std::string renameTrigger(CommandContext& context, const ::RenameStmt& statement);
/// ALTER TABLE ... ENABLE, ENABLE REPLICA, ENABLE ALWAYS and DISABLE TRIGGER.
void enableTriggers(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
/// The trigger of a relation. Throws 42704 if there is none of this name.
const catalog::Trigger& requireTrigger(const catalog::Relation& table, const std::string& name);

/// Gives a partition, new or attached, the row triggers of the partitioned table. Throws 42710 if it has another one of
/// such a name.
void inheritTriggers(SessionCore& core, const catalog::Relation& parent, Oid partition);
/// Takes them from a partition that is detached.
void disinheritTriggers(SessionCore& core, const catalog::Relation& parent, Oid partition);

/// The triggers whose conditions read a relation (attribute 0) or a column, once it has its new name. Made before the
/// catalog changes, put into it afterwards.
class RenamedTriggers {
public:
   RenamedTriggers(SessionCore& core, Oid relation, int16_t attribute, const std::string& name);
   void put(SessionCore& core) const;

private:
   std::vector<std::pair<Oid, std::vector<catalog::Trigger>>> changed_;
};

/// Throws 0A000 if a trigger uses the column, whose type changes.
void requireNotInTriggers(SessionCore& core, const catalog::Relation& table, int16_t attribute);

} // namespace ouzel::engine
