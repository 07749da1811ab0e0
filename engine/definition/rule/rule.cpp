#include "engine/definition/rule/rule.hpp"

#include <algorithm>

#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/part_name.hpp"
#include "engine/definition/system_object.hpp"
#include "engine/query/object_kind.hpp"
#include "engine/role/actor.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/rule.hpp"
#include "sql/deparse/rule.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::Rule;
using catalog::RuleEvent;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

constexpr const char* viewRule = "_RETURN";

/// The relation whose rules change, locked. Throws 42501 unless it is the user's, 42809 for what has no rules.
catalog::RelationPtr relationOf(CommandContext& context, const ::RangeVar& name) {
   SessionCore& core = context.core;
   const catalog::SearchPath path = core.searchPath();
   const auto relation = requireTarget(context, path, name);
   const auto kind = relation->relationKind;
   if (kind == catalog::RelationKind::MaterializedView)
      throw SqlError(sqlstate::featureNotSupported, "rules on materialized views are not supported");
   if (relation->foreign || (kind != catalog::RelationKind::Table && kind != catalog::RelationKind::View &&
                             kind != catalog::RelationKind::Virtual))
      throw SqlError(sqlstate::wrongObjectType, "relation \"" + relation->name + "\" cannot have rules")
          .detail(unsupportedFor(*relation));
   if (relation->isBuiltin())
      throw SqlError(sqlstate::insufficientPrivilege,
                     "permission denied: \"" + relation->name + "\" is a system catalog");
   requireOwner(core, *relation);
   core.transaction.lock(relation->oid, LockMode::AccessExclusive);
   return core.transaction.catalog().relation(relation->oid);
}

RuleEvent eventOf(const ::RuleStmt& statement) {
   switch (statement.event) {
   case CMD_UPDATE: return RuleEvent::Update;
   case CMD_INSERT: return RuleEvent::Insert;
   case CMD_DELETE: return RuleEvent::Delete;
   default: return RuleEvent::Select;
   }
}

void putRules(SessionCore& core, const catalog::Relation& table, std::vector<Rule> rules) {
   std::sort(rules.begin(), rules.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
   catalog::Relation changed = table;
   changed.rules = std::move(rules);
   core.transaction.editor().replaceRelation(std::move(changed));
}

auto findIn(std::vector<Rule>& rules, const std::string& name) {
   return std::find_if(rules.begin(), rules.end(), [&](const auto& rule) { return rule.name == name; });
}

[[noreturn]] void refuseName(const catalog::Relation& table, const std::string& name) {
   throw SqlError(sqlstate::duplicateObject,
                  "rule \"" + name + "\" for relation \"" + table.name + "\" already exists");
}

/// ON SELECT: what a view is made of; only CREATE VIEW makes one.
[[noreturn]] void refuseSelectRule(const ::RuleStmt& statement, const catalog::Relation& table) {
   const auto unsupported = [](const std::string& what) {
      return SqlError(sqlstate::featureNotSupported, what + " not implemented");
   };
   const ListOf<> actions(statement.actions);
   if (actions.size() > 1) throw unsupported("multiple actions for rules on SELECT are");
   if (actions.empty() || !isNode(actions[0], T_SelectStmt) || !statement.instead)
      throw SqlError(sqlstate::featureNotSupported, "rules on SELECT must have action INSTEAD SELECT")
          .hint("Use views instead.");
   if (statement.whereClause) throw unsupported("event qualifications are");
   if (table.relationKind == catalog::RelationKind::View && !statement.replace)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "\"" + table.name + "\" is already a view");
   if (std::string_view(statement.rulename) != viewRule)
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "view rule for \"" + table.name + "\" must be named \"" + viewRule + "\"");
   throwNotSupported("CREATE RULE that makes a table a view");
}

