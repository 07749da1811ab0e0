#include <algorithm>
#include <array>

#include "catalog/object/snapshot.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions about statistics that are no column of a view: resets, and what PostgreSQL needs to publish its counters.
// Here they are published when a transaction ends.

namespace ouzel::executor {

namespace {

StringView resetAll(KernelEnv& env) {
   env.context.requireSession("pg_stat_reset").resetStatistics("database", invalidOid);
   return StringView();
}
StringView resetTable(int64_t relation, KernelEnv& env) {
   env.context.requireSession("pg_stat_reset_single_table_counters")
       .resetStatistics("table", static_cast<Oid>(relation));
   return StringView();
}
StringView resetFunction(int64_t function, KernelEnv& env) {
   env.context.requireSession("pg_stat_reset_single_function_counters")
       .resetStatistics("function", static_cast<Oid>(function));
   return StringView();
}
StringView resetShared(const StringView& target, KernelEnv& env) {
   const std::string part(target.view());
   if (part != "archiver" && part != "bgwriter" && part != "recovery_prefetch" && part != "wal")
      throw SqlError(sqlstate::invalidParameterValue, "unrecognized reset target: \"" + part + "\"")
          .hint("Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".");
   env.context.requireSession("pg_stat_reset_shared").resetStatistics(part, invalidOid);
   return StringView();
}

constexpr std::array<std::string_view, 8> slruNames{
    "CommitTs", "MultiXactMember", "MultiXactOffset", "Notify", "Serial", "Subtrans", "Xact", "other"};

/// NULL: all. What is not known is "other".
StringView resetSlru(std::optional<StringView> name, KernelEnv& env) {
   SessionFunctions& session = env.context.requireSession("pg_stat_reset_slru");
   const auto reset = [&](std::string_view part) { session.resetStatistics("slru/" + std::string(part), invalidOid); };
   if (!name) {
      std::for_each(slruNames.begin(), slruNames.end(), reset);
   } else {
      const auto found = std::find(slruNames.begin(), slruNames.end(), name->view());
      reset(found == slruNames.end() ? "other" : *found);
   }
   return StringView();
}

StringView publish() {
   return StringView();
}
StringView clearSnapshot(KernelEnv& env) {
   env.context.requireSession("pg_stat_clear_snapshot").clearStatistics();
   return StringView();
}
std::optional<int64_t> snapshotTime(KernelEnv& env) {
   return env.context.requireSession("pg_stat_get_snapshot_timestamp").statisticsTime();
}

bool relationHas(const catalog::Snapshot& snapshot, int64_t database, int64_t relation) {
   if (static_cast<Oid>(database) != snapshot.database()) return false;
   const catalog::RelationPtr found = snapshot.relation(static_cast<Oid>(relation));
   return found && std::string_view("rimpt").find(found->relkind()) != std::string_view::npos;
}

/// Of statistics that are counted for each object, the objects are asked; others have one place for all.
bool haveStatistics(const StringView& kind, int64_t database, int64_t object, KernelEnv& env) {
   const std::string_view name = kind.view();
   const catalog::Snapshot& snapshot = *env.context.catalog;
   if (name == "database") return object == 0 && snapshot.database(static_cast<Oid>(database)) != nullptr;
   if (name == "relation") return relationHas(snapshot, database, object);
   if (name == "function" || name == "replslot" || name == "subscription") return false;
   for (const std::string_view fixed : {"archiver", "bgwriter", "checkpointer", "slru", "wal"})
      if (name == fixed) return true;
   throw SqlError(sqlstate::invalidParameterValue, "invalid statistics kind: \"" + std::string(name) + "\"");
}

bool logMemory(int32_t pid, KernelEnv& env) {
   return env.context.requireSession("pg_log_backend_memory_contexts").logMemory(pid);
}

int64_t logPosition(KernelEnv& env) {
   if (env.context.isInRecovery)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "recovery is in progress")
          .hint("WAL control functions cannot be executed during recovery.");
   return env.context.requireSession("pg_current_wal_lsn").logPosition();
}

std::optional<StringView> settingFlags(const StringView& name, KernelEnv& env) {
   const auto flags = env.context.requireSession("pg_settings_get_flags").settingFlags(std::string(name.view()));
   if (!flags) return std::nullopt;
   ArrayBuilder texts(env.strings, oid::text);
   for (const std::string& flag : *flags)
      texts.addText(flag);
   return texts.finish();
}

} // namespace

void registerStatistics() {
   addKernel<resetAll>("pg_stat_reset");
   addKernel<resetTable>("pg_stat_reset_single_table_counters");
   addKernel<resetFunction>("pg_stat_reset_single_function_counters");
   addKernel<resetShared>("pg_stat_reset_shared");
   addKernel<resetSlru>("pg_stat_reset_slru");
   addKernel<clearSnapshot>("pg_stat_clear_snapshot");
   addKernel<publish>("pg_stat_force_next_flush");
   addKernel<snapshotTime>("pg_stat_get_snapshot_timestamp");
   addKernel<haveStatistics>("pg_stat_have_stats");
   addKernel<logMemory>("pg_log_backend_memory_contexts");
   addKernel<logPosition>("pg_current_wal_lsn");
   addKernel<logPosition>("pg_current_wal_insert_lsn");
   addKernel<logPosition>("pg_current_wal_flush_lsn");
   addKernel<settingFlags>("pg_settings_get_flags");
}

} // namespace ouzel::executor
