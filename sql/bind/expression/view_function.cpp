#include "sql/bind/expression/view_function.hpp"

#include <algorithm>

#include "sql/bind/expression/sql_function.hpp"

// The functions that PostgreSQL makes its statistics views of. Here the views come first, and these functions read
// them.

namespace ouzel::sql {

using catalog::FunctionInfo;

namespace {

/// pg_stat_get_numscans(oid) is the view's column in the row whose key is the argument.
struct ViewValue {
   std::string_view function; ///< as pg_proc.prosrc
   std::string_view column;
};

struct ViewValues {
   std::string_view view, key; ///< key: empty if the view has one row
   std::span<const ViewValue> functions;
   bool isZeroOfNothing = true; ///< counters are 0 without a row, not NULL
};

constexpr ViewValue tableValues[] = {
    {"pg_stat_get_tuples_inserted", "n_tup_ins"},
    {"pg_stat_get_tuples_updated", "n_tup_upd"},
    {"pg_stat_get_tuples_deleted", "n_tup_del"},
    {"pg_stat_get_tuples_hot_updated", "n_tup_hot_upd"},
    {"pg_stat_get_live_tuples", "n_live_tup"},
    {"pg_stat_get_dead_tuples", "n_dead_tup"},
    {"pg_stat_get_mod_since_analyze", "n_mod_since_analyze"},
    {"pg_stat_get_ins_since_vacuum", "n_ins_since_vacuum"},
    {"pg_stat_get_last_vacuum_time", "last_vacuum"},
    {"pg_stat_get_last_autovacuum_time", "last_autovacuum"},
    {"pg_stat_get_last_analyze_time", "last_analyze"},
    {"pg_stat_get_last_autoanalyze_time", "last_autoanalyze"},
    {"pg_stat_get_vacuum_count", "vacuum_count"},
    {"pg_stat_get_autovacuum_count", "autovacuum_count"},
    {"pg_stat_get_analyze_count", "analyze_count"},
    {"pg_stat_get_autoanalyze_count", "autoanalyze_count"},
};

constexpr ViewValue databaseValues[] = {
    {"pg_stat_get_db_numbackends", "numbackends"},
    {"pg_stat_get_db_xact_commit", "xact_commit"},
    {"pg_stat_get_db_xact_rollback", "xact_rollback"},
    {"pg_stat_get_db_blocks_hit", "blks_hit"},
    {"pg_stat_get_db_tuples_returned", "tup_returned"},
    {"pg_stat_get_db_tuples_fetched", "tup_fetched"},
    {"pg_stat_get_db_tuples_inserted", "tup_inserted"},
    {"pg_stat_get_db_tuples_updated", "tup_updated"},
    {"pg_stat_get_db_tuples_deleted", "tup_deleted"},
    {"pg_stat_get_db_conflict_all", "conflicts"},
    {"pg_stat_get_db_temp_files", "temp_files"},
    {"pg_stat_get_db_temp_bytes", "temp_bytes"},
    {"pg_stat_get_db_deadlocks", "deadlocks"},
    {"pg_stat_get_db_checksum_failures", "checksum_failures"},
    {"pg_stat_get_db_checksum_last_failure", "checksum_last_failure"},
    {"pg_stat_get_db_blk_read_time", "blk_read_time"},
    {"pg_stat_get_db_blk_write_time", "blk_write_time"},
    {"pg_stat_get_db_session_time", "session_time"},
    {"pg_stat_get_db_active_time", "active_time"},
    {"pg_stat_get_db_idle_in_transaction_time", "idle_in_transaction_time"},
    {"pg_stat_get_db_sessions", "sessions"},
    {"pg_stat_get_db_sessions_abandoned", "sessions_abandoned"},
    {"pg_stat_get_db_sessions_fatal", "sessions_fatal"},
    {"pg_stat_get_db_sessions_killed", "sessions_killed"},
    {"pg_stat_get_db_stat_reset_time", "stats_reset"},
};

constexpr ViewValue conflictValues[] = {
    {"pg_stat_get_db_conflict_tablespace", "confl_tablespace"},
    {"pg_stat_get_db_conflict_lock", "confl_lock"},
    {"pg_stat_get_db_conflict_snapshot", "confl_snapshot"},
    {"pg_stat_get_db_conflict_bufferpin", "confl_bufferpin"},
    {"pg_stat_get_db_conflict_startup_deadlock", "confl_deadlock"},
};

constexpr ViewValue writerValues[] = {
    {"pg_stat_get_bgwriter_timed_checkpoints", "checkpoints_timed"},
    {"pg_stat_get_bgwriter_requested_checkpoints", "checkpoints_req"},
    {"pg_stat_get_checkpoint_write_time", "checkpoint_write_time"},
    {"pg_stat_get_checkpoint_sync_time", "checkpoint_sync_time"},
    {"pg_stat_get_bgwriter_buf_written_checkpoints", "buffers_checkpoint"},
    {"pg_stat_get_bgwriter_buf_written_clean", "buffers_clean"},
    {"pg_stat_get_bgwriter_maxwritten_clean", "maxwritten_clean"},
    {"pg_stat_get_buf_written_backend", "buffers_backend"},
    {"pg_stat_get_buf_fsync_backend", "buffers_backend_fsync"},
    {"pg_stat_get_buf_alloc", "buffers_alloc"},
    {"pg_stat_get_bgwriter_stat_reset_time", "stats_reset"},
};

/// Of the session with a number, which PostgreSQL calls a backend's ID.
constexpr ViewValue sessionValues[] = {
    {"pg_stat_get_backend_pid", "pid"},
    {"pg_stat_get_backend_dbid", "datid"},
    {"pg_stat_get_backend_userid", "usesysid"},
    {"pg_stat_get_backend_activity", "query"},
    {"pg_stat_get_backend_activity_start", "query_start"},
    {"pg_stat_get_backend_xact_start", "xact_start"},
    {"pg_stat_get_backend_start", "backend_start"},
    {"pg_stat_get_backend_client_addr", "client_addr"},
    {"pg_stat_get_backend_client_port", "client_port"},
    {"pg_stat_get_backend_wait_event_type", "wait_event_type"},
    {"pg_stat_get_backend_wait_event", "wait_event"},
};

/// In the transaction that asks.
constexpr ViewValue ownTableValues[] = {
    {"pg_stat_get_xact_tuples_inserted", "n_tup_ins"},
    {"pg_stat_get_xact_tuples_updated", "n_tup_upd"},
    {"pg_stat_get_xact_tuples_deleted", "n_tup_del"},
    {"pg_stat_get_xact_tuples_hot_updated", "n_tup_hot_upd"},
    {"pg_stat_get_xact_numscans", "seq_scan"},
    {"pg_stat_get_xact_tuples_returned", "seq_tup_read"},
    {"pg_stat_get_xact_tuples_fetched", "idx_tup_fetch"},
};

constexpr ViewValue ownFunctionValues[] = {
    {"pg_stat_get_xact_function_calls", "calls"},
    {"pg_stat_get_xact_function_total_time", "total_time"},
    {"pg_stat_get_xact_function_self_time", "self_time"},
};

constexpr ViewValue functionValues[] = {
    {"pg_stat_get_function_calls", "calls"},
    {"pg_stat_get_function_total_time", "total_time"},
    {"pg_stat_get_function_self_time", "self_time"},
};

constexpr std::string_view numberedSessions =
    "(SELECT row_number() OVER (ORDER BY backend_start, pid)::int4 AS number, * FROM pg_catalog.pg_stat_activity)";

constexpr ViewValues values[] = {
    {"pg_catalog.pg_stat_all_tables", "relid", tableValues},
    {"pg_catalog.pg_stat_database", "datid", databaseValues},
    {"pg_catalog.pg_stat_database_conflicts", "datid", conflictValues},
    {"pg_catalog.pg_stat_bgwriter", "", writerValues},
    {"pg_catalog.pg_stat_user_functions", "funcid", functionValues, false},
    {"pg_catalog.pg_stat_xact_all_tables", "relid", ownTableValues},
    {"pg_catalog.pg_stat_xact_user_functions", "funcid", ownFunctionValues, false},
    {numberedSessions, "number", sessionValues, false},
};

/// Values that are not one column, as expressions over $1.
constexpr std::pair<std::string_view, std::string_view> expressions[] = {
    {"pg_stat_get_numscans", "coalesce((SELECT seq_scan FROM pg_catalog.pg_stat_all_tables WHERE relid = $1), "
                             "(SELECT idx_scan FROM pg_catalog.pg_stat_all_indexes WHERE indexrelid = $1), 0)"},
    {"pg_stat_get_tuples_returned",
     "coalesce((SELECT seq_tup_read FROM pg_catalog.pg_stat_all_tables WHERE relid = $1), "
     "(SELECT idx_tup_read FROM pg_catalog.pg_stat_all_indexes WHERE indexrelid = $1), 0)"},
    {"pg_stat_get_tuples_fetched",
     "coalesce((SELECT idx_tup_fetch FROM pg_catalog.pg_stat_all_tables WHERE relid = $1), "
     "(SELECT idx_tup_fetch FROM pg_catalog.pg_stat_all_indexes WHERE indexrelid = $1), 0)"},
    {"pg_stat_get_db_blocks_fetched",
     "coalesce((SELECT blks_read + blks_hit FROM pg_catalog.pg_stat_database WHERE datid = $1), 0)"},
    {"pg_stat_get_blocks_fetched",
     "coalesce((SELECT heap_blks_read + heap_blks_hit FROM pg_catalog.pg_statio_all_tables WHERE relid = $1), 0)"},
    {"pg_stat_get_blocks_hit",
     "coalesce((SELECT heap_blks_hit FROM pg_catalog.pg_statio_all_tables WHERE relid = $1), 0)"},
    {"pg_indexes_size", "coalesce((SELECT sum(pg_catalog.pg_relation_size(indexrelid))::int8 FROM pg_catalog.pg_index "
                        "WHERE indrelid = $1), 0::int8)"},
    {"pg_relation_filenode", "(SELECT nullif(relfilenode, 0) FROM pg_catalog.pg_class WHERE oid = $1 AND relkind IN "
                             "('r', 'i', 'S', 't', 'm'))"},
    {"pg_filenode_relation", "(SELECT oid::regclass FROM pg_catalog.pg_class WHERE relfilenode = $2 AND $2 <> 0 "
                             "AND reltablespace = $1 AND relkind IN ('r', 'i', 'S', 't', 'm'))"},
    {"pg_get_replica_identity_index",
     "(SELECT CASE c.relreplident WHEN 'i' THEN (SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid = c.oid AND "
     "indisreplident) WHEN 'd' THEN (SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid = c.oid AND "
     "indisprimary) "
     "END::regclass FROM pg_catalog.pg_class c WHERE c.oid = $1)"},
};

/// The text of a function's expression, by its prosrc; empty: it reads no view.
std::string expressionOf(std::string_view function, Oid type) {
   for (const auto& [name, expression] : expressions)
      if (name == function) return std::string(expression);
   for (const ViewValues& view : values)
      for (const ViewValue& value : view.functions) {
         if (value.function != function) continue;
         std::string text = "(SELECT v." + std::string(value.column) + " FROM " + std::string(view.view) + " v";
         if (!view.key.empty()) text += " WHERE v." + std::string(view.key) + " = $1";
         text += ")";
         const bool isCounter = type == oid::int8 || type == oid::float8;
         return isCounter && view.isZeroOfNothing ? "coalesce(" + text + ", 0)" : text;
      }
   return {};
}

/// The expression as a query over the arguments, which are computed once.
std::string overArguments(std::string expression, size_t count) {
   std::string columns;
   for (size_t i = 1; i <= count; ++i) {
      const std::string parameter = "$" + std::to_string(i), column = "argument_" + std::to_string(i);
      for (size_t at = 0; (at = expression.find(parameter, at)) != std::string::npos; at += column.size())
         expression.replace(at, parameter.size(), column);
      columns += (columns.empty() ? "" : ", ") + parameter + " AS " + column;
   }
   return "(SELECT " + expression + " FROM (SELECT " + columns + ") arguments)";
}

} // namespace

ExprPtr bindViewValue(BindState& state, const FunctionInfo& function, const std::vector<ExprPtr>& args) {
   if (function.oid >= firstUserOid) return nullptr;
   std::string expression = expressionOf(function.source, function.returnType);
   if (expression.empty()) return nullptr;
   if (!args.empty()) expression = "CASE WHEN $1 IS NOT NULL THEN " + expression + " END";
   if (!std::all_of(args.begin(), args.end(), [](const ExprPtr& arg) { return isRepeatable(*arg); }))
      expression = overArguments(std::move(expression), args.size());
   return bindBody(state, expression, args);
}

} // namespace ouzel::sql
