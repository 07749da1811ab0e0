#include <set>

#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/collation/collation.hpp"
#include "engine/definition/database/database.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/event_trigger/event_trigger.hpp"
#include "engine/definition/extension/extension.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/language/language.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/operator/operator.hpp"
#include "engine/definition/publication/publication.hpp"
#include "engine/definition/rule/rule.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/definition/text_search/text_search.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/definition/type/typed_table.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/object_kind.hpp"
#include "engine/role/large_object.hpp"
#include "engine/role/policy.hpp"
#include "engine/role/role.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

// ALTER ... RENAME, SET SCHEMA; COMMENT ON.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

/// The relation, locked; null, with a notice, if there is none and none is needed.
catalog::RelationPtr findOrNotice(CommandContext& context, const ::RangeVar& name, ::ObjectType type, bool isRename,
                                  bool missingOk) {
   SessionCore& core = context.core;
   return lockFound(core, LockMode::AccessExclusive, isRename && name.inh, [&] {
      const catalog::SearchPath path = core.searchPath();
      const catalog::QualifiedName qualified = commandTarget(context, path, name);
      auto relation = catalog::findRelation(core.transaction.catalog(), path, qualified);
      if (!relation && !missingOk) requireTarget(context, path, name);
      if (!relation)
         core.notice("relation \"" + qualified.name + "\" does not exist, skipping");
      else
         requireAlterable(core, *relation, type, isRename);
      return relation;
   });
}

/// Locks the relations whose texts name this one, which is locked: another transaction may be writing the new name of
/// another table into the same text.
void lockReaders(SessionCore& core, Oid relation) {
   std::set<Oid> locked;
   for (bool isNew = true; isNew;) {
      isNew = false;
      const catalog::Snapshot snapshot = core.transaction.catalog();
      for (const auto& readers :
           {snapshot.dependentsOf(relation), snapshot.withPoliciesReading(relation), snapshot.withRulesUsing(relation)})
         for (const catalog::RelationPtr& reader : readers)
            if (reader->oid != relation && locked.insert(reader->oid).second) {
               core.transaction.lock(reader->oid, LockMode::ShareUpdateExclusive);
               isNew = true;
            }
      if (isNew) core.transaction.seeNewestObjects();
   }
}

/// Writes the new name into a view's text. The names of a view's own columns are in the catalog and not in its text.
catalog::SqlRewriter rewriteView(CommandContext& context, Oid relation, int16_t attribute, std::string name) {
   return [&context, relation, attribute, name = std::move(name)](const std::string& definition) {
      const catalog::SearchPath path = context.core.searchPath();
      return sql::renameInView(definition, relation, attribute, name, context.core.bindContext(path, nullptr));
   };
}

/// Writes the new name of the table or a column into an expression over the table.
catalog::SqlRewriter rewriteExpression(CommandContext& context, const catalog::Relation& table, int16_t attribute,
                                       std::string name) {
   return [&context, &table, attribute, name = std::move(name)](const std::string& expression) {
      const catalog::SearchPath path = context.core.searchPath();
      return sql::renameInExpression(expression, table, attribute, name, context.core.bindContext(path, nullptr));
   };
}

void renameRelation(CommandContext& context, const catalog::Relation& relation, const std::string& name) {
   lockReaders(context.core, relation.oid);
   // CHECK constraints and generated columns may name the table for its whole row.
   catalog::Relation rewritten = relation;
   const catalog::SqlRewriter rewrite = rewriteExpression(context, relation, 0, name);
   for (catalog::Constraint& constraint : rewritten.constraints)
      if (constraint.kind == catalog::ConstraintKind::Check) constraint.expression = rewrite(constraint.expression);
   for (catalog::Column& column : rewritten.columns)
      if (column.generated && !column.isDropped) column.defaultExpr = rewrite(column.defaultExpr);
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   const RenamedPolicies policies(context.core, relation.oid, 0, name);
   const RenamedRules rules(context.core, relation.oid, 0, name);
   const RenamedTriggers triggers(context.core, relation.oid, 0, name);
   editor.renameRelation(relation.oid, name, rewriteView(context, relation.oid, 0, name));
   rewritten.name = name;
   editor.replaceRelation(std::move(rewritten));
   for (const catalog::RelationPtr& index : editor.snapshot().indexesOf(relation.oid)) {
      if (!index->index->isComputed()) continue;
      catalog::Relation changed = *index;
      for (std::string& expression : changed.index->expressions)
         expression = rewrite(expression);
      if (!changed.index->predicate.empty()) changed.index->predicate = rewrite(changed.index->predicate);
      editor.replaceRelation(std::move(changed));
   }
   policies.put(context.core);
   rules.put(context.core);
   triggers.put(context.core);
}

