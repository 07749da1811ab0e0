#include <set>

#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/session_services.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/collation/collation.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/event_trigger/event_trigger.hpp"
#include "engine/definition/extension/extension.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/language/language.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/part_name.hpp"
#include "engine/definition/publication/publication.hpp"
#include "engine/definition/rule/rule.hpp"
#include "engine/definition/sequence.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/definition/text_search/text_search.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/object_kind.hpp"
#include "engine/role/policy.hpp"
#include "sql/parse/node_access.hpp"

// DROP and TRUNCATE.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

catalog::QualifiedName nameOf(const ::Node* list) {
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(as<::List>(list)))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

struct DropKind {
   char kind; ///< pg_class.relkind, but 'r' for partitioned tables and 'i' for their indexes
   const char *noun, *article, *hint;
};

/// Empty: objects of the type are not relations.
std::optional<DropKind> dropKind(::ObjectType type) {
   switch (type) {
   case OBJECT_TABLE: return DropKind{'r', "table", "a table", "DROP TABLE"};
   case OBJECT_VIEW: return DropKind{'v', "view", "a view", "DROP VIEW"};
   case OBJECT_INDEX: return DropKind{'i', "index", "an index", "DROP INDEX"};
   case OBJECT_SEQUENCE: return DropKind{'S', "sequence", "a sequence", "DROP SEQUENCE"};
   case OBJECT_MATVIEW: return DropKind{'m', "materialized view", "a materialized view", "DROP MATERIALIZED VIEW"};
   case OBJECT_FOREIGN_TABLE: return DropKind{'f', "foreign table", "a foreign table", "DROP FOREIGN TABLE"};
   default: return std::nullopt;
   }
}

char kindOf(const catalog::Relation& relation) {
   switch (relation.relkind()) {
   case 'p': return 'r';
   case 'I': return 'i';
   default: return relation.relkind();
   }
}

const char* hintFor(char kind) {
   switch (kind) {
   case 'r': return "Use DROP TABLE to remove a table.";
   case 'v': return "Use DROP VIEW to remove a view.";
   case 'm': return "Use DROP MATERIALIZED VIEW to remove a materialized view.";
   case 'f': return "Use DROP FOREIGN TABLE to remove a foreign table.";
   case 'i': return "Use DROP INDEX to remove an index.";
   case 'S': return "Use DROP SEQUENCE to remove a sequence.";
   case 'c': return "Use DROP TYPE to remove a type.";
   default: return "";
   }
}

void freeStorage(SessionCore& core, const catalog::Dropped& dropped) {
   for (const catalog::Dropped::Item& item : dropped.items) {
      if (item.relation && item.relation->storage != catalog::noStorage)
         requireNotInUse(core, *item.relation, "DROP TABLE"); // PostgreSQL's word for all kinds
      if (item.relation && item.relation->storage != catalog::noStorage)
         core.database.storage->dropTable(core.transaction.storage(), item.relation->storage);
   }
}

std::string dropSchemas(CommandContext& context, const ::DropStmt& statement, catalog::DropBehavior behavior) {
   SessionCore& core = context.core;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      const auto schema = core.transaction.catalog().findSchema(name);
      if (!schema) {
         if (!statement.missing_ok)
            throw SqlError(sqlstate::invalidSchemaName, "schema \"" + name + "\" does not exist");
         core.notice("schema \"" + name + "\" does not exist, skipping");
         continue;
      }
      requireOwner(core, *schema);
      std::vector<Oid> falling{schema->oid};
      for (const auto& relation : core.transaction.catalog().relations())
         if (relation->schema == schema->oid) falling.push_back(relation->oid);
      for (size_t i = 1; i < falling.size(); ++i)
         core.transaction.lock(falling[i], LockMode::AccessExclusive);
      lockIfPublished(core, falling);
      for (const auto& collation : core.transaction.catalog().collations())
         if (collation->schema == schema->oid) lockUsers(core, *collation);
      announceAndFree(core, core.transaction.editor().dropSchema(schema->oid, behavior));
   }
   return "DROP SCHEMA";
}

