#include "engine/definition/alter_table.hpp"

#include <algorithm>

#include "engine/constraint/foreign_keys.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/core/event_state.hpp"
#include "engine/core/session_services.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/column_constraints.hpp"
#include "engine/definition/declared_attributes.hpp"
#include "engine/definition/foreign/foreign_table.hpp"
#include "engine/definition/index/exclusion_constraint.hpp"
#include "engine/definition/index/index_draft.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/partition/alter_heirs.hpp"
#include "engine/definition/partition/keys.hpp"
#include "engine/definition/partition/partition.hpp"
#include "engine/definition/persistence.hpp"
#include "engine/definition/rule/rule.hpp"
#include "engine/definition/sequence.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/definition/type/typed_table.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/internal_sql.hpp"
#include "engine/query/object_kind.hpp"
#include "engine/query/source_range.hpp"
#include "engine/role/policy.hpp"
#include "sql/parse/node_access.hpp"

// ALTER TABLE: the order of sub-commands; defaults, NOT NULL, constraints, DROP COLUMN.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

TableAlteration::TableAlteration(CommandContext& context, Oid relation, bool isHeir)
   : context_(context), core_(context.core), editor_(context.core.transaction.editor()), oid_(relation),
     isHeir_(isHeir) {}

catalog::DropBehavior TableAlteration::behaviorOf(const ::AlterTableCmd& command) const {
   return command.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
}