/// Writes the new schema of relations into a view's text.
catalog::SqlRewriter moveViews(CommandContext& context, std::set<Oid> relations, std::string schema) {
   return [&context, relations = std::move(relations), schema = std::move(schema)](const std::string& definition) {
      const catalog::SearchPath path = context.core.searchPath();
      return sql::moveInView(definition, relations, schema, context.core.bindContext(path, nullptr));
   };
}

void moveToSchema(CommandContext& context, const catalog::Relation& relation, const char* name) {
   SessionCore& core = context.core;
   if (relation.index)
      throw SqlError(sqlstate::wrongObjectType, "cannot change schema of index \"" + relation.name + "\"")
          .hint("Change the schema of the table instead.");
   if (relation.sequence && relation.sequence->ownerRelation != invalidOid)
      throw SqlError(sqlstate::featureNotSupported, "cannot move an owned sequence into another schema")
          .detail("Sequence \"" + relation.name + "\" is linked to table \"" +
                  core.transaction.catalog().relation(relation.sequence->ownerRelation)->name + "\".");
   lockReaders(core, relation.oid);
   catalog::CatalogEditor& editor = core.transaction.editor();
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), name);
   const auto target = core.transaction.catalog().schema(schema);
   if (target && target->oid != core.temporarySchema())
      requirePrivilege(core, *target, catalog::privilege::create | catalog::privilege::usage);
   if (relation.persistence == catalog::Persistence::Temporary || (target && target->name.starts_with("pg_temp_")))
      throw SqlError(sqlstate::featureNotSupported, "cannot move objects into or out of temporary schemas");
   if (!editor.snapshot().withPoliciesReading(relation.oid).empty())
      throwNotSupported("moving a relation that a policy uses");
   if (!editor.snapshot().withRulesUsing(relation.oid).empty()) throwNotSupported("moving a relation that a rule uses");
   const std::vector<catalog::RelationPtr> all = editor.snapshot().relations();
   for (const catalog::RelationPtr& other : all)
      if (other->sequence && other->sequence->ownerRelation == relation.oid)
         editor.setSchema(other->oid, schema, moveViews(context, {other->oid}, name));
   editor.setSchema(relation.oid, schema, moveViews(context, {relation.oid}, name));
}

void renameColumn(CommandContext& context, const catalog::Relation& relation, const std::string& from,
                  const std::string& to) {
   lockReaders(context.core, relation.oid);
   const int16_t attribute = relation.findColumn(from)->attribute;
   const RenamedPolicies policies(context.core, relation.oid, attribute, to);
   const RenamedRules rules(context.core, relation.oid, attribute, to);
   const RenamedTriggers triggers(context.core, relation.oid, attribute, to);
   const RenamedFilters filters(context.core, relation, attribute, to);
   context.core.transaction.editor().renameColumn(relation.oid, from, to,
                                                  rewriteExpression(context, relation, attribute, to),
                                                  rewriteView(context, relation.oid, attribute, to));
   policies.put(context.core);
   rules.put(context.core);
   triggers.put(context.core);
   filters.put(context.core);
}

