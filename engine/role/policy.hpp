#pragma once
#include <string>
#include <utility>
#include <vector>

#include "engine/query/command_context.hpp"

// Row-level security: CREATE and ALTER POLICY, and what happens to policies when other objects change. sql/bind/policy
// makes predicates of them.

struct AlterPolicyStmt;
struct CreatePolicyStmt;
struct RenameStmt;

namespace ouzel::engine {

std::string createPolicy(CommandContext& context, const ::CreatePolicyStmt& statement);
std::string alterPolicy(CommandContext& context, const ::AlterPolicyStmt& statement);
std::string renamePolicy(CommandContext& context, const ::RenameStmt& statement);

/// Throws 42501 unless the table is the user's, 42704 if there is no such policy.
void dropPolicy(SessionCore& core, const catalog::Relation& table, const std::string& name);

/// The policy of a table. Throws 42704 if there is none of this name.
const catalog::Policy& requirePolicy(const catalog::Relation& table, const std::string& name);

/// The forms of ALTER TABLE: ENABLE, DISABLE, FORCE and NO FORCE ROW LEVEL SECURITY.
struct RowSecurityChange {
   std::optional<bool> isEnabled, isForced;
};
void changeRowSecurity(SessionCore& core, const catalog::Relation& table, const RowSecurityChange& change);

/// The texts of all policies that read a relation (attribute 0) or a column, once it has its new name. Made before the
/// catalog changes, put into it afterwards.
class RenamedPolicies {
public:
   RenamedPolicies(SessionCore& core, Oid relation, int16_t attribute, const std::string& name);
   /// Throws 0A000 if a policy does not keep its meaning: it reads the column as a field of a row.
   void put(SessionCore& core) const;

private:
   std::vector<std::pair<Oid, std::vector<catalog::Policy>>> changed_;
};

/// Throws 0A000 if a policy reads the column, whose type is to change.
void requireNotInPolicies(SessionCore& core, const catalog::Relation& table, int16_t attribute);
/// DROP OWNED: a policy that is for nobody else falls.
void removeFromPolicies(SessionCore& core, Oid role);

} // namespace ouzel::engine