// Dispatches by kind of sub-command.
void TableAlteration::add(const ::AlterTableCmd& command) {
   const auto step = [&](Pass pass, auto run) { enqueue(pass, [&command, run] { run(command); }); };
   const auto changeSecurity = [&](RowSecurityChange change) {
      step(Misc, [this, change](const auto&) { changeRowSecurity(core_, *table(), change); });
   };
   requireForeignAction(context_, *table(), command);
   switch (command.subtype) {
   case AT_GenericOptions: return step(Misc, [this](const auto& c) { changeTableOptions(core_, *table(), c); });
   case AT_AlterColumnGenericOptions:
      return step(Misc, [this](const auto& c) { changeColumnOptions(core_, oid_, c.name, as<::List>(c.def)); });
   case AT_AddColumn:
      if (const auto& added = *as<::ColumnDef>(command.def);
          added.fdwoptions && table()->foreign && !table()->findColumn(added.colname))
         enqueue(Misc, [this, &added] { changeColumnOptions(core_, oid_, added.colname, added.fdwoptions); });
      changesColumns_ = true;
      return step(AddColumn, [this](const auto& c) { addColumn(c); });
   case AT_DropColumn: changesColumns_ = true; return step(Drop, [this](const auto& c) { dropColumn(c); });
   case AT_ColumnDefault:
      if (!command.def) return step(Drop, [this](const auto& c) { setDefault(c, 0); });
      return step(AddOther, [this, number = defaults_++](const auto& c) { setDefault(c, number); });
   case AT_SetNotNull: return step(ColumnAttributes, [this](const auto& c) { setNotNull(c, true); });
   case AT_DropNotNull: return step(Drop, [this](const auto& c) { setNotNull(c, false); });
   case AT_AddIdentity: return step(AddOther, [this](const auto& c) { addIdentity(context_, *table(), c); });
   case AT_SetIdentity: return step(ColumnAttributes, [this](const auto& c) { setIdentity(context_, *table(), c); });
   case AT_DropIdentity: return step(Drop, [this](const auto& c) { dropIdentity(context_, *table(), c); });
   case AT_AddConstraint: {
      const auto kind = as<::Constraint>(command.def)->contype;
      const bool isKey = kind == CONSTR_PRIMARY || kind == CONSTR_UNIQUE;
      return step(isKey ? AddIndex : AddOther, [this](const auto& c) { addConstraint(*as<::Constraint>(c.def)); });
   }
   case AT_AlterConstraint: return step(Misc, [this](const auto& c) { alterConstraint(c); });
   case AT_ValidateConstraint: return step(Misc, [this](const auto& c) { validateConstraint(context_, oid_, c.name); });
   case AT_DropConstraint: return step(Drop, [this](const auto& c) { dropConstraint(c); });
   case AT_AlterColumnType: return prepareType(command);
   case AT_ChangeOwner: return step(Misc, [this](const auto& c) { changeOwner(context_, *table(), *c.newowner); });
   case AT_SetRelOptions:
   case AT_ResetRelOptions: return step(Misc, [this](const auto& c) { changeOptions(context_, *table(), c); });
   case AT_EnableRowSecurity: return changeSecurity({.isEnabled = true, .isForced = {}});
   case AT_DisableRowSecurity: return changeSecurity({.isEnabled = false, .isForced = {}});
   case AT_ForceRowSecurity: return changeSecurity({.isEnabled = {}, .isForced = true});
   case AT_NoForceRowSecurity: return changeSecurity({.isEnabled = {}, .isForced = false});
   case AT_EnableRule:
   case AT_EnableAlwaysRule:
   case AT_EnableReplicaRule:
   case AT_DisableRule: return step(Misc, [this](const auto& c) { enableRule(core_, *table(), c); });
   case AT_EnableTrig:
   case AT_EnableAlwaysTrig:
   case AT_EnableReplicaTrig:
   case AT_DisableTrig:
   case AT_EnableTrigAll:
   case AT_DisableTrigAll:
   case AT_EnableTrigUser:
   case AT_DisableTrigUser: return step(Misc, [this](const auto& c) { enableTriggers(core_, *table(), c); });
   case AT_SetStatistics: return step(Misc, [this](const auto& c) { setStatistics(core_, *table(), c); });
   case AT_SetOptions:
   case AT_ResetOptions: return step(Misc, [this](const auto& c) { setColumnOptions(core_, *table(), c); });
   case AT_SetStorage: return step(Misc, [this](const auto& c) { setStorage(core_, *table(), c); });
   case AT_SetCompression: return step(Misc, [this](const auto& c) { setCompression(core_, *table(), c); });
   case AT_DropExpression: return step(Drop, [this](const auto& c) { dropExpression(core_, *table(), c); });
   case AT_AttachPartition: return step(Misc, [this](const auto& c) { attachPartition(context_, *table(), c); });
   case AT_DetachPartition: return step(Misc, [this](const auto& c) { detachPartition(context_, *table(), c); });
   case AT_AddInherit: return step(Misc, [this](const auto& c) { addParent(context_, *table(), c); });
   case AT_DropInherit: return step(Misc, [this](const auto& c) { dropParent(context_, *table(), c); });
   case AT_AddOf: return step(Misc, [this](const auto& c) { attachType(context_, *table(), *as<::TypeName>(c.def)); });
   case AT_DropOf: return step(Misc, [this](const auto&) { detachType(core_, *table()); });
   case AT_SetLogged: return step(Misc, [this](const auto&) { setLogged(core_, *table(), true); });
   case AT_SetUnLogged: return step(Misc, [this](const auto&) { setLogged(core_, *table(), false); });
   default: return step(Misc, [this](const auto& c) { declareForTable(core_, *table(), c); });
   }
}

void TableAlteration::run() {
   std::optional<RowRewrite> rewrite;
   // The rows are read as they were, dropped columns included.
   if (!converted_.empty() && table()->hasOwnRows()) rewrite.emplace(core_, *table(), converted_);
   for (size_t pass = 0; pass < passCount; ++pass) {
      for (size_t i = 0; i < steps_[pass].size(); ++i) { // a step may add others to later passes
         steps_[pass][i]();
         core_.transaction.storage().nextCommand();
      }
      if (pass != AlterType || !rewrite) continue;
      core_.services.fireRewrite(*table(), EventState::columnType);
      rewrite->run(*table());
      for (const NewValue& value : converted_)
         checkConstraintsOf(value.attribute);
   }
   if (changesColumns_) refreshRowValues(core_, oid_);
}