/// The tables that inherit the column that is renamed, locked. Throws 42P16 if it is inherited itself, or by others
/// than the statement names.
std::vector<catalog::RelationPtr> heirsWithColumn(SessionCore& core, const catalog::Relation& table,
                                                  const ::RenameStmt& statement) {
   const catalog::Snapshot snapshot = core.transaction.editor().snapshot();
   const std::string name = statement.subname;
   const auto refuse = [&](const std::string& message) { throw SqlError(sqlstate::invalidTableDefinition, message); };
   std::vector<catalog::RelationPtr> heirs;
   if (table.findColumn(name)->parentCount > 0) refuse("cannot rename inherited column \"" + name + "\"");
   if (!statement.relation->inh && !snapshot.heirOids(table.oid).empty())
      refuse("inherited column \"" + name + "\" must be renamed in child tables too");
   std::vector<Oid> renamed{table.oid};
   for (const Oid oid : snapshot.allHeirOids(table.oid)) {
      core.transaction.lock(oid, LockMode::AccessExclusive);
      heirs.push_back(snapshot.relation(oid));
      renamed.push_back(oid);
   }
   for (const catalog::RelationPtr& heir : heirs) {
      const catalog::Column* column = heir->findColumn(name);
      if (!column) continue;
      const auto among = std::count_if(heir->parents.begin(), heir->parents.end(), [&](Oid parent) {
         return std::find(renamed.begin(), renamed.end(), parent) != renamed.end();
      });
      if (column->parentCount > among) refuse("cannot rename inherited column \"" + name + "\"");
   }
   std::erase_if(heirs, [&](const auto& heir) { return !heir->findColumn(name); });
   return heirs;
}

/// CHECK constraints are renamed in all that inherit them.
void renameConstraint(SessionCore& core, const catalog::Relation& table, const ::RenameStmt& statement) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const std::string name = statement.subname;
   const catalog::Constraint* constraint = table.findConstraint(name);
   const bool isCheck = constraint && constraint->kind == catalog::ConstraintKind::Check && !constraint->noInherit;
   const auto refuse = [&](const std::string& message) { throw SqlError(sqlstate::invalidTableDefinition, message); };
   const std::vector<Oid> heirs = isCheck ? editor.snapshot().allHeirOids(table.oid) : std::vector<Oid>();
   if (isCheck && constraint->parentCount > 0) refuse("cannot rename inherited constraint \"" + name + "\"");
   if (!heirs.empty() && !statement.relation->inh)
      refuse("inherited constraint \"" + name + "\" must be renamed in child tables too");
   editor.renameConstraint(table.oid, name, statement.newname);
   for (const Oid heir : heirs) {
      core.transaction.lock(heir, LockMode::AccessExclusive);
      if (editor.snapshot().relation(heir)->findConstraint(name))
         editor.renameConstraint(heir, name, statement.newname);
   }
}

} // namespace