/// What a rule's command may be.
void checkAction(const ::RuleStmt& statement, const ::Node& action, const ::List*& returning) {
   if (isNode(&action, T_SelectStmt)) throwNotSupported("a SELECT as the command of a rule");
   if (!sql::isBindable(action) || isNode(&action, T_MergeStmt)) {
      if (statement.whereClause)
         throw SqlError(sqlstate::invalidObjectDefinition,
                        "rules with WHERE conditions can only have SELECT, INSERT, UPDATE, or DELETE actions");
      throwNotSupported("NOTIFY as the command of a rule");
   }
   const ::List* list = isNode(&action, T_InsertStmt)   ? as<::InsertStmt>(&action)->returningList
                        : isNode(&action, T_UpdateStmt) ? as<::UpdateStmt>(&action)->returningList
                                                        : as<::DeleteStmt>(&action)->returningList;
   if (!list) return;
   const auto refuse = [](const char* message) { throw SqlError(sqlstate::featureNotSupported, message); };
   if (returning) refuse("cannot have multiple RETURNING lists in a rule");
   if (statement.whereClause) refuse("RETURNING lists are not supported in conditional rules");
   if (!statement.instead) refuse("RETURNING lists are not supported in non-INSTEAD rules");
   returning = list;
}

/// Notes what a text of the rule uses. OLD and NEW stand for rows that not every event has.
void take(SessionCore& core, Rule& rule, const catalog::Relation& table, const sql::deparse::StoredText& stored) {
   const auto refuse = [](const char* message) { throw SqlError(sqlstate::invalidObjectDefinition, message); };
   if (rule.event == RuleEvent::Insert && stored.usesOld) refuse("ON INSERT rule cannot use OLD");
   if (rule.event == RuleEvent::Delete && stored.usesNew) refuse("ON DELETE rule cannot use NEW");
   for (const catalog::Dependency& read : stored.dependsOn) {
      if (read.relation != table.oid && read.attribute == 0)
         core.transaction.lock(read.relation, LockMode::AccessShare);
      if (std::find(rule.dependsOn.begin(), rule.dependsOn.end(), read) == rule.dependsOn.end())
         rule.dependsOn.push_back(read);
   }
}

} // namespace

const Rule& requireRule(const catalog::Relation& table, const std::string& name) {
   const Rule* rule = table.findRule(name);
   if (!rule)
      throw SqlError(sqlstate::undefinedObject,
                     "rule \"" + name + "\" for relation \"" + table.name + "\" does not exist");
   return *rule;
}

std::string createRule(CommandContext& context, const ::RuleStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE RULE");
   const auto table = relationOf(context, *statement.relation);
   Rule rule;
   rule.name = statement.rulename;
   rule.event = eventOf(statement);
   rule.isInstead = statement.instead;
   if (rule.event == RuleEvent::Select) refuseSelectRule(statement, *table);
   if (rule.name == viewRule)
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "non-view rule for \"" + table->name + "\" must not be named \"" + rule.name + "\"");
   std::vector<const ::Node*> actions;
   const ::List* returning = nullptr;
   for (const ::Node* action : ListOf<>(statement.actions)) {
      checkAction(statement, *action, returning);
      actions.push_back(action);
   }
   const catalog::SearchPath path = core.searchPath();
   sql::BindContext bind = core.bindContext(path, &context.source());
   bind.allowParameters = false;
   sql::checkRule(*table, rule.event, statement.whereClause, actions, bind);
   if (statement.whereClause) {
      const auto stored = sql::deparse::storedCondition(*statement.whereClause, table, rule.event, bind);
      take(core, rule, *table, stored);
      rule.condition = stored.text;
   }
   for (const ::Node* action : actions) {
      const auto stored = sql::deparse::storedAction(*action, table, bind);
      take(core, rule, *table, stored);
      rule.actions.push_back(stored.text);
   }
   std::vector<Rule> rules = table->rules;
   const auto old = findIn(rules, rule.name);
   if (old != rules.end()) {
      if (!statement.replace) refuseName(*table, rule.name);
      rule.oid = old->oid;
      *old = std::move(rule);
   } else {
      rule.oid = core.transaction.editor().allocateOid();
      rules.push_back(std::move(rule));
   }
   putRules(core, *table, std::move(rules));
   return "CREATE RULE";
}