void TableAlteration::dropColumn(const ::AlterTableCmd& command) {
   const auto relation = table();
   if (!relation->findColumn(command.name) && command.missing_ok) {
      core_.notice("column \"" + std::string(command.name) + "\" of relation \"" + relation->name +
                   "\" does not exist, skipping");
      return;
   }
   dropGeneratedFrom(*relation, catalog::requireColumn(*relation, command.name), behaviorOf(command));
   announceCascade(core_, editor_.dropColumn(oid_, command.name, behaviorOf(command)));
}

bool TableAlteration::reads(const catalog::Relation& relation, const catalog::Column& generated, int16_t attribute) {
   if (!generated.generated || generated.isDropped) return false;
   const auto script = sql::ParsedScript::parseExpression(generated.defaultExpr);
   const catalog::SearchPath path = core_.searchPath();
   const auto bound = sql::bindExpression(*script.expression(), sql::ExpressionUse::GeneratedColumn, &relation,
                                          generated.type, generated.name, core_.bindContext(path, nullptr));
   return std::any_of(bound.inputs.begin(), bound.inputs.end(),
                      [&](const sql::GetColumn& input) { return input.attribute == attribute; });
}

void TableAlteration::dropGeneratedFrom(const catalog::Relation& relation, const catalog::Column& dropped,
                                        catalog::DropBehavior behavior) {
   const auto describe = [&](const catalog::Column& column) {
      return "column " + catalog::quoteIdentifier(column.name) + " of table " +
             catalog::displayName(editor_.snapshot(), core_.searchPath(), relation);
   };
   std::string detail;
   for (const catalog::Column& column : relation.columns)
      if (reads(relation, column, dropped.attribute))
         detail += (detail.empty() ? "" : "\n") + describe(column) + " depends on " + describe(dropped);
   if (!detail.empty() && behavior == catalog::DropBehavior::Restrict)
      throw SqlError(sqlstate::dependentObjectsStillExist,
                     "cannot drop " + describe(dropped) + " because other objects depend on it")
          .detail(detail)
          .hint("Use DROP ... CASCADE to drop the dependent objects too.");
   for (const catalog::Column& column : relation.columns) {
      if (!reads(relation, column, dropped.attribute)) continue;
      editor_.dropColumn(oid_, column.name, behavior);
      core_.notice("drop cascades to " + describe(column));
   }
}

void TableAlteration::setDefault(const ::AlterTableCmd& command, size_t number) {
   const auto relation = table();
   const catalog::Column& column = catalog::requireColumn(*relation, command.name);
   if (column.generated)
      throw SqlError(sqlstate::syntaxError,
                     "column \"" + column.name + "\" of relation \"" + relation->name + "\" is a generated column");
   if (column.identity) {
      SqlError error(sqlstate::syntaxError,
                     "column \"" + column.name + "\" of relation \"" + relation->name + "\" is an identity column");
      if (command.def) throw error;
      throw std::move(error).hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.");
   }
   if (!command.def) return editor_.setDefault(oid_, command.name, {});
   const catalog::SearchPath path = core_.searchPath();
   // PostgreSQL gives no positions here.
   const auto bound = sql::bindExpression(*command.def, sql::ExpressionUse::ColumnDefault, nullptr, column.type,
                                          column.name, core_.bindContext(path, nullptr));
   if (isNoDefault(*bound.expr, column.type)) return editor_.setDefault(oid_, command.name, {});
   const std::string_view text = context_.source().text();
   const size_t begin = afterSetDefault(text, context_.statement.offset, number);
   catalog::Column noted;
   noteRelations(core_, *bound.expr, noted);
   editor_.setDefault(oid_, command.name,
                      storedText(context_, *command.def, sql::ExpressionUse::ColumnDefault, nullptr, column.type,
                                 expressionText(text, begin, text.size())),
                      noted.defaultSequence, std::move(noted.relationsInDefault));
}

