#include "catalog/object/acl.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "sql/parse/node_access.hpp"

// ALTER and DROP STATISTICS.

namespace ouzel::engine {

using catalog::Statistics;
using sql::as;
using sql::ListOf;
using sql::stringOf;

namespace {

catalog::QualifiedName nameOf(const ::List* list) {
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(list))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

catalog::StatisticsPtr requireOwned(SessionCore& core, const ::List* name) {
   catalog::StatisticsPtr found = findStatistics(core, name, false);
   requireOwner(core, *found);
   return found;
}

/// Keeps ANALYZE and changes of the table away until the end of the transaction.
void lockTable(SessionCore& core, const Statistics& statistics) {
   lockFound(core, LockMode::ShareUpdateExclusive, false,
             [&] { return core.transaction.catalog().relation(statistics.table); });
}

/// Throws 42710 for a name that other statistics have in the schema.
void requireFreeName(SessionCore& core, Oid schema, const std::string& name) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   if (!snapshot.findStatistics(schema, name)) return;
   throw SqlError(sqlstate::duplicateObject, "statistics object \"" + name + "\" already exists in schema \"" +
                                                 snapshot.schema(schema)->name + "\"");
}

/// Changes the newest version of the object.
template <typename Change>
void change(SessionCore& core, Oid oid, Change&& change) {
   Statistics changed = *core.transaction.editor().snapshot().statistics(oid);
   change(changed);
   core.transaction.editor().replaceStatistics(std::move(changed));
}

} // namespace

catalog::StatisticsPtr findStatistics(SessionCore& core, const ::List* list, bool missingOk) {
   const catalog::QualifiedName name = nameOf(list);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const bool isSchemaMissing = !name.schema.empty() && name.schema != "pg_temp" && !snapshot.findSchema(name.schema);
   if (auto found = catalog::findStatistics(snapshot, core.searchPath(), name)) return found;
   const std::string message = isSchemaMissing ? "schema \"" + name.schema + "\" does not exist"
                                               : "statistics object \"" + name.text() + "\" does not exist";
   if (!missingOk) throw SqlError(isSchemaMissing ? sqlstate::invalidSchemaName : sqlstate::undefinedObject, message);
   core.notice(message + ", skipping");
   return nullptr;
}

void requireOwner(SessionCore& core, const Statistics& statistics) {
   if (!actsFor(core, statistics.owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of statistics object " + statistics.name);
}

std::string alterStatistics(CommandContext& context, const ::AlterStatsStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = "ALTER STATISTICS";
   requireWritable(core, tag);
   constexpr int targetMax = 10'000;
   int target = statement.stxstattarget;
   if (target < -1)
      throw SqlError(sqlstate::invalidParameterValue, "statistics target " + std::to_string(target) + " is too low");
   if (target > targetMax) {
      target = targetMax;
      core.warn(sqlstate::invalidParameterValue, "lowering statistics target to " + std::to_string(target));
   }
   const auto found = findStatistics(core, statement.defnames, statement.missing_ok);
   if (!found) return tag;
   requireOwner(core, *found);
   lockTable(core, *found);
   change(core, found->oid, [&](Statistics& changed) { changed.target = target; });
   return tag;
}

std::string dropStatistics(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP STATISTICS");
   std::vector<Oid> dropped;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const auto found = findStatistics(core, as<::List>(object), statement.missing_ok);
      if (!found) continue;
      const auto schema = core.transaction.catalog().schema(found->schema);
      if (!schema || !actsFor(core, schema->owner)) requireOwner(core, *found);
      lockTable(core, *found);
      dropped.push_back(found->oid);
   }
   for (const Oid oid : dropped)
      if (const auto statistics = core.transaction.editor().snapshot().statistics(oid))
         core.transaction.editor().dropStatistics(*statistics);
   return "DROP STATISTICS";
}

void renameStatistics(SessionCore& core, const ::List* name, const char* newName) {
   const auto found = requireOwned(core, name);
   if (const auto schema = core.transaction.catalog().schema(found->schema))
      requirePrivilege(core, *schema, catalog::privilege::create);
   lockTable(core, *found);
   requireFreeName(core, found->schema, newName);
   change(core, found->oid, [&](Statistics& changed) { changed.name = newName; });
}

void moveStatistics(SessionCore& core, const ::List* name, const char* schemaName) {
   const auto found = requireOwned(core, name);
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), schemaName);
   const auto target = core.transaction.catalog().schema(schema);
   if (target) requirePrivilege(core, *target, catalog::privilege::create);
   const auto source = core.transaction.catalog().schema(found->schema);
   for (const auto& each : {target, source})
      if (each && each->name.starts_with("pg_temp_") && schema != found->schema)
         throw SqlError(sqlstate::featureNotSupported, "cannot move objects into or out of temporary schemas");
   if (schema == found->schema) return;
   lockTable(core, *found);
   requireFreeName(core, schema, found->name);
   change(core, found->oid, [&](Statistics& changed) { changed.schema = schema; });
}

void changeStatisticsOwner(SessionCore& core, const ::List* name, Oid owner) {
   const auto found = requireOwned(core, name);
   if (found->owner == owner) return;
   requireNewOwner(core, owner, found->schema);
   lockTable(core, *found);
   change(core, found->oid, [&](Statistics& changed) { changed.owner = owner; });
}

void reassignStatistics(SessionCore& core, Oid from, Oid to) {
   for (const auto& statistics : core.transaction.catalog().allStatistics())
      if (statistics->owner == from) {
         lockTable(core, *statistics);
         change(core, statistics->oid, [&](Statistics& changed) { changed.owner = to; });
      }
}

void dropStatisticsOf(SessionCore& core, Oid role) {
   for (const auto& statistics : core.transaction.catalog().allStatistics())
      if (statistics->owner == role) {
         lockTable(core, *statistics);
         core.transaction.editor().dropStatistics(*statistics);
      }
}

} // namespace ouzel::engine
