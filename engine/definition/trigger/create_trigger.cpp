#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/acl.hpp"
#include "catalog/object/function.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/definition/trigger/trigger_list.hpp"
#include "engine/program/builtin_triggers.hpp"
#include "sql/bind/trigger.hpp"
#include "sql/deparse/rule.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TRIGGER and CREATE CONSTRAINT TRIGGER. The checks come in PostgreSQL's order.

namespace ouzel::engine {

using catalog::RelationKind;
using catalog::Trigger;
using sql::as;
using sql::ListOf;
using sql::stringOf;
namespace bit = catalog::trigger_bit;

namespace {

[[noreturn]] void refuse(SqlState state, const std::string& message, const std::string& detail = {}) {
   SqlError error(state, message);
   if (!detail.empty()) error = std::move(error).detail(detail);
   throw error;
}

/// The definition of a trigger, while it is read.
class Draft {
public:
   Draft(CommandContext& context, const ::CreateTrigStmt& statement) : context_(context), statement_(statement) {}

   /// The table, locked. Throws for one that cannot have this trigger.
   catalog::RelationPtr table();
   Trigger read(const catalog::RelationPtr& table);

private:
   void checkKind(const catalog::Relation& table) const;
   void readTransitions(const catalog::Relation& table);
   void readTransition(const ::TriggerTransition& transition, const catalog::Relation& table);
   void readFunction();
   void readColumns(const catalog::Relation& table);
   void readCondition(const catalog::RelationPtr& table);
   bool isRow() const { return statement_.row; }