bool TableAlteration::hasNulls(const std::string& column) {
   const auto rows = runOnNewest(core_, "SELECT 1 FROM " + quotedTable(editor_.snapshot(), *table()) + " WHERE " +
                                            catalog::quoteIdentifier(column) + " IS NULL LIMIT 1");
   return !rows.empty();
}

void TableAlteration::rejectNulls(const std::string& column) {
   if (hasNulls(column)) throwContainsNulls(column);
}

void TableAlteration::throwContainsNulls(const std::string& column) const {
   const auto relation = table();
   throw SqlError(sqlstate::notNullViolation,
                  "column \"" + column + "\" of relation \"" + relation->name + "\" contains null values")
       .table(editor_.snapshot().schema(relation->schema)->name, relation->name)
       .column(column);
}

void TableAlteration::setNotNull(const ::AlterTableCmd& command, bool notNull) {
   const auto relation = table();
   const catalog::Column& column = catalog::requireColumn(*relation, command.name);
   if (!notNull && column.identity)
      throw SqlError(sqlstate::syntaxError,
                     "column \"" + column.name + "\" of relation \"" + relation->name + "\" is an identity column");
   if (notNull && relation->hasOwnRows()) rejectNulls(command.name);
   editor_.setNotNull(oid_, command.name, notNull);
}

void TableAlteration::addConstraint(const ::Constraint& constraint) {
   const auto relation = table();
   catalog::Constraint added;
   added.name = std::string(textOf(constraint.conname));
   if (constraint.contype == CONSTR_CHECK) {
      const catalog::SearchPath path = core_.searchPath();
      const auto bound = sql::bindExpression(*constraint.raw_expr, sql::ExpressionUse::CheckConstraint, relation.get(),
                                             std::nullopt, {}, core_.bindContext(path, &context_.source()));
      added.kind = catalog::ConstraintKind::Check;
      for (const sql::GetColumn& input : bound.inputs)
         added.columns.push_back(input.attribute);
      added.expression =
          storedText(context_, *constraint.raw_expr, sql::ExpressionUse::CheckConstraint, relation.get(), std::nullopt,
                     parenthesized(context_.source().text(), static_cast<size_t>(constraint.location)));
      added.isValidated = !constraint.skip_validation;
      added.noInherit = constraint.is_no_inherit;
      const Oid oid = editor_.addConstraint(oid_, std::move(added));
      if (!constraint.skip_validation && relation->hasOwnRows())
         requireCheckHolds(core_, *relation, *editor_.snapshot().constraint(oid).second);
      return;
   }
   if (constraint.contype == CONSTR_FOREIGN) {
      std::vector<std::string> columns;
      for (const ::Node* name : ListOf<>(constraint.fk_attrs))
         columns.emplace_back(sql::stringOf(name));
      return addForeignKey(context_, oid_, constraint, columns);
   }
   if (constraint.contype == CONSTR_EXCLUSION) {
      addExclusion(context_, oid_, constraint);
      return checkUniqueKeysOfTable(core_, oid_, true);
   }
   if (constraint.contype != CONSTR_PRIMARY && constraint.contype != CONSTR_UNIQUE)
      throwNotSupported("this constraint", context_.position(constraint.location));
   if (constraint.indexname && relation->partitionKey)
      throw SqlError(sqlstate::featureNotSupported,
                     "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables");
   if (constraint.indexname) return adoptIndex(constraint);
   added.isDeferrable = constraint.deferrable;
   added.isInitiallyDeferred = constraint.initdeferred;
   if (constraint.contype == CONSTR_PRIMARY) requireNoPrimaryKey();
   added.kind =
       constraint.contype == CONSTR_PRIMARY ? catalog::ConstraintKind::PrimaryKey : catalog::ConstraintKind::Unique;
   added.nullsNotDistinct = constraint.nulls_not_distinct;
   added.included = includedColumns(*relation, constraint, 0); // PostgreSQL gives no position here
   const catalog::Column* firstWithNulls = nullptr;
   for (const ::Node* key : ListOf<>(constraint.keys)) {
      const std::string name(sql::stringOf(key));
      const catalog::Column* column = relation->findColumn(name);
      if (!column)
         throw SqlError(sqlstate::undefinedColumn,
                        "column \"" + name + "\" of relation \"" + relation->name + "\" does not exist");
      added.columns.push_back(column->attribute);
      if (constraint.contype != CONSTR_PRIMARY || column->notNull) continue;
      const bool isFirst = !firstWithNulls || column->attribute < firstWithNulls->attribute;
      if (isFirst && hasNulls(name)) firstWithNulls = column;
   }
   addUniqueKey(std::move(added), constraint, firstWithNulls != nullptr);
   // PostgreSQL looks for NULLs when all indexes are made.
   if (firstWithNulls) enqueue(Misc, [this, name = firstWithNulls->name] { throwContainsNulls(name); });
}