std::string renameObject(CommandContext& context, const ::RenameStmt& statement) {
   SessionCore& core = context.core;
   const ::ObjectType type = statement.renameType == OBJECT_COLUMN || statement.renameType == OBJECT_ATTRIBUTE
                                 ? statement.relationType
                                 : statement.renameType;
   std::string tag(tagOf(Verb::Alter, type));
   requireWritable(core, tag);
   catalog::CatalogEditor& editor = core.transaction.editor();
   switch (statement.renameType) {
   case OBJECT_EVENT_TRIGGER: return renameEventTrigger(context, statement);
   case OBJECT_PUBLICATION: return renamePublication(context, statement);
   case OBJECT_SCHEMA: {
      const auto schema = core.transaction.catalog().findSchema(statement.subname);
      if (!schema)
         throw SqlError(sqlstate::invalidSchemaName,
                        "schema \"" + std::string(statement.subname) + "\" does not exist");
      requireOwner(core, *schema);
      requireDatabasePrivilege(core, catalog::privilege::create);
      std::set<Oid> moved;
      for (const auto& relation : core.transaction.catalog().relations()) {
         if (relation->schema != schema->oid) continue;
         moved.insert(relation->oid);
         if (catalog::isUserType(*relation))
            requireNotInTexts(core, relation->name, false, "renaming the schema of a type");
      }
      editor.renameSchema(schema->oid, statement.newname, moveViews(context, moved, statement.newname));
      return tag;
   }
   case OBJECT_TABLE:
   case OBJECT_VIEW:
   case OBJECT_INDEX:
   case OBJECT_SEQUENCE:
   case OBJECT_MATVIEW:
   case OBJECT_FOREIGN_TABLE:
      if (const auto relation =
              findOrNotice(context, *statement.relation, statement.renameType, true, statement.missing_ok)) {
         if (const auto schema = core.transaction.catalog().schema(relation->schema))
            requirePrivilege(core, *schema, catalog::privilege::create);
         renameRelation(context, *relation, statement.newname);
      }
      return tag;
   case OBJECT_ATTRIBUTE:
   case OBJECT_COLUMN:
      if (const auto relation = findOrNotice(context, *statement.relation, type == OBJECT_TYPE ? type : OBJECT_TABLE,
                                             true, statement.missing_ok)) {
         if (relation->sequence)
            throw SqlError(sqlstate::wrongObjectType, "cannot rename columns of relation \"" + relation->name + "\"")
                .detail(unsupportedFor(*relation));
         if (!relation->findColumn(statement.subname))
            throw SqlError(sqlstate::undefinedColumn,
                           "column \"" + std::string(statement.subname) + "\" does not exist");
         if (relation->ofType != invalidOid)
            throw SqlError(sqlstate::wrongObjectType, "cannot rename column of typed table");
         std::vector<catalog::RelationPtr> heirs;
         if (relation->relationKind == catalog::RelationKind::Composite) {
            heirs = typedTables(core, *relation, statement.behavior == DROP_CASCADE);
            requireNotInTexts(core, statement.subname, true, "renaming an attribute");
            for (const auto& typed : std::vector(heirs))
               for (const auto& below : heirsWithColumn(core, *typed, statement))
                  heirs.push_back(below);
         } else {
            heirs = heirsWithColumn(core, *relation, statement);
         }
         renameColumn(context, *relation, statement.subname, statement.newname);
         for (const auto& heir : heirs)
            renameColumn(context, *heir, statement.subname, statement.newname);
      }
      return tag;
   case OBJECT_TABCONSTRAINT:
      if (const auto relation = findOrNotice(context, *statement.relation, OBJECT_TABLE, true, statement.missing_ok))
         renameConstraint(core, *relation, statement);
      return tag;
   case OBJECT_POLICY: return renamePolicy(context, statement);
   case OBJECT_STATISTIC_EXT: renameStatistics(core, as<::List>(statement.object), statement.newname); return tag;
   case OBJECT_AGGREGATE:
   case OBJECT_FUNCTION:
   case OBJECT_PROCEDURE:
   case OBJECT_ROUTINE:
      if (const auto function = findUserFunction(context, type, *as<::ObjectWithArgs>(statement.object))) {
         renameFunction(core, *function, statement.newname);
         return tag;
      }
      refuseToAlter(type, findSystemObject(core, type, statement.object));
   case OBJECT_LANGUAGE:
      if (renameLanguage(core, std::string(stringOf(statement.object)), statement.newname)) return tag;
      refuseToAlter(type, findSystemObject(core, type, statement.object));
   case OBJECT_COLLATION:
      if (const auto collation = findUserCollation(core, as<::List>(statement.object))) {
         renameCollation(core, *collation, statement.newname);
         return tag;
      }
      refuseToAlter(type, findSystemObject(core, type, statement.object));
   case OBJECT_TSCONFIGURATION:
   case OBJECT_TSDICTIONARY:
   case OBJECT_TSPARSER:
   case OBJECT_TSTEMPLATE: renameTextSearch(core, type, as<::List>(statement.object), statement.newname); return tag;
   case OBJECT_FOREIGN_SERVER: renameServer(core, stringOf(statement.object), statement.newname); return tag;
   case OBJECT_FDW: renameWrapper(core, stringOf(statement.object), statement.newname); return tag;
   case OBJECT_RULE: return renameRule(context, statement);
   case OBJECT_TRIGGER: return renameTrigger(context, statement);
   case OBJECT_DATABASE: renameDatabase(core, statement.subname, statement.newname); return tag;
   case OBJECT_ROLE: return renameRole(context, statement);
   case OBJECT_TABLESPACE:
      refuseToAlter(type, findSystemObject(core, type, std::vector<std::string>{statement.subname}));
   case OBJECT_DOMCONSTRAINT:
      if (const auto domain = findUserType(context, statement.object)) {
         requireOwner(core, *domain);
         core.transaction.lock(domain->oid, LockMode::AccessExclusive);
         editor.renameConstraint(domain->oid, statement.subname, statement.newname);
         return tag;
      }
      refuseToAlter(type, findSystemObject(core, OBJECT_DOMAIN, statement.object));
   case OBJECT_DOMAIN:
   case OBJECT_TYPE:
      if (const auto composite = findUserType(context, statement.object)) {
         requireDefined(*composite, statement.object);
         requireOwner(core, *composite);
         core.transaction.lock(composite->oid, LockMode::AccessExclusive);
         requireNotInTexts(core, composite->name, false, "renaming a type");
         renameRelation(context, *composite, statement.newname);
         return tag;
      }
      refuseToAlter(type, findSystemObject(core, statement.renameType, statement.object));
   default: refuseToAlter(type, findSystemObject(core, type, statement.object));
   }
}