   CommandContext& context_;
   const ::CreateTrigStmt& statement_;
   Trigger draft_;
};

catalog::RelationPtr Draft::table() {
   SessionCore& core = context_.core;
   const catalog::SearchPath path = core.searchPath();
   const auto relation = requireTarget(context_, path, *statement_.relation);
   checkKind(*relation);
   if (relation->isBuiltin())
      refuse(sqlstate::insufficientPrivilege, "permission denied: \"" + relation->name + "\" is a system catalog");
   requirePrivilege(core, *relation, catalog::privilege::trigger);
   core.transaction.lock(relation->oid, LockMode::ShareRowExclusive);
   return core.transaction.catalog().relation(relation->oid);
}

void Draft::checkKind(const catalog::Relation& table) const {
   const std::string quoted = "\"" + table.name + "\"";
   const bool isInstead = (static_cast<uint32_t>(statement_.timing) & bit::insteadOf) != 0;
   const RelationKind kind = table.relationKind;
   const auto refuseForeign = [&](const char* detail) {
      refuse(sqlstate::wrongObjectType, quoted + " is a foreign table", detail);
   };
   if (table.foreign && isInstead) refuseForeign("Foreign tables cannot have INSTEAD OF triggers.");
   if (table.foreign && (static_cast<uint32_t>(statement_.events) & bit::truncate) != 0)
      refuseForeign("Foreign tables cannot have TRUNCATE triggers.");
   if (table.foreign && statement_.isconstraint) refuseForeign("Foreign tables cannot have constraint triggers.");
   if (kind == RelationKind::Table || (kind == RelationKind::Virtual && table.shownKind == 'r')) {
      if (isInstead)
         refuse(sqlstate::wrongObjectType, quoted + (table.partitionKey ? " is a partitioned table" : " is a table"),
                table.partitionKey ? "Partitioned tables cannot have INSTEAD OF triggers."
                                   : "Tables cannot have INSTEAD OF triggers.");
      if (table.partitionKey && isRow() && statement_.transitionRels)
         refuse(sqlstate::featureNotSupported, quoted + " is a partitioned table",
                "ROW triggers with transition tables are not supported on partitioned tables.");
   } else if (kind == RelationKind::View || (kind == RelationKind::Virtual && table.shownKind == 'v')) {
      if (!isInstead && isRow())
         refuse(sqlstate::wrongObjectType, quoted + " is a view",
                "Views cannot have row-level BEFORE or AFTER triggers.");
      if ((static_cast<uint32_t>(statement_.events) & bit::truncate) != 0)
         refuse(sqlstate::wrongObjectType, quoted + " is a view", "Views cannot have TRUNCATE triggers.");
   } else {
      refuse(sqlstate::wrongObjectType, "relation " + quoted + " cannot have triggers", unsupportedFor(table));
   }
}

void Draft::readTransition(const ::TriggerTransition& transition, const catalog::Relation& table) {
   if (!transition.isTable)
      throw SqlError(sqlstate::featureNotSupported, "ROW variable naming in the REFERENCING clause is not supported")
          .hint("Use OLD TABLE or NEW TABLE for naming transition tables.");
   if (table.foreign)
      refuse(sqlstate::wrongObjectType, "\"" + table.name + "\" is a foreign table",
             "Triggers on foreign tables cannot have transition tables.");
   if (table.relationKind == RelationKind::View)
      refuse(sqlstate::wrongObjectType, "\"" + table.name + "\" is a view",
             "Triggers on views cannot have transition tables.");
   if (isRow() && !table.parents.empty())
      refuse(sqlstate::featureNotSupported, table.isPartition()
                                                ? "ROW triggers with transition tables are not supported on partitions"
                                                : "ROW triggers with transition tables are not supported on "
                                                  "inheritance children");
   if (!draft_.isAfter())
      refuse(sqlstate::invalidObjectDefinition, "transition table name can only be specified for an AFTER trigger");
   if (draft_.has(bit::truncate))
      refuse(sqlstate::invalidObjectDefinition, "TRUNCATE triggers with transition tables are not supported");
   const int events = draft_.has(bit::insert) + draft_.has(bit::update) + draft_.has(bit::del);
   if (events != 1)
      refuse(sqlstate::featureNotSupported,
             "transition tables cannot be specified for triggers with more than one event");
   if (statement_.columns)
      refuse(sqlstate::featureNotSupported, "transition tables cannot be specified for triggers with column lists");
   const std::string word = transition.isNew ? "NEW TABLE" : "OLD TABLE";
   std::string& name = transition.isNew ? draft_.newTable : draft_.oldTable;
   if (transition.isNew ? draft_.has(bit::del) : draft_.has(bit::insert))
      refuse(sqlstate::invalidObjectDefinition, word + " can only be specified for " +
                                                    (transition.isNew ? "an INSERT" : "a DELETE") +
                                                    " or UPDATE trigger");
   if (!name.empty()) refuse(sqlstate::invalidObjectDefinition, word + " cannot be specified multiple times");
   name = transition.name;
}

void Draft::readTransitions(const catalog::Relation& table) {
   for (const ::TriggerTransition* transition : ListOf<::TriggerTransition>(statement_.transitionRels))
      readTransition(*transition, table);
   if (!draft_.oldTable.empty() && draft_.oldTable == draft_.newTable)
      refuse(sqlstate::invalidObjectDefinition, "OLD TABLE name and NEW TABLE name cannot be the same");
}

void Draft::readCondition(const catalog::RelationPtr& table) {
   if (!statement_.whenClause) return;
   SessionCore& core = context_.core;
   const catalog::SearchPath path = core.searchPath();
   sql::BindContext bind = core.bindContext(path, &context_.source());
   bind.allowParameters = false;
   sql::checkTriggerCondition(*table, draft_, *statement_.whenClause, bind);
   const auto stored = sql::deparse::storedCondition(*statement_.whenClause, table, catalog::RuleEvent::Update, bind);
   draft_.condition = stored.text;
   draft_.dependsOn = stored.dependsOn;
}

void Draft::readFunction() {
   SessionCore& core = context_.core;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   std::vector<std::string> names;
   for (const ::Node* part : ListOf<>(statement_.funcname))
      names.emplace_back(stringOf(part));
   const catalog::QualifiedName name = catalog::toQualifiedName(std::move(names));
   catalog::FunctionPtr function;
   const auto look = [&](Oid schema) {
      if (!function) function = snapshot.findFunction(schema, name.name, {});
   };
   if (!name.schema.empty()) {
      const Oid temporary = name.schema == "pg_temp" ? core.searchPath().temporary : invalidOid;
      const auto schema = temporary ? snapshot.schema(temporary) : snapshot.findSchema(name.schema);
      if (!schema) refuse(sqlstate::invalidSchemaName, "schema \"" + name.schema + "\" does not exist");
      look(schema->oid);
   } else {
      for (const Oid schema : core.searchPath().schemas)
         look(schema);
   }
   if (!function) {
      for (const catalog::FunctionInfo* builtin : catalog::builtins().functions(name.name))
         if (builtin->argTypes.empty() && (name.schema.empty() || name.schema == "pg_catalog")) {
            if (isBuiltinTrigger(name.name)) {
               draft_.function = builtin->oid;
               return;
            }
            if (builtin->returnType == oid::trigger) throwNotSupported("triggers that call " + name.name + "()");
            refuse(sqlstate::invalidObjectDefinition, "function " + name.text() + " must return type trigger");
         }
      refuse(sqlstate::undefinedFunction, "function " + name.text() + "() does not exist");
   }
   if (!catalog::mayUse(snapshot, core.role(), *function))
      refuse(sqlstate::insufficientPrivilege, "permission denied for function " + function->name);
   if (function->returnType.oid != oid::trigger)
      refuse(sqlstate::invalidObjectDefinition, "function " + name.text() + " must return type trigger");
   draft_.function = function->oid;
}

void Draft::readColumns(const catalog::Relation& table) {
   for (const ::Node* node : ListOf<>(statement_.columns)) {
      const std::string column(stringOf(node));
      const catalog::Column* found = table.findColumn(column);
      if (!found)
         refuse(sqlstate::undefinedColumn,
                "column \"" + column + "\" of relation \"" + table.name + "\" does not exist");
      if (draft_.names(found->attribute))
         refuse(sqlstate::duplicateColumn, "column \"" + column + "\" specified more than once");
      draft_.columns.push_back(found->attribute);
   }
}

Trigger Draft::read(const catalog::RelationPtr& table) {
   draft_.name = statement_.trigname;
   draft_.type =
       (isRow() ? bit::row : 0) | static_cast<uint32_t>(statement_.timing) | static_cast<uint32_t>(statement_.events);
   if (draft_.has(bit::insteadOf)) {
      const char* what = !isRow()                ? "must be FOR EACH ROW"
                         : statement_.whenClause ? "cannot have WHEN conditions"
                         : statement_.columns    ? "cannot have column lists"
                                                 : nullptr;
      if (what) refuse(sqlstate::featureNotSupported, std::string("INSTEAD OF triggers ") + what);
   }
   if (isRow() && draft_.has(bit::truncate))
      refuse(sqlstate::featureNotSupported, "TRUNCATE FOR EACH ROW triggers are not supported");
   readTransitions(*table);
   readCondition(table);
   readFunction();
   readColumns(*table);
   for (const ::Node* argument : ListOf<>(statement_.args))
      draft_.arguments.emplace_back(stringOf(argument));
   if (statement_.isconstraint) {
      draft_.isDeferrable = statement_.deferrable;
      draft_.isDeferred = statement_.initdeferred;
   }
   return std::move(draft_);
}

} // namespace

std::string createTrigger(CommandContext& context, const ::CreateTrigStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE TRIGGER");
   if (statement.isconstraint && statement.replace)
      refuse(sqlstate::featureNotSupported, "CREATE OR REPLACE CONSTRAINT TRIGGER is not supported");
   Draft draft(context, statement);
   const catalog::RelationPtr table = draft.table();
   Oid referenced = invalidOid;
   if (statement.constrrel) {
      const catalog::SearchPath path = core.searchPath();
      referenced = requireTarget(context, path, *statement.constrrel)->oid;
   }
   Trigger trigger = draft.read(table);
   trigger.constraintRelation = referenced;
   std::vector<Trigger> triggers = table->triggers;
   const auto old =
       std::find_if(triggers.begin(), triggers.end(), [&](const Trigger& other) { return other.name == trigger.name; });
   const std::string described = "trigger \"" + trigger.name + "\" for relation \"" + table->name + "\"";
   if (old != triggers.end()) {
      if (!statement.replace) refuse(sqlstate::duplicateObject, described + " already exists");
      if (old->parent != invalidOid)
         refuse(sqlstate::duplicateObject, described + " is an internal or a child trigger");
      if (old->isConstraint()) refuse(sqlstate::duplicateObject, described + " is a constraint trigger");
      trigger.oid = old->oid;
      trigger.enabled = old->enabled;
      *old = trigger;
   } else {
      trigger.oid = core.transaction.editor().allocateOid();
      if (statement.isconstraint) trigger.constraint = core.transaction.editor().allocateOid();
      triggers.push_back(trigger);
   }
   putTriggers(core, *table, std::move(triggers));
   if (hasParts(*table, trigger))
      for (const Oid partition : core.transaction.catalog().heirOids(table->oid))
         addPart(core, trigger, *table, partition);
   return "CREATE TRIGGER";
}

} // namespace ouzel::engine
