#include <csignal>
#include <openssl/rand.h>
#include <unistd.h>

#include "common/base_type/network_address_parse.hpp"
#include "common/log/log.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/name_scope.hpp"
#include "executor/function/value_text.hpp"

// Functions about the session and the server: version(), current_user, current_setting(), pg_sleep(),
// pg_current_xact_id(), gen_random_uuid(), ...

namespace ouzel::executor {

namespace {

StringView version(KernelEnv& env) {
   return env.copy(catalog::versionText());
}
StringView currentDatabase(KernelEnv& env) {
   return env.copy(env.context.database);
}
StringView currentUser(KernelEnv& env) {
   return env.copy(env.context.user);
}
StringView sessionUser(KernelEnv& env) {
   return env.copy(env.context.sessionUser);
}
std::optional<StringView> currentSchema(KernelEnv& env) {
   const std::optional<std::string> name = catalog::currentSchema(NameScope(env.context).names());
   return name ? std::optional(env.copy(*name)) : std::nullopt;
}
StringView currentSchemas(bool includeImplicit, KernelEnv& env) {
   std::vector<Value> names;
   for (std::string& name : catalog::currentSchemas(NameScope(env.context).names(), includeImplicit))
      names.push_back(Value::string(std::move(name)));
   return env.copy(makeArray(oid::name, names));
}
bool isInRecovery(KernelEnv& env) {
   return env.context.isInRecovery;
}
int32_t backendPid(KernelEnv& env) {
   return env.context.backendPid;
}
template <std::string Endpoints::*address>
std::optional<StringView> addressOf(KernelEnv& env) {
   if (!env.context.session) return std::nullopt;
   const auto parsed = parseNetworkAddress(env.context.session->endpoints().*address, false);
   if (!parsed) return std::nullopt; // a Unix-domain socket has none
   return networkAddressBytes(*parsed, env.strings);
}
template <int32_t Endpoints::*port>
std::optional<int32_t> portOf(KernelEnv& env) {
   if (!env.context.session || env.context.session->endpoints().*port < 0) return std::nullopt;
   return env.context.session->endpoints().*port;
}
StringView currentQuery(KernelEnv& env) {
   return env.copy(env.context.requireSession("current_query").currentQuery());
}

void typeOf(const KernelCall& call, ResultVector& result) {
   int64_t* out = result.values<int64_t>();
   forEachRow(call.rows, [&](uint32_t row) { out[row] = call.argTypes[0].named(); });
}
void countNulls(const KernelCall& call, ResultVector& result) {
   int32_t* out = result.values<int32_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      out[row] = 0;
      for (const Vector& arg : call.args)
         out[row] += arg.isNull(row) ? 1 : 0;
   });
}
void countNonNulls(const KernelCall& call, ResultVector& result) {
   countNulls(call, result);
   int32_t* out = result.values<int32_t>();
   forEachRow(call.rows, [&](uint32_t row) { out[row] = static_cast<int32_t>(call.args.size()) - out[row]; });
}

// ---- settings ----

std::optional<StringView> settingMissingOk(const StringView& name, bool missingOk, KernelEnv& env) {
   try {
      return env.copy(env.context.requireSession("current_setting").setting(std::string(name.view())));
   } catch (const SqlError& error) {
      if (missingOk && error.state() == sqlstate::undefinedObject) return std::nullopt;
      throw;
   }
}
std::optional<StringView> settingOf(const StringView& name, KernelEnv& env) {
   return settingMissingOk(name, false, env);
}
std::optional<StringView> setConfig(std::optional<StringView> name, std::optional<StringView> value,
                                    std::optional<bool> isLocal, KernelEnv& env) {
   if (!name) throw SqlError(sqlstate::nullValueNotAllowed, "SET requires parameter name");
   const std::string result =
       env.context.requireSession("set_config")
           .setSetting(std::string(name->view()), value ? std::string(value->view()) : std::string(),
                       isLocal.value_or(false));
   return env.copy(result);
}

// ---- time and transactions ----

StringView sleepSeconds(double seconds, KernelEnv& env) {
   if (seconds > 0) env.context.requireSession("pg_sleep").sleep(static_cast<int64_t>(seconds * 1e6));
   return StringView();
}
StringView sleepInterval(const Interval& v, KernelEnv& env) {
   return sleepSeconds(static_cast<double>(intervalSpan(v)) / 1e6, env);
}
bool cancelBackend(int32_t pid, KernelEnv& env) {
   return env.context.requireSession("pg_cancel_backend").cancelBackend(pid);
}
bool terminateBackend(int32_t pid, int64_t waitMillis, KernelEnv& env) {
   if (waitMillis < 0) throw SqlError(sqlstate::numericValueOutOfRange, "\"timeout\" must not be negative");
   return env.context.requireSession("pg_terminate_backend").terminateBackend(pid, waitMillis);
}

// ---- the log ----