std::string alterSchema(CommandContext& context, const ::AlterObjectSchemaStmt& statement) {
   const ::ObjectType type = statement.objectType;
   std::string tag(tagOf(Verb::Alter, type));
   requireWritable(context.core, tag);
   if (type == OBJECT_TYPE || type == OBJECT_DOMAIN)
      if (const auto composite = findUserType(context, statement.object)) {
         requireDefined(*composite, statement.object);
         requireOwner(context.core, *composite);
         context.core.transaction.lock(composite->oid, LockMode::AccessExclusive);
         requireNotInTexts(context.core, composite->name, false, "moving a type");
         moveToSchema(context, *composite, statement.newschema);
         return tag;
      }
   if (type == OBJECT_STATISTIC_EXT) {
      moveStatistics(context.core, as<::List>(statement.object), statement.newschema);
      return tag;
   }
   if (type == OBJECT_FUNCTION || type == OBJECT_PROCEDURE || type == OBJECT_ROUTINE || type == OBJECT_AGGREGATE)
      if (const auto function = findUserFunction(context, type, *as<::ObjectWithArgs>(statement.object))) {
         moveFunction(context.core, *function, statement.newschema);
         return tag;
      }
   if (type == OBJECT_OPERATOR)
      if (const auto op = findUserOperator(context, *as<::ObjectWithArgs>(statement.object))) {
         moveOperator(context.core, *op, statement.newschema);
         return tag;
      }
   if (type == OBJECT_COLLATION)
      if (const auto collation = findUserCollation(context.core, as<::List>(statement.object))) {
         moveCollation(context.core, *collation, statement.newschema);
         return tag;
      }
   if (textSearchKind(type)) {
      moveTextSearch(context.core, type, as<::List>(statement.object), statement.newschema);
      return tag;
   }
   if (type == OBJECT_EXTENSION) return moveExtension(context, statement);
   if (!statement.relation) refuseToAlter(type, findSystemObject(context.core, type, statement.object));
   if (const auto relation = findOrNotice(context, *statement.relation, type, false, statement.missing_ok))
      moveToSchema(context, *relation, statement.newschema);
   return tag;
}

namespace {

/// Throws 42809 unless the relation is what COMMENT ON calls it.
void requireKind(const catalog::Relation& relation, ::ObjectType type) {
   const auto is = [&](::ObjectType wanted, std::string_view relkinds) {
      return type == wanted && relkinds.find(relation.relkind()) != std::string_view::npos;
   };
   if (is(OBJECT_TABLE, "rp") || is(OBJECT_VIEW, "v") || is(OBJECT_INDEX, "iI") || is(OBJECT_SEQUENCE, "S") ||
       is(OBJECT_MATVIEW, "m") || is(OBJECT_FOREIGN_TABLE, "f"))
      return;
   throw SqlError(sqlstate::wrongObjectType, "\"" + relation.name + "\" is not " +
                                                 (type == OBJECT_INDEX ? "an " : "a ") +
                                                 std::string(objectKindNoun(type)));
}

} // namespace

