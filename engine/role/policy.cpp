#include "engine/role/policy.hpp"

#include <algorithm>

#include "engine/core/privileges.hpp"
#include "engine/query/source_range.hpp"
#include "engine/role/actor.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::PolicyCommand;
using sql::ListOf;

namespace {

/// The table whose policies change, locked. Throws 42501 unless it is the user's, 42809 for what has no policies.
catalog::RelationPtr tableOf(CommandContext& context, const ::RangeVar& name) {
   SessionCore& core = context.core;
   const catalog::SearchPath path = core.searchPath();
   auto table = requireTarget(context, path, name);
   if (!actsFor(core, table->owner)) requireOwner(core, *table);
   if (table->isBuiltin())
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied: \"" + table->name + "\" is a system catalog");
   if (table->relationKind != catalog::RelationKind::Table || table->foreign)
      throw SqlError(sqlstate::wrongObjectType, "\"" + table->name + "\" is not a table");
   core.transaction.lock(table->oid, LockMode::AccessExclusive);
   return core.transaction.catalog().relation(table->oid);
}

PolicyCommand commandOf(std::string_view word) {
   return word == "select"   ? PolicyCommand::Select
          : word == "insert" ? PolicyCommand::Insert
          : word == "update" ? PolicyCommand::Update
          : word == "delete" ? PolicyCommand::Delete
                             : PolicyCommand::All;
}

bool writesNothing(PolicyCommand command) {
   return command == PolicyCommand::Select || command == PolicyCommand::Delete;
}

std::vector<Oid> rolesOf(SessionCore& core, const ::List* list) {
   const ListOf<::RoleSpec> named(list);
   std::vector<Oid> roles;
   for (const ::RoleSpec* role : named) {
      if (role->roletype != ROLESPEC_PUBLIC) {
         roles.push_back(existingRole(core, *role)->oid);
         continue;
      }
      if (named.size() > 1)
         core.notices.notice({Notice::Severity::Warning,
                              sqlstate::invalidParameterValue,
                              "ignoring specified roles other than PUBLIC",
                              {},
                              "All roles are members of the PUBLIC role."});
      return {invalidOid};
   }
   if (roles.empty()) return {invalidOid};
   std::sort(roles.begin(), roles.end());
   roles.erase(std::unique(roles.begin(), roles.end()), roles.end());
   return roles;
}

/// An operator's text gets parentheses, as PostgreSQL shows it.
bool isOperator(const ::Node& node) {
   const auto tag = nodeTag(&node);
   return tag == T_A_Expr || tag == T_BoolExpr || tag == T_NullTest || tag == T_BooleanTest;
}

/// The expressions of a CREATE or ALTER POLICY statement, for the policy.
class PolicyTexts {
public:
   PolicyTexts(CommandContext& context, const ::RangeVar& name, const catalog::Relation& table)
      : context_(context), table_(table), path_(context.core.searchPath()),
        from_(static_cast<size_t>(std::max(0, name.location))) {}

   void setUsing(catalog::Policy& policy, const ::Node* expression) {
      if (expression) policy.usingExpr = textOf(policy, *expression, "using");
   }
   void setCheck(catalog::Policy& policy, const ::Node* expression) {
      if (expression) policy.checkExpr = textOf(policy, *expression, "check");
   }

private:
   std::string textOf(catalog::Policy& policy, const ::Node& expression, std::string_view keyword) {
      const std::string_view all = context_.source().text();
      const std::string_view own = parenthesized(all, afterKeyword(all, from_, keyword));
      sql::StoredPolicy stored = storedPolicy(expression, own, all);
      // What it reads keeps its name until the end of the transaction. Somebody may have changed it before the lock.
      for (const catalog::Dependency& read : stored.dependsOn)
         if (read.relation != table_.oid && read.relation >= firstUserOid)
            context_.core.transaction.lock(read.relation, LockMode::AccessShare);
      stored = storedPolicy(expression, own, all);
      for (const catalog::Dependency& read : stored.dependsOn) {
         const auto relation = context_.core.transaction.catalog().relation(read.relation);
         if (!relation || relation->isBuiltin()) continue;
         if (relation->persistence == catalog::Persistence::Temporary &&
             table_.persistence != catalog::Persistence::Temporary)
            throwNotSupported("a policy of a permanent table that reads a temporary one");
         if (std::find(policy.dependsOn.begin(), policy.dependsOn.end(), read) == policy.dependsOn.end())
            policy.dependsOn.push_back(read);
      }
      return isOperator(expression) ? "(" + stored.text + ")" : stored.text;
   }