namespace {

/// The index that is to become a key of the table. Throws PostgreSQL's errors for one that cannot.
catalog::RelationPtr requireKeyIndex(const catalog::Snapshot& snapshot, const catalog::Relation& table,
                                     const ::Constraint& constraint, uint32_t position) {
   const std::string name = constraint.indexname;
   const auto refuse = [&](SqlState state, const std::string& message) {
      return SqlError(state, message).at(position);
   };
   const auto index = snapshot.findRelation(table.schema, name);
   if (!index) throw refuse(sqlstate::undefinedObject, "index \"" + name + "\" does not exist");
   if (!index->index) throw SqlError(sqlstate::wrongObjectType, "\"" + name + "\" is not an index");
   const auto owner = snapshot.relation(index->index->table);
   if (owner && owner->constraintOf(index->oid))
      throw refuse(sqlstate::objectNotInPrerequisiteState,
                   "index \"" + name + "\" is already associated with a constraint");
   if (index->index->table != table.oid)
      throw refuse(sqlstate::objectNotInPrerequisiteState,
                   "index \"" + name + "\" does not belong to table \"" + table.name + "\"");
   const auto unusable = [&](const std::string& message) {
      return refuse(sqlstate::wrongObjectType, message)
          .detail("Cannot create a primary key or unique constraint using such an index.");
   };
   const catalog::IndexDefinition& definition = *index->index;
   if (!definition.isUnique) throw unusable("\"" + name + "\" is not a unique index");
   if (!definition.expressions.empty()) throw unusable("index \"" + name + "\" contains expressions");
   if (!definition.predicate.empty()) throw unusable("\"" + name + "\" is a partial index");
   if (definition.method != "btree") throw unusable("index \"" + name + "\" is not a btree");
   for (size_t i = 0; i < definition.columns.size(); ++i)
      if (definition.options[i] != 0 ||
          index->columns[i].type.collation != table.column(definition.columns[i])->type.collation)
         throw unusable("index \"" + name + "\" column number " + std::to_string(i + 1) +
                        " does not have default sorting behavior");
   return index;
}

} // namespace

void TableAlteration::adoptIndex(const ::Constraint& constraint) {
   const auto relation = table();
   const auto index =
       requireKeyIndex(editor_.snapshot(), *relation, constraint, context_.position(constraint.location));
   const bool isPrimary = constraint.contype == CONSTR_PRIMARY;
   if (isPrimary) {
      requireNoPrimaryKey();
      for (const int16_t attribute : index->index->columns)
         if (!relation->column(attribute)->notNull) rejectNulls(relation->column(attribute)->name);
   }
   catalog::Constraint added;
   added.kind = isPrimary ? catalog::ConstraintKind::PrimaryKey : catalog::ConstraintKind::Unique;
   added.name = constraint.conname ? constraint.conname : index->name;
   added.columns = index->index->columns;
   added.index = index->oid;
   added.isDeferrable = constraint.deferrable;
   added.isInitiallyDeferred = constraint.initdeferred;
   if (added.name != index->name) {
      core_.notice("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"" + index->name + "\" to \"" +
                   added.name + "\"");
      editor_.renameRelation(index->oid, added.name);
   }
   catalog::Relation changed = *editor_.snapshot().relation(index->oid);
   changed.index->isPrimary = isPrimary;
   editor_.replaceRelation(std::move(changed));
   editor_.addConstraint(oid_, std::move(added));
}