std::string commentOn(CommandContext& context, const ::CommentStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "COMMENT");
   const std::string text = statement.comment ? statement.comment : "";
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto relationOf = [&](std::vector<std::string> parts) {
      const catalog::QualifiedName name = catalog::toQualifiedName(std::move(parts));
      const catalog::SearchPath path = core.searchPath();
      if (!name.schema.empty()) catalog::requireSchema(snapshot, path, name.schema);
      return catalog::requireRelation(snapshot, path, name);
   };
   const auto parts = [&] {
      std::vector<std::string> names;
      for (const ::Node* part : ListOf<>(as<::List>(statement.object)))
         names.emplace_back(stringOf(part));
      return names;
   };
   switch (statement.objtype) {
   case OBJECT_TABLE:
   case OBJECT_VIEW:
   case OBJECT_INDEX:
   case OBJECT_SEQUENCE:
   case OBJECT_MATVIEW:
   case OBJECT_FOREIGN_TABLE: {
      const auto relation = relationOf(parts());
      requireKind(*relation, statement.objtype);
      requireOwner(core, *relation);
      editor.setComment(catalog::class_oid::pgClass, relation->oid, 0, text);
      break;
   }
   case OBJECT_COLUMN: {
      std::vector<std::string> names = parts();
      const std::string column = names.back();
      names.pop_back();
      const auto relation = relationOf(std::move(names));
      if (!actsFor(core, relation->owner))
         throw SqlError(sqlstate::insufficientPrivilege, "must be owner of relation " + relation->name);
      if (relation->index || relation->sequence)
         throw SqlError(sqlstate::wrongObjectType, "cannot set comment on relation \"" + relation->name + "\"")
             .detail(unsupportedFor(*relation));
      editor.setComment(catalog::class_oid::pgClass, relation->oid, catalog::requireColumn(*relation, column).attribute,
                        text);
      break;
   }
   case OBJECT_TABCONSTRAINT: {
      std::vector<std::string> names = parts();
      const std::string name = names.back();
      names.pop_back();
      const auto relation = relationOf(std::move(names));
      const catalog::Constraint* constraint = relation->findConstraint(name);
      requireOwner(core, *relation);
      if (!constraint)
         throw SqlError(sqlstate::undefinedObject,
                        "constraint \"" + name + "\" for table \"" + relation->name + "\" does not exist");
      editor.setComment(catalog::class_oid::pgConstraint, constraint->oid, 0, text);
      break;
   }
   case OBJECT_POLICY: {
      std::vector<std::string> names = parts();
      const std::string name = names.back();
      names.pop_back();
      const auto relation = relationOf(std::move(names));
      requireOwner(core, *relation);
      editor.setComment(catalog::class_oid::pgPolicy, requirePolicy(*relation, name).oid, 0, text);
      break;
   }
   case OBJECT_TRIGGER: {
      std::vector<std::string> names = parts();
      const std::string name = names.back();
      names.pop_back();
      const auto relation = relationOf(std::move(names));
      requireOwner(core, *relation);
      editor.setComment(catalog::class_oid::pgTrigger, requireTrigger(*relation, name).oid, 0, text);
      break;
   }
   case OBJECT_RULE: {
      std::vector<std::string> names = parts();
      const std::string name = names.back();
      names.pop_back();
      const auto relation = relationOf(std::move(names));
      requireOwner(core, *relation);
      const bool isView = relation->relationKind == catalog::RelationKind::View && name == "_RETURN";
      editor.setComment(catalog::class_oid::pgRewrite,
                        isView ? catalog::viewRuleOf(relation->oid) : requireRule(*relation, name).oid, 0, text);
      break;
   }
   case OBJECT_DOMCONSTRAINT: {
      const ListOf<> named(as<::List>(statement.object));
      const std::string name(stringOf(named[1]));
      const auto domain = findUserType(context, named[0]);
      if (!domain) throw SqlError(*findSystemObject(core, OBJECT_DOMAIN, named[0]).missing);
      requireOwner(core, *domain);
      const catalog::Constraint* constraint = domain->findConstraint(name);
      if (!constraint)
         throw SqlError(sqlstate::undefinedObject,
                        "constraint \"" + name + "\" for domain " + domain->name + " does not exist");
      editor.setComment(catalog::class_oid::pgConstraint, constraint->oid, 0, text);
      break;
   }
   case OBJECT_SCHEMA: {
      const Oid schema = catalog::requireSchema(snapshot, core.searchPath(), stringOf(statement.object));
      if (const auto found = snapshot.schema(schema)) requireOwner(core, *found);
      editor.setComment(catalog::class_oid::pgNamespace, schema, 0, text);
      break;
   }
   case OBJECT_LARGEOBJECT: commentOnLargeObject(core, statement.object, text); break;
   case OBJECT_FOREIGN_SERVER: commentOnServer(core, stringOf(statement.object), text); break;
   case OBJECT_FDW: commentOnWrapper(core, stringOf(statement.object), text); break;
   case OBJECT_STATISTIC_EXT: {
      const auto statistics = findStatistics(core, as<::List>(statement.object), false);
      requireOwner(core, *statistics);
      editor.setComment(catalog::class_oid::pgStatisticExt, statistics->oid, 0, text);
      break;
   }
   case OBJECT_EVENT_TRIGGER: commentOnEventTrigger(core, std::string(stringOf(statement.object)), text); break;
   case OBJECT_PUBLICATION: commentOnPublication(core, std::string(stringOf(statement.object)), text); break;
   case OBJECT_COLLATION: commentOnCollation(core, as<::List>(statement.object), text); break;
   case OBJECT_TSCONFIGURATION:
   case OBJECT_TSDICTIONARY:
   case OBJECT_TSPARSER:
   case OBJECT_TSTEMPLATE: commentOnTextSearch(core, statement.objtype, as<::List>(statement.object), text); break;
   case OBJECT_DATABASE: {
      const std::string name(stringOf(statement.object));
      const auto database = lockDatabase(core, name, LockMode::ShareUpdateExclusive);
      if (database) requireOwner(core, *database);
      if (database)
         editor.setComment(catalog::class_oid::pgDatabase, database->oid, 0, text);
      else // so that a dump of another database can be read
         core.notices.notice({Notice::Severity::Warning,
                              sqlstate::undefinedDatabase,
                              "database \"" + name + "\" does not exist",
                              {},
                              {}});
      break;
   }
   case OBJECT_ROLE: {
      const std::string name(stringOf(statement.object));
      const auto role = snapshot.findRole(name);
      if (!role) throw SqlError(sqlstate::undefinedObject, "role \"" + name + "\" does not exist");
      requireMayComment(core, *role);
      editor.setComment(catalog::class_oid::pgAuthid, role->oid, 0, text);
      break;
   }
   default: {
      if (statement.objtype == OBJECT_LANGUAGE &&
          commentOnLanguage(core, std::string(stringOf(statement.object)), text))
         break;
      const SystemObject object = findSystemObject(core, statement.objtype, statement.object);
      if (object.missing) throw SqlError(*object.missing);
      if (object.classOid == catalog::class_oid::pgType && object.oid >= firstUserOid)
         if (const auto type = snapshot.relationOfType(object.oid)) requireOwner(core, *type);
      if (object.classOid == catalog::class_oid::pgProc && object.oid >= firstUserOid)
         if (const auto function = snapshot.function(object.oid)) requireOwner(core, *function);
      if (object.classOid == catalog::class_oid::pgOperator && object.oid >= firstUserOid)
         if (const auto op = snapshot.op(object.oid)) requireOwner(core, *op);
      if (object.classOid == catalog::class_oid::pgCast && object.oid >= firstUserOid)
         if (const auto cast = snapshot.cast(object.oid)) requireDroppable(core, *cast);
      if (object.classOid == catalog::class_oid::pgExtension && object.oid >= firstUserOid)
         if (const auto extension = snapshot.extension(object.oid)) requireOwner(core, *extension);
      if (object.oid < firstUserOid && !actsFor(core, catalog::bootstrapRole))
         throw SqlError(sqlstate::insufficientPrivilege, "must be owner of " + object.description);
      if (object.oid == invalidOid) throwNotSupported("COMMENT ON " + std::string(objectKindName(statement.objtype)));
      editor.setComment(object.classOid, object.oid, 0, text);
   }
   }
   return "COMMENT";
}

} // namespace ouzel::engine