   /// Errors have no position, as PostgreSQL's have none.
   sql::StoredPolicy storedPolicy(const ::Node& expression, std::string_view own, std::string_view all) {
      sql::BindContext bind = context_.core.bindContext(path_, &context_.source());
      bind.allowParameters = false;
      try {
         return sql::storedPolicy(expression, table_, bind, static_cast<uint32_t>(own.data() - all.data()),
                                  static_cast<uint32_t>(own.size()));
      } catch (SqlError& error) {
         error.setPosition(0);
         throw;
      }
   }

   CommandContext& context_;
   const catalog::Relation& table_;
   const catalog::SearchPath path_;
   const size_t from_; ///< the keywords come after the table's name
};

[[noreturn]] void refuseName(const catalog::Relation& table, const std::string& name) {
   throw SqlError(sqlstate::duplicateObject, "policy \"" + name + "\" for table \"" + table.name + "\" already exists");
}

void putPolicies(SessionCore& core, const catalog::Relation& table, std::vector<catalog::Policy> policies) {
   std::sort(policies.begin(), policies.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
   catalog::Relation changed = table;
   changed.policies = std::move(policies);
   core.transaction.editor().replaceRelation(std::move(changed));
}

auto findIn(std::vector<catalog::Policy>& policies, const std::string& name) {
   return std::find_if(policies.begin(), policies.end(), [&](const auto& policy) { return policy.name == name; });
}

} // namespace

const catalog::Policy& requirePolicy(const catalog::Relation& table, const std::string& name) {
   const catalog::Policy* policy = table.findPolicy(name);
   if (!policy)
      throw SqlError(sqlstate::undefinedObject,
                     "policy \"" + name + "\" for table \"" + table.name + "\" does not exist");
   return *policy;
}

std::string createPolicy(CommandContext& context, const ::CreatePolicyStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE POLICY");
   catalog::Policy policy;
   policy.name = statement.policy_name;
   policy.command = commandOf(statement.cmd_name);
   policy.isPermissive = statement.permissive;
   if (writesNothing(policy.command) && statement.with_check)
      throw SqlError(sqlstate::syntaxError, "WITH CHECK cannot be applied to SELECT or DELETE");
   if (policy.command == PolicyCommand::Insert && statement.qual)
      throw SqlError(sqlstate::syntaxError, "only WITH CHECK expression allowed for INSERT");
   policy.roles = rolesOf(core, statement.roles);
   const auto table = tableOf(context, *statement.table);
   policy.tableName = table->name;
   PolicyTexts texts(context, *statement.table, *table);
   texts.setUsing(policy, statement.qual);
   texts.setCheck(policy, statement.with_check);
   if (table->findPolicy(policy.name)) refuseName(*table, policy.name);
   policy.oid = core.transaction.editor().allocateOid();
   std::vector<catalog::Policy> policies = table->policies;
   policies.push_back(std::move(policy));
   putPolicies(core, *table, std::move(policies));
   return "CREATE POLICY";
}

std::string alterPolicy(CommandContext& context, const ::AlterPolicyStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER POLICY");
   const std::vector<Oid> roles = statement.roles ? rolesOf(core, statement.roles) : std::vector<Oid>();
   const auto table = tableOf(context, *statement.table);
   catalog::Policy policy;
   policy.tableName = table->name;
   PolicyTexts texts(context, *statement.table, *table);
   texts.setUsing(policy, statement.qual);
   texts.setCheck(policy, statement.with_check);
   catalog::Policy old = requirePolicy(*table, statement.policy_name);
   if (writesNothing(old.command) && statement.with_check)
      throw SqlError(sqlstate::syntaxError, "only USING expression allowed for SELECT, DELETE");
   if (old.command == PolicyCommand::Insert && statement.qual)
      throw SqlError(sqlstate::syntaxError, "only WITH CHECK expression allowed for INSERT");
   // An expression that stays still needs what it reads, and the name by which it calls the table.
   const bool keepsOne =
       (!statement.qual && !old.usingExpr.empty()) || (!statement.with_check && !old.checkExpr.empty());
   if (keepsOne && (statement.qual || statement.with_check) && old.tableName != table->name)
      throwNotSupported("ALTER POLICY of one of two expressions after its table was renamed");
   if (!keepsOne && (statement.qual || statement.with_check)) old.dependsOn.clear();
   for (const catalog::Dependency& read : policy.dependsOn)
      if (std::find(old.dependsOn.begin(), old.dependsOn.end(), read) == old.dependsOn.end())
         old.dependsOn.push_back(read);
   if (statement.qual) old.usingExpr = policy.usingExpr;
   if (statement.with_check) old.checkExpr = policy.checkExpr;
   if (statement.qual || statement.with_check) old.tableName = table->name;
   if (statement.roles) old.roles = roles;
   std::vector<catalog::Policy> policies = table->policies;
   *findIn(policies, old.name) = std::move(old);
   putPolicies(core, *table, std::move(policies));
   return "ALTER POLICY";
}