std::string dropPolicies(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP POLICY");
   const catalog::SearchPath path = core.searchPath();
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const auto [tableName, name] = partNameOf(object);
      const auto table = catalog::findRelation(core.transaction.catalog(), path, tableName);
      if (table && table->findPolicy(name)) {
         dropPolicy(core, *table, name);
         continue;
      }
      const SystemObject missing = findPartOfRelation(core, OBJECT_POLICY, tableName, name);
      if (!statement.missing_ok) throw SqlError(*missing.missing);
      core.notice(missing.skipped + ", skipping");
   }
   return "DROP POLICY";
}

/// Locks the views over the relations, which go with them: another transaction may be writing into their texts.
void lockViewsOver(SessionCore& core, const std::vector<Oid>& relations) {
   std::set<Oid> locked(relations.begin(), relations.end());
   for (bool isNew = true; isNew;) {
      isNew = false;
      const catalog::Snapshot snapshot = core.transaction.catalog();
      for (const Oid relation : std::vector<Oid>(locked.begin(), locked.end()))
         for (const catalog::RelationPtr& view : snapshot.dependentsOf(relation))
            if (locked.insert(view->oid).second) {
               core.transaction.lock(view->oid, LockMode::AccessExclusive);
               isNew = true;
            }
      if (isNew) core.transaction.seeNewestObjects();
   }
}

/// The relation that a DROP names; null, with a notice, if there is none and none is needed.
catalog::RelationPtr requireDropped(SessionCore& core, const DropKind& wanted, const catalog::QualifiedName& name,
                                    bool missingOk) {
   const bool schemaMissing =
       !name.schema.empty() && name.schema != "pg_temp" && !core.transaction.catalog().findSchema(name.schema);
   auto relation = catalog::findRelation(core.transaction.catalog(), core.searchPath(), name);
   if (!relation) {
      const std::string what = schemaMissing ? "schema \"" + name.schema + "\" does not exist"
                                             : std::string(wanted.noun) + " \"" + name.name + "\" does not exist";
      if (!missingOk)
         throw SqlError(schemaMissing                              ? sqlstate::invalidSchemaName
                        : wanted.kind == 'f' || wanted.kind == 'i' ? sqlstate::undefinedObject
                                                                   : sqlstate::undefinedTable,
                        what);
      core.notice(what + ", skipping");
      return nullptr;
   }
   const char kind = kindOf(*relation);
   if (kind != wanted.kind)
      throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is not " + wanted.article)
          .hint(hintFor(kind));
   if (relation->isBuiltin())
      throw SqlError(sqlstate::insufficientPrivilege,
                     "permission denied: \"" + relation->name + "\" is a system catalog");
   requireDroppable(core, *relation);
   return relation;
}

} // namespace

void announceAndFree(SessionCore& core, const catalog::Dropped& dropped) {
   freeStorage(core, dropped);
   announceCascade(core, dropped);
}

void announceCascade(SessionCore& core, const catalog::Dropped& dropped) {
   const auto [message, lines] = dropped.notice();
   if (!message.empty()) core.notice(message, lines);
}