void TableAlteration::alterConstraint(const ::AlterTableCmd& command) {
   const auto& change = *as<::Constraint>(command.def);
   catalog::Relation changed = *table();
   const std::string name(textOf(change.conname)),
       quoted = "constraint \"" + name + "\" of relation \"" + changed.name + "\"";
   const auto found = std::find_if(changed.constraints.begin(), changed.constraints.end(),
                                   [&](const catalog::Constraint& one) { return one.name == name; });
   if (found == changed.constraints.end()) throw SqlError(sqlstate::undefinedObject, quoted + " does not exist");
   if (found->kind != catalog::ConstraintKind::ForeignKey)
      throw SqlError(sqlstate::wrongObjectType, quoted + " is not a foreign key constraint");
   found->isDeferrable = change.deferrable;
   found->isInitiallyDeferred = change.initdeferred;
   editor_.replaceRelation(std::move(changed));
}

void TableAlteration::requireNoPrimaryKey() const {
   const auto relation = table();
   if (relation->primaryKey())
      throw SqlError(sqlstate::invalidTableDefinition,
                     "multiple primary keys for table \"" + relation->name + "\" are not allowed");
}

void TableAlteration::addUniqueKey(catalog::Constraint key, const ::Constraint& definition, bool hasNulls) {
   for (const int16_t attribute : key.columns)
      requireKeyType(table()->column(attribute)->type);
   requirePartitionColumns(*table(), key.columns,
                           key.kind == catalog::ConstraintKind::PrimaryKey ? "PRIMARY KEY" : "UNIQUE");
   RelationOptions options = checkedOptions(OptionOwner::Btree, definition.options);
   const std::vector<catalog::Column> before = table()->columns;
   const Oid oid = editor_.addConstraint(oid_, std::move(key));
   if (hasNulls) { // the statement is going to fail; until then NULLs are no duplicates
      catalog::Relation nullable = *table();
      nullable.columns = before;
      editor_.replaceRelation(std::move(nullable));
   }
   if (!options.empty()) setOptions(editor_, editor_.snapshot().constraint(oid).second->index, std::move(options));
   checkUniqueKeysOfTable(core_, oid_, true);
}

void TableAlteration::dropConstraint(const ::AlterTableCmd& command) {
   const auto relation = table();
   const catalog::Trigger* trigger = relation->findTrigger(command.name);
   if (trigger && trigger->isConstraint() && !relation->findConstraint(command.name)) {
      const std::string on =
          std::string(" on table ") + catalog::displayName(core_.transaction.catalog(), core_.searchPath(), *relation);
      throw SqlError(sqlstate::dependentObjectsStillExist, "cannot drop constraint " + trigger->name + on +
                                                               " because trigger " + trigger->name + on +
                                                               " requires it")
          .hint("You can drop trigger " + trigger->name + on + " instead.");
   }
   if (!relation->findConstraint(command.name) && command.missing_ok) {
      core_.notice("constraint \"" + std::string(command.name) + "\" of relation \"" + relation->name +
                   "\" does not exist, skipping");
      return;
   }
   announceCascade(core_, editor_.dropConstraint(oid_, command.name, behaviorOf(command), command.missing_ok));
}

std::string quotedTable(const catalog::Snapshot& snapshot, const catalog::Relation& relation) {
   const bool hasHeirs = !relation.partitionKey && !snapshot.heirOids(relation.oid).empty();
   return (hasHeirs ? "ONLY " : "") + catalog::quoteIdentifier(snapshot.schema(relation.schema)->name) + "." +
          catalog::quoteIdentifier(relation.name);
}