std::string dropRules(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP RULE");
   const catalog::SearchPath path = core.searchPath();
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const auto [tableName, name] = partNameOf(object);
      const auto table = catalog::findRelation(core.transaction.catalog(), path, tableName);
      if (!table || !table->findRule(name)) {
         const SystemObject missing = findPartOfRelation(core, OBJECT_RULE, tableName, name);
         if (!missing.missing)
            throw SqlError(sqlstate::dependentObjectsStillExist,
                           "cannot drop " + missing.description + " because " + missing.owner + " requires it")
                .hint("You can drop " + missing.owner + " instead.");
         if (!statement.missing_ok) throw SqlError(*missing.missing);
         core.notice(missing.skipped + ", skipping");
         continue;
      }
      if (!actsFor(core, table->owner)) // PostgreSQL's word
         throw SqlError(sqlstate::insufficientPrivilege, "must be owner of relation " + table->name);
      core.transaction.lock(table->oid, LockMode::AccessExclusive);
      const auto current = core.transaction.catalog().relation(table->oid);
      core.transaction.editor().setComment(catalog::class_oid::pgRewrite, requireRule(*current, name).oid, 0, {});
      std::vector<Rule> rules = current->rules;
      rules.erase(findIn(rules, name));
      putRules(core, *current, std::move(rules));
   }
   return "DROP RULE";
}

std::string renameRule(CommandContext& context, const ::RenameStmt& statement) {
   SessionCore& core = context.core;
   const auto table = relationOf(context, *statement.relation);
   if (std::string_view(statement.subname) == viewRule && table->relationKind == catalog::RelationKind::View)
      throw SqlError(sqlstate::invalidObjectDefinition, "renaming an ON SELECT rule is not allowed");
   requireRule(*table, statement.subname);
   if (table->findRule(statement.newname) ||
       (std::string_view(statement.newname) == viewRule && table->relationKind == catalog::RelationKind::View))
      refuseName(*table, statement.newname);
   std::vector<Rule> rules = table->rules;
   findIn(rules, statement.subname)->name = statement.newname;
   putRules(core, *table, std::move(rules));
   return "ALTER RULE";
}

void enableRule(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   requireRule(table, command.name);
   std::vector<Rule> rules = table.rules;
   findIn(rules, command.name)->enabled = command.subtype == AT_EnableRule          ? 'O'
                                          : command.subtype == AT_EnableAlwaysRule  ? 'A'
                                          : command.subtype == AT_EnableReplicaRule ? 'R'
                                                                                    : 'D';
   putRules(core, table, std::move(rules));
}

RenamedRules::RenamedRules(SessionCore& core, Oid relation, int16_t attribute, const std::string& name) {
   const catalog::SearchPath path = core.searchPath();
   const sql::BindContext context = core.bindContext(path, nullptr);
   for (const catalog::RelationPtr& table : core.transaction.catalog().relations()) {
      std::vector<Rule> rules = table->rules;
      bool isConcerned = false;
      for (Rule& rule : rules) {
         if (!rule.reads(relation, attribute) && !(attribute == 0 && table->oid == relation)) continue;
         isConcerned = true;
         rule = sql::deparse::renamedRule(rule, table, {relation, attribute, name}, context);
      }
      if (isConcerned) changed_.emplace_back(table->oid, std::move(rules));
   }
}

void RenamedRules::put(SessionCore& core) const {
   for (const auto& [table, rules] : changed_)
      putRules(core, *core.transaction.editor().snapshot().relation(table), rules);
}

void requireNotInRules(SessionCore& core, const catalog::Relation& table, int16_t attribute) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& other : snapshot.relations())
      for (const Rule& rule : other->rules)
         if (rule.reads(table.oid, attribute))
            throw SqlError(sqlstate::featureNotSupported, "cannot alter type of a column used by a view or rule")
                .detail("rule " + rule.name + " on " + std::string(relationKindName(*other)) + " " +
                        catalog::displayName(snapshot, core.searchPath(), *other) + " depends on column \"" +
                        table.column(attribute)->name + "\"");
}

} // namespace ouzel::engine