std::string dropObjects(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (statement.removeType == OBJECT_SCHEMA) {
      requireWritable(core, "DROP SCHEMA");
      return dropSchemas(context, statement, behavior);
   }
   if (statement.removeType == OBJECT_TYPE || statement.removeType == OBJECT_DOMAIN) {
      std::string tag(tagOf(Verb::Drop, statement.removeType));
      requireWritable(core, tag);
      if (dropUserTypes(context, statement)) return tag;
   }
   if (statement.removeType == OBJECT_FOREIGN_SERVER) return dropServers(context, statement);
   if (statement.removeType == OBJECT_FDW) return dropWrappers(context, statement);
   if (statement.removeType == OBJECT_POLICY) return dropPolicies(context, statement);
   if (statement.removeType == OBJECT_STATISTIC_EXT) return dropStatistics(context, statement);
   if (statement.removeType == OBJECT_COLLATION) return dropCollations(context, statement);
   if (textSearchKind(statement.removeType)) return dropTextSearch(context, statement);
   if (statement.removeType == OBJECT_LANGUAGE) return dropLanguages(context, statement);
   if (statement.removeType == OBJECT_EVENT_TRIGGER) return dropEventTriggers(context, statement);
   if (statement.removeType == OBJECT_PUBLICATION) return dropPublications(context, statement);
   if (statement.removeType == OBJECT_RULE) return dropRules(context, statement);
   if (statement.removeType == OBJECT_TRIGGER) return dropTriggers(context, statement);
   if (statement.removeType == OBJECT_EXTENSION) return dropExtensions(context, statement);
   const auto relationKind = dropKind(statement.removeType);
   if (!relationKind) return dropSystemObjects(context, statement);
   const DropKind& wanted = *relationKind;
   requireWritable(core, wanted.hint);
   if (statement.concurrent) refuseInBlock(core, "DROP INDEX CONCURRENTLY");
   std::vector<Oid> relations;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const auto relation = lockFound(core, LockMode::AccessExclusive, true, [&] {
         return requireDropped(core, wanted, nameOf(object), statement.missing_ok);
      });
      if (relation && statement.concurrent && relation->index && relation->index->isPartitioned)
         throw SqlError(sqlstate::featureNotSupported,
                        "cannot drop partitioned index \"" + relation->name + "\" concurrently");
      if (relation) relations.push_back(relation->oid);
   }
   if (behavior == catalog::DropBehavior::Cascade) lockViewsOver(core, relations);
   lockIfPublished(core, relations);
   if (!relations.empty()) announceAndFree(core, core.transaction.editor().dropRelations(relations, behavior));
   return wanted.hint;
}

void dropTemporaryObjects(SessionCore& core) {
   const Oid schema = core.temporarySchema();
   if (schema == invalidOid) return;
   catalog::DropTargets targets;
   for (const catalog::RelationPtr& relation : core.transaction.catalog().relations()) {
      if (relation->schema != schema) continue;
      core.transaction.lock(relation->oid, LockMode::AccessExclusive);
      // Indexes and owned sequences fall with their tables, multirange types with the ranges'.
      const bool isPart = relation->index || (relation->sequence && relation->sequence->ownerRelation != invalidOid) ||
                          relation->relationKind == catalog::RelationKind::Multirange;
      if (!isPart) targets.relations.push_back(relation->oid);
   }
   for (const catalog::FunctionPtr& function : core.transaction.catalog().functions())
      if (function->schema == schema) targets.functions.push_back(function->oid);
   for (const catalog::OperatorPtr& op : core.transaction.catalog().operators())
      if (op->schema == schema) targets.operators.push_back(op->oid);
   if (targets.count() > 0)
      freeStorage(core, core.transaction.editor().dropTogether(targets, catalog::DropBehavior::Cascade));
   for (const catalog::StatisticsPtr& statistics : core.transaction.editor().snapshot().allStatistics())
      if (statistics->schema == schema) core.transaction.editor().dropStatistics(*statistics);
}

namespace {

void requireOwnRows(const catalog::Snapshot& snapshot, const catalog::Relation& table) {
   if (table.foreign) catalog::throwNoAccess(snapshot, *table.foreign, "TRUNCATE of foreign tables");
}

/// What TRUNCATE empties.
struct Truncated {
   std::vector<catalog::RelationPtr> tables;
   size_t named = 0; ///< of them, those that the statement names come first

