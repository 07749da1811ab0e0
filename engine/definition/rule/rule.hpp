#pragma once
#include <string>
#include <utility>
#include <vector>

#include "engine/query/command_context.hpp"

// CREATE RULE and what changes rules afterwards. sql/bind/rule rewrites statements by them.

struct AlterTableCmd;
struct DropStmt;
struct RenameStmt;
struct RuleStmt;

namespace ouzel::engine {

std::string createRule(CommandContext& context, const ::RuleStmt& statement);
std::string dropRules(CommandContext& context, const ::DropStmt& statement);
std::string renameRule(CommandContext& context, const ::RenameStmt& statement);
/// ALTER TABLE ... ENABLE, ENABLE REPLICA, ENABLE ALWAYS and DISABLE RULE.
void enableRule(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command);
/// The rule of a relation. Throws 42704 if there is none of this name.
const catalog::Rule& requireRule(const catalog::Relation& table, const std::string& name);

/// The texts of all rules that use a relation (attribute 0) or a column, once it has its new name. Made before the
/// catalog changes, put into it afterwards.
class RenamedRules {
public:
   RenamedRules(SessionCore& core, Oid relation, int16_t attribute, const std::string& name);
   void put(SessionCore& core) const;

private:
   std::vector<std::pair<Oid, std::vector<catalog::Rule>>> changed_;
};

/// Throws 0A000 if a rule uses the column, whose type changes.
void requireNotInRules(SessionCore& core, const catalog::Relation& table, int16_t attribute);

} // namespace ouzel::engine
