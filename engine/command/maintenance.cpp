#include "catalog/builtin/extensions.hpp"
#include "catalog/object/membership.hpp"
#include "engine/analyze/analyze.hpp"
#include "engine/command/command.hpp"
#include "engine/core/privileges.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/parse/node_access.hpp"

// VACUUM, ANALYZE, CHECKPOINT, LOAD, and the helpers that commands share.

namespace ouzel::engine {

namespace {

/// Whether VACUUM has the option ANALYZE.
bool wantsAnalyze(const ::VacuumStmt& statement) {
   for (const ::DefElem* option : sql::ListOf<::DefElem>(statement.options))
      if (sql::textOf(option->defname) == "analyze") return booleanOption(*option);
   return false;
}

} // namespace

std::string vacuum(CommandContext& context, const ::VacuumStmt& statement) {
   SessionCore& core = context.core;
   if (statement.is_vacuumcmd) refuseInBlock(core, "VACUUM");
   const catalog::SearchPath path = core.searchPath();
   const bool analyzes = !statement.is_vacuumcmd || wantsAnalyze(statement);
   const sql::ListOf<::VacuumRelation> targets(statement.rels);
   for (const ::VacuumRelation* target : targets)
      if (const auto relation = requireTarget(context, path, *target->relation); !actsFor(core, relation->owner))
         core.warn(sqlstate::warning, "skipping \"" + relation->name + "\" --- only table or database owner can " +
                                          (statement.is_vacuumcmd ? "vacuum" : "analyze") + " it");
      else if (statement.is_vacuumcmd && relation->foreign)
         core.warn(sqlstate::warning,
                   "skipping \"" + relation->name + "\" --- cannot vacuum non-tables or special system tables");
      else if (analyzes)
         analyzeTable(core, relation->oid, target->va_cols);
   if (analyzes && targets.size() == 0) analyzeDatabase(core);
   // Statistics of single columns are kept up to date as rows are written; space comes back with the next checkpoint.
   return statement.is_vacuumcmd ? "VACUUM" : "ANALYZE";
}

std::string checkpoint(CommandContext& context) {
   constexpr Oid mayCheckpoint = 4544; // the predefined role pg_checkpoint
   if (!catalog::inheritsFrom(context.core.transaction.catalog(), context.core.role(), mayCheckpoint))
      requireSuperuser(context.core, "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT");
   Database::Internals& database = context.core.database;
   if (database.following)
      database.following->look(); // as CHECKPOINT on a standby of PostgreSQL makes a restart point
   else
      database.storage->checkpoint();
   return "CHECKPOINT";
}

std::string load(CommandContext& context, const ::LoadStmt& statement) {
   const std::string name = statement.filename;
   if (!name.starts_with("$libdir/plugins/"))
      requireSuperuser(context.core, "access to library \"" + name + "\" is not allowed");
   std::string_view library = name;
   if (library.starts_with("$libdir/")) library.remove_prefix(8);
   if (library.ends_with(".so")) library.remove_suffix(3);
   if (!catalog::findExtensionInfo(library))
      throw SqlError(sqlstate::undefinedFile, "could not access file \"" + name + "\": No such file or directory");
   return "LOAD"; // what extensions are made of is a part of the server
}

bool booleanOption(const ::DefElem& option) {
   if (!option.arg) return true;
   if (sql::isNode(option.arg, T_Integer)) return sql::as<::Integer>(option.arg)->ival != 0;
   if (sql::isNode(option.arg, T_Boolean)) return sql::as<::Boolean>(option.arg)->boolval;
   const SettingInfo* anyBoolean = findSetting("enable_hashjoin");
   try {
      return canonicalSetting(*anyBoolean, sql::stringOf(option.arg)) == "on";
   } catch (const SqlError&) {
      throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value");
   }
}

ResultColumn textColumn(std::string name) {
   const SqlType text{oid::text, -1, defaultCollation};
   return {std::move(name), text, storedRepresentation(text), invalidOid, 0};
}

void emitTextRows(ResultSink& sink, const std::vector<ResultColumn>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
   sink.begin(columns);
   for (size_t first = 0; first < rows.size(); first += batchRowsMax) {
      const size_t count = std::min<size_t>(batchRowsMax, rows.size() - first);
      std::vector<std::vector<StringView>> values(columns.size(), std::vector<StringView>(count));
      Batch batch;
      for (size_t column = 0; column < columns.size(); ++column) {
         for (size_t row = 0; row < count; ++row)
            values[column][row] = StringView(rows[first + row][column]);
         batch.columns.push_back(Vector::flat(PhysicalType::String, values[column].data(), nullptr));
      }
      batch.setDense(static_cast<uint32_t>(count));
      sink.rows(batch);
   }
}

} // namespace ouzel::engine