   bool has(Oid oid) const {
      return std::any_of(tables.begin(), tables.end(), [&](const auto& table) { return table->oid == oid; });
   }
   void addHeirs(const catalog::Snapshot& snapshot, Oid table) {
      for (const Oid heir : snapshot.allHeirOids(table))
         if (!has(heir)) {
            tables.push_back(snapshot.relation(heir));
            requireOwnRows(snapshot, *tables.back());
         }
   }
};

/// The tables named with what inherits from them, and with CASCADE those whose foreign keys reference them, locked.
Truncated lockTruncated(CommandContext& context, const ::TruncateStmt& statement) {
   SessionCore& core = context.core;
   Truncated truncated;
   for (const ::RangeVar* name : ListOf<::RangeVar>(statement.relations)) {
      const auto relation = lockFound(core, LockMode::AccessExclusive, name->inh, [&] {
         auto found = requireTarget(context, core.searchPath(), *name);
         if (found->relationKind != catalog::RelationKind::Table)
            throw SqlError(sqlstate::wrongObjectType, "\"" + found->name + "\" is not a table");
         requireOwnRows(core.transaction.catalog(), *found);
         requirePrivilege(core, *found, catalog::privilege::truncate);
         return found;
      });
      if (!name->inh && relation->partitionKey && !core.transaction.catalog().heirOids(relation->oid).empty())
         throw SqlError(sqlstate::wrongObjectType, "cannot truncate only a partitioned table")
             .hint("Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.");
      if (!truncated.has(relation->oid)) truncated.tables.push_back(relation);
      if (name->inh) truncated.addHeirs(core.transaction.catalog(), relation->oid);
   }
   truncated.named = truncated.tables.size();
   for (size_t i = 0; i < truncated.tables.size(); ++i) {
      const catalog::RelationPtr table = truncated.tables[i];
      const std::vector<std::pair<Oid, Oid>> references = referencesToRows(core, table->oid);
      for (const auto& [childOid, constraint] : references) {
         if (truncated.has(childOid)) continue;
         const Oid oid = childOid;
         const auto child =
             lockFound(core, LockMode::AccessExclusive, true, [&] { return core.transaction.catalog().relation(oid); });
         if (!child) continue;
         if (statement.behavior != DROP_CASCADE)
            throw SqlError(sqlstate::featureNotSupported,
                           "cannot truncate a table referenced in a foreign key constraint")
                .detail("Table \"" + child->name + "\" references \"" + table->name + "\".")
                .hint("Truncate table \"" + child->name + "\" at the same time, or use TRUNCATE ... CASCADE.");
         core.notice("truncate cascades to table \"" + child->name + "\"");
         truncated.tables.push_back(child);
         truncated.addHeirs(core.transaction.catalog(), childOid);
      }
   }
   return truncated;
}

} // namespace

void emptyTable(SessionCore& core, Oid table) {
   catalog::Relation changed = *core.transaction.catalog().relation(table);
   const auto stored = core.database.storage->find(changed.storage);
   if (!stored) // in an old snapshot of the catalog
      throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
   const auto columns = stored->columns();
   core.database.storage->dropTable(core.transaction.storage(), changed.storage);
   const auto fresh = core.transaction.createStorage(*columns);
   fresh->takeUse(*stored);
   core.transaction.storage().use().truncate(fresh->id(), fresh->sharedUse());
   changed.storage = fresh->id();
   core.transaction.editor().replaceRelation(std::move(changed));
}

std::string truncateTables(CommandContext& context, const ::TruncateStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "TRUNCATE TABLE");
   const Truncated truncated = lockTruncated(context, statement);
   const bool hasTriggers = std::any_of(truncated.tables.begin(), truncated.tables.end(),
                                        [](const auto& table) { return !table->triggers.empty(); });
   if (hasTriggers) core.services.fireTruncate(truncated.tables, true);
   for (size_t i = 0; i < truncated.tables.size(); ++i) {
      const catalog::Relation& table = *truncated.tables[i];
      if (i >= truncated.named) requirePrivilege(core, table, catalog::privilege::truncate);
      requireNotInUse(core, table, "TRUNCATE");
      if (!table.partitionKey) emptyTable(core, table.oid);
      if (statement.restart_seqs) restartOwnedSequences(core, table);
   }
   if (hasTriggers) {
      core.transaction.storage().nextCommand();
      core.services.fireTruncate(truncated.tables, false);
   }
   return "TRUNCATE TABLE";
}

} // namespace ouzel::engine