std::optional<StringView> currentLog(LogFormat format, KernelEnv& env) {
   const std::string path = currentLogFile(format);
   return path.empty() ? std::nullopt : std::optional(env.copy(path));
}
std::optional<StringView> anyLogFile(KernelEnv& env) {
   return currentLog(LogFormat::Text, env);
}
std::optional<StringView> logFileOf(std::optional<StringView> name, KernelEnv& env) {
   if (!name) return anyLogFile(env);
   constexpr std::pair<std::string_view, LogFormat> formats[] = {
       {"stderr", LogFormat::Text}, {"csvlog", LogFormat::Csv}, {"jsonlog", LogFormat::Json}};
   for (const auto& [known, format] : formats)
      if (name->view() == known) return currentLog(format, env);
   throw SqlError(sqlstate::invalidParameterValue, "log format \"" + std::string(name->view()) + "\" is not supported")
       .hint("The supported log formats are \"stderr\", \"csvlog\", and \"jsonlog\".");
}
bool rotateLog(KernelEnv&) {
   return reopenLog();
}
/// The server waits for SIGHUP with the signal blocked in all threads. Elsewhere the signal would end the process.
bool reloadConfiguration(KernelEnv&) {
   sigset_t blocked;
   sigemptyset(&blocked);
   pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
   return sigismember(&blocked, SIGHUP) == 1 && kill(getpid(), SIGHUP) == 0;
}

StringView databaseEncoding(KernelEnv&) {
   return StringView("UTF8");
}
StringView clientEncoding(KernelEnv& env) {
   return env.copy(env.context.requireSession("pg_client_encoding").setting("client_encoding"));
}
int64_t transactionId(KernelEnv& env) {
   return env.context.requireSession("pg_current_xact_id").transactionId();
}
StringView exportSnapshot(KernelEnv& env) {
   return env.copy(env.context.requireSession("pg_export_snapshot").exportSnapshot());
}
std::optional<int64_t> transactionIdIfAssigned(KernelEnv& env) {
   SessionFunctions& session = env.context.requireSession("pg_current_xact_id_if_assigned");
   return session.hasWritten() ? std::optional(session.transactionId()) : std::nullopt;
}

// ---- uuid ----

int128 randomUuid() {
   unsigned char bytes[16];
   if (RAND_bytes(bytes, sizeof bytes) != 1)
      throw SqlError(sqlstate::internalError, "could not generate random values");
   bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40); // version 4
   bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80); // RFC 4122
   uint128 value = 0;
   for (const unsigned char byte : bytes)
      value = (value << 8) | byte;
   return static_cast<int128>(value ^ (uint128{1} << 127)); // stored with the top bit flipped (physical_type.hpp)
}

// ---- sizes ----

/// Bytes of a value as it lies in memory; texts and other values of variable size with their length.
void columnSize(const KernelCall& call, ResultVector& result) {
   const Vector& values = call.args[0];
   int32_t* out = result.values<int32_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      out[row] = isVariableSize(values.type)
                     ? static_cast<int32_t>(values.value<StringView>(row).size() + sizeof(uint32_t))
                     : static_cast<int32_t>(physicalSize(values.type));
   });
}

} // namespace

void registerSystem() {
   addKernel<version>("pgsql_version");
   addKernel<currentDatabase>("current_database");
   addKernels<currentUser>({"current_user"});
   addKernel<sessionUser>("session_user");
   addKernel<currentSchema>("current_schema");
   addKernel<currentSchemas>("current_schemas");
   addKernel<isInRecovery>("pg_is_in_recovery");
   addKernel<backendPid>("pg_backend_pid");
   addKernel<addressOf<&Endpoints::clientAddress>>("inet_client_addr");
   addKernel<addressOf<&Endpoints::serverAddress>>("inet_server_addr");
   addKernel<portOf<&Endpoints::clientPort>>("inet_client_port");
   addKernel<portOf<&Endpoints::serverPort>>("inet_server_port");
   addKernel<currentQuery>("current_query");
   registerKernel("pg_typeof", anyArguments, {typeOf, false, true});
   registerKernel("pg_column_size", anyArguments, {columnSize, true, true});
   registerKernel("pg_num_nulls", anyArguments, {countNulls, false, true});
   registerKernel("pg_num_nonnulls", anyArguments, {countNonNulls, false, true});
   addKernel<settingOf>("show_config_by_name");
   addKernel<settingMissingOk>("show_config_by_name_missing_ok");
   addKernel<setConfig>("set_config_by_name");
   addKernel<sleepSeconds>("pg_sleep");
   addKernel<cancelBackend>("pg_cancel_backend");
   addKernel<terminateBackend>("pg_terminate_backend");
   addKernel<sleepInterval>("sql:pg_sleep_for");
   addKernel<anyLogFile>("pg_current_logfile");
   addKernel<logFileOf>("pg_current_logfile_1arg");
   addKernel<rotateLog>("pg_rotate_logfile_v2");
   addKernel<reloadConfiguration>("pg_reload_conf");
   addKernel<transactionId>("pg_current_xact_id");
   addKernel<exportSnapshot>("pg_export_snapshot");
   addKernel<transactionIdIfAssigned>("pg_current_xact_id_if_assigned");
   addKernel<databaseEncoding>("getdatabaseencoding");
   addKernel<clientEncoding>("pg_client_encoding");
   addKernel<randomUuid>("gen_random_uuid");
}

} // namespace ouzel::executor