void dropPolicy(SessionCore& core, const catalog::Relation& table, const std::string& name) {
   if (!actsFor(core, table.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of relation " + table.name); // PostgreSQL's word
   core.transaction.lock(table.oid, LockMode::AccessExclusive);
   const auto current = core.transaction.catalog().relation(table.oid);
   core.transaction.editor().setComment(catalog::class_oid::pgPolicy, requirePolicy(*current, name).oid, 0, {});
   std::vector<catalog::Policy> policies = current->policies;
   policies.erase(findIn(policies, name));
   putPolicies(core, *current, std::move(policies));
}

std::string renamePolicy(CommandContext& context, const ::RenameStmt& statement) {
   SessionCore& core = context.core;
   const auto table = tableOf(context, *statement.relation);
   if (table->findPolicy(statement.newname)) refuseName(*table, statement.newname);
   requirePolicy(*table, statement.subname);
   std::vector<catalog::Policy> policies = table->policies;
   findIn(policies, statement.subname)->name = statement.newname;
   putPolicies(core, *table, std::move(policies));
   return "ALTER POLICY";
}

void changeRowSecurity(SessionCore& core, const catalog::Relation& table, const RowSecurityChange& change) {
   catalog::Relation changed = table;
   changed.hasRowSecurity = change.isEnabled.value_or(table.hasRowSecurity);
   changed.forcesRowSecurity = change.isForced.value_or(table.forcesRowSecurity);
   core.transaction.editor().replaceRelation(std::move(changed));
}

RenamedPolicies::RenamedPolicies(SessionCore& core, Oid relation, int16_t attribute, const std::string& name) {
   const catalog::SearchPath path = core.searchPath();
   const sql::BindContext context = core.bindContext(path, nullptr);
   for (const catalog::RelationPtr& table : core.transaction.catalog().relations()) {
      std::vector<catalog::Policy> policies = table->policies;
      bool isConcerned = false;
      for (catalog::Policy& policy : policies) {
         if (!policy.reads(relation, attribute)) continue;
         isConcerned = true;
         for (std::string* text : {&policy.usingExpr, &policy.checkExpr})
            if (!text->empty())
               *text = sql::renameInPolicy(*text, *table, policy.tableName, relation, attribute, name, context);
      }
      if (isConcerned) changed_.emplace_back(table->oid, std::move(policies));
   }
}

void RenamedPolicies::put(SessionCore& core) const {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::SearchPath path = core.searchPath();
   for (const auto& [table, policies] : changed_) {
      catalog::Relation changed = *editor.snapshot().relation(table);
      changed.policies = policies;
      editor.replaceRelation(changed);
      const sql::BindContext context = core.bindContext(path, nullptr);
      for (const catalog::Policy& policy : policies)
         for (const std::string* text : {&policy.usingExpr, &policy.checkExpr}) {
            if (text->empty()) continue;
            try {
               sql::renameInPolicy(*text, changed, policy.tableName, invalidOid, 0, {}, context);
            } catch (const SqlError& error) {
               if (!error.state().text().starts_with("42")) throw; // a cancelled statement, no memory
               throwNotSupported("renaming a column that a policy reads as a field of a row");
            }
         }
   }
}

void requireNotInPolicies(SessionCore& core, const catalog::Relation& table, int16_t attribute) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& other : snapshot.relations())
      for (const catalog::Policy& policy : other->policies)
         if (policy.reads(table.oid, attribute))
            throw SqlError(sqlstate::featureNotSupported, "cannot alter type of a column used in a policy definition")
                .detail("policy " + policy.name + " on table " +
                        catalog::displayName(snapshot, core.searchPath(), *other) + " depends on column \"" +
                        table.column(attribute)->name + "\"");
}

void removeFromPolicies(SessionCore& core, Oid role) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& table : snapshot.relations()) {
      std::vector<catalog::Policy> policies = table->policies;
      size_t removed = 0;
      for (catalog::Policy& policy : policies)
         removed += std::erase(policy.roles, role);
      if (removed == 0) continue;
      core.transaction.lock(table->oid, LockMode::AccessExclusive);
      for (const catalog::Policy& policy : policies)
         if (policy.roles.empty())
            core.transaction.editor().setComment(catalog::class_oid::pgPolicy, policy.oid, 0, {});
      std::erase_if(policies, [](const catalog::Policy& policy) { return policy.roles.empty(); });
      putPolicies(core, *table, std::move(policies));
   }
}

} // namespace ouzel::engine