void requireCheckHolds(SessionCore& core, const catalog::Relation& table, const catalog::Constraint& check) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   const auto rows = runOnNewest(core, "SELECT 1 FROM " + quotedTable(snapshot, table) + " WHERE NOT (" +
                                           check.expression + ") LIMIT 1");
   if (rows.empty()) return;
   throw SqlError(sqlstate::checkViolation,
                  "check constraint \"" + check.name + "\" of relation \"" + table.name + "\" is violated by some row")
       .table(snapshot.schema(table.schema)->name, table.name)
       .constraint(check.name);
}

void validateConstraint(CommandContext& context, Oid childOid, const std::string& name) {
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   const auto table = editor.snapshot().relation(childOid);
   const catalog::Constraint* constraint = table->findConstraint(name);
   if (!constraint)
      throw SqlError(sqlstate::undefinedObject,
                     "constraint \"" + name + "\" of relation \"" + table->name + "\" does not exist");
   if (constraint->kind != catalog::ConstraintKind::ForeignKey && constraint->kind != catalog::ConstraintKind::Check)
      throw SqlError(sqlstate::wrongObjectType, "constraint \"" + name + "\" of relation \"" + table->name +
                                                    "\" is not a foreign key or check constraint");
   if (constraint->isValidated) return;
   if (constraint->kind == catalog::ConstraintKind::Check)
      table->hasOwnRows() ? requireCheckHolds(context.core, *table, *constraint) : void();
   else
      checkForeignKeyOfTable(context.core, table, *constraint);
   catalog::Relation changed = *table;
   for (catalog::Constraint& one : changed.constraints)
      if (one.name == name) one.isValidated = true;
   editor.replaceRelation(std::move(changed));
}

std::string alterTable(CommandContext& context, const ::AlterTableStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag(tagOf(Verb::Alter, statement.objtype));
   requireWritable(core, tag);
   const auto relation = lockFound(core, LockMode::AccessExclusive, true, [&]() -> catalog::RelationPtr {
      const catalog::SearchPath path = core.searchPath();
      const catalog::QualifiedName name = commandTarget(context, path, *statement.relation);
      auto found = catalog::findRelation(core.transaction.catalog(), path, name);
      if (!found && statement.missing_ok) {
         core.notice("relation \"" + name.name + "\" does not exist, skipping");
         return nullptr;
      }
      if (!found) requireTarget(context, path, *statement.relation);
      requireAlterable(core, *found, statement.objtype, false);
      return found;
   });
   if (!relation) return tag;
   if (relation->relationKind != catalog::RelationKind::Table) {
      const auto alter = relation->relationKind == catalog::RelationKind::Composite ? alterCompositeType : alterOther;
      TableAlteration defaults(context, relation->oid); // of a view's columns
      for (const ::AlterTableCmd* command : ListOf<::AlterTableCmd>(statement.cmds))
         if (command->subtype == AT_ColumnDefault && relation->relationKind == catalog::RelationKind::View)
            defaults.add(*command);
         else
            alter(context, relation->oid, *command);
      defaults.run();
      return tag;
   }
   requireNotInUse(core, *relation, "ALTER TABLE");
   const bool isOnly = !statement.relation->inh;
   requireHeirsAlterable(core, *relation);
   TableAlteration alteration(context, relation->oid);
   AlterCommands commands;
   for (const ::AlterTableCmd* command : ListOf<::AlterTableCmd>(statement.cmds)) {
      requireNotTyped(*relation, *command);
      requireChangeable(core, *relation, *command, isOnly);
      alteration.add(*command);
      commands.push_back(command);
   }
   alteration.run();
   alterHeirs(context, *relation, commands, isOnly);
   return tag;
}

} // namespace ouzel::engine
