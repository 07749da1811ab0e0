// ouzel serve | check | ready | audit-check | --version

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <new>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "common/audit/audit.hpp"
#include "common/audit/check.hpp"
#include "common/env/random.hpp"
#include "common/log/crash_report.hpp"
#include "common/log/log.hpp"
#include "common/thread/stack.hpp"
#include "engine/core/database.hpp"
#include "io/net/unix_socket.hpp"
#include "server/allocator/allocator.hpp"
#include "server/engine_factory.hpp"
#include "server/metrics/metrics_server.hpp"
#include "server/options.hpp"
#include "server/places.hpp"
#include "server/readiness.hpp"
#include "server/server.hpp"
#include "server/server_log.hpp"
#include "server/server_metrics.hpp"
#include "server/service_manager.hpp"
#include "server/start_watch.hpp"
#include "server/version.hpp"

using namespace ouzel;
using namespace ouzel::server;

namespace {

constexpr int readyTimeoutMs = 4000; // shorter than the time limit of Docker's health check

enum ExitStatus : int { ok = 0, failed = 1, misused = 2 };

constexpr const char* usage = "Usage:\n"
                              "  ouzel serve --data DIR [options]   serve a database (ouzel serve --help)\n"
                              "  ouzel check --data DIR [--wal DIR] [--encryption-key-file FILE]\n"
                              "                                      verify every checksum of a stopped database\n"
                              "  ouzel audit-check FILE...           verify files of the audit, the oldest first\n"
                              "  ouzel ready [--host HOST] [--port N]  succeed if a server takes clients there\n"
                              "  ouzel --version\n"
                              "Each command has a --help of its own.\n";

void reportFatal(const SqlError& error) {
   std::string hint = error.hintText();
   if (hint.empty() && (error.state() == sqlstate::dataCorrupted || error.state() == sqlstate::undefinedFile))
      hint = "`ouzel check --data DIR` tells what else is damaged. Restore the database from a backup.";
   logRecord({.level = LogLevel::Fatal,
              .message = error.what(),
              .state = error.state().text(),
              .detail = error.detailText(),
              .hint = hint,
              .hidesPlace = true});
   flushLog();
}

void reportFatal(std::string_view message, std::string_view hint) {
   logRecord({.level = LogLevel::Fatal, .message = message, .hint = hint, .hidesPlace = true});
   flushLog();
}

constexpr uint64_t handlesMin = 64; // for files of the log and of tables, and some clients

void requireHandles() {
   const uint64_t handles = io::raiseHandleLimit(); // tables and clients need more than the usual 1024 handles
   if (handles < handlesMin)
      throw SqlError(sqlstate::insufficientResources,
                     fmt::format("only {} file handles are allowed, and {} are needed at least", handles, handlesMin))
          .hint("Raise `ulimit -n`, or LimitNOFILE of the service.");
}

/// Block the signals that end the process. Threads inherit the mask, so that only waitForSignal() gets them.
sigset_t blockSignals() {
   std::signal(SIGPIPE, SIG_IGN);
   sigset_t signals;
   sigemptyset(&signals);
   for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP})
      sigaddset(&signals, signal);
   pthread_sigmask(SIG_BLOCK, &signals, nullptr);
   return signals;
}

/// Wait for the next signal that asks the process to end. SIGHUP is not one.
int waitForEnd(const sigset_t& signals, const std::function<void()>& reload) {
   int signal = 0;
   while (sigwait(&signals, &signal) != 0 || signal == SIGHUP)
      if (signal == SIGHUP) reload();
   return signal;
}

void storePassword(engine::Database& database, const std::string& password) {
   database.setPasswordVerifier("postgres", ScramVerifier::make(password).text());
}

void announce(const Server& server) {
   const io::ListeningSocket& first = server.listeners().front();
   std::string host = first.address.text.substr(0, first.address.text.rfind(':'));
   if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
   if (host == "0.0.0.0" || host == "::") host = "127.0.0.1";
   fmt::print("Ouzel {} is ready. Connect from another terminal with:\n\n  psql -h {} -p {} -U postgres\n\n",
              OUZEL_VERSION, host, first.port);
   std::fflush(stdout);
}

/// Null: no --metrics-port.
std::unique_ptr<MetricsServer> startMetrics(const ServerOptions& options, engine::Database& database,
                                            const Server& server) {
   if (!options.metricsPort) return nullptr;
   auto metrics = std::make_unique<MetricsServer>(options.listen, *options.metricsPort,
                                                  [&database, &server] { return describeMetrics(database, server); });
   metrics->start();
   for (const io::ListeningSocket& listener : metrics->listeners())
      logLine(LogLevel::Log, fmt::format("metrics at http://{}/metrics", listener.address.text));
   return metrics;
}

void requireFreeMetricsPort(const ServerOptions& options) {
   if (!options.metricsPort) return;
   try {
      io::requireFreePort(options.listen, *options.metricsPort);
   } catch (const SqlError& error) {
      throw SqlError(error.state(), std::string("metrics: ") + error.what())
          .hint("Choose another port with --metrics-port, or stop who listens there.");
   }
}

int serve(const std::vector<std::string>& arguments) {
   const auto options = parseServeOptions(arguments, [](const char* name) -> const char* { return std::getenv(name); });
   if (!options) {
      std::fputs(serveHelp().c_str(), stdout);
      return ok;
   }
   if (const auto unknown = unknownVariables(environ); !unknown.empty())
      throw UsageError(fmt::format("unknown environment variable {}", fmt::join(unknown, ", ")));
   checkSettings(*options);
   const sigset_t signals = blockSignals();
   installCrashReport();
   requireHandles();
   requireUsablePlaces(*options);
   openLog(*options);
   logStart(*options);
   for (const ServerOptions::Warning& warning : options->warnings)
      logRecord({.level = LogLevel::Warning, .message = warning.message, .hint = warning.hint});

   engine::DatabaseOptions databaseOptions;
   databaseOptions.dataDirectory = options->dataDirectory;
   databaseOptions.walDirectory = options->walDirectory;
   databaseOptions.store.key = options->encryptionKey;
   databaseOptions.checkpointWalBytes = options->checkpointWalSize;
   databaseOptions.leaseMs = int64_t{options->leaseSeconds} * 1000;
   databaseOptions.takeOver = options->takeOver;
   databaseOptions.readOnly = options->readOnly;
   databaseOptions.onFenced = [](const std::string& reason) {
      logLine(LogLevel::Fatal, reason + "; nothing more is committed here");
      kill(getpid(), SIGTERM);
   };
   databaseOptions.threads = options->threads;
   databaseOptions.memoryLimit = options->memoryLimit;
   setProcessAllocator(linkedAllocator());
   databaseOptions.purgeMemory = processAllocator().purge;
   databaseOptions.spillTargets = options->spillTargets;
   databaseOptions.settings = configuredSettings(*options);
   if (!options->cacheDirectory.empty()) {
      io::CacheOptions& cache = databaseOptions.store.cache.emplace();
      cache.directory = options->cacheDirectory;
      cache.size = options->cacheSize;
      cache.warn = [](const std::string& problem) { logLine(LogLevel::Warning, problem); };
   }
   // A server that cannot take clients creates no database, and claims none.
   io::requireFreePort(options->listen, options->port);
   requireFreeMetricsPort(*options);
   if (!options->socketDirectory.empty() && options->port != 0)
      static_cast<void>(io::UnixSocketPath(options->socketDirectory, options->port));
   std::unique_ptr<engine::Database> database;
   {
      const StartWatch watch(signals);
      database = engine::Database::open(databaseOptions);
   }
   openAudit(*options); // once no other server can write there
   if (!options->password.empty()) storePassword(*database, options->password);
   {
      EngineFactory factory(*database);
      Server server(*options, factory);
      server.start();
      const auto metrics = startMetrics(*options, *database, server);
      logListeners(server);
      logLine(LogLevel::Log, "database system is ready to accept connections");
      announce(server);
      notifyServiceManager("READY=1");
      const int signal = waitForEnd(signals, [&] { reload(arguments, *database, server); });
      logLine(LogLevel::Log, fmt::format("received fast shutdown request (SIG{})", sigabbrev_np(signal)));
      notifyServiceManager("STOPPING=1");
      logLine(LogLevel::Log, "aborting any active transactions");
      // A second signal ends the process at once; recovery repeats the missing part at the next start.
      sigset_t again = signals;
      sigdelset(&again, SIGHUP); // asks for a reload, not for an end
      pthread_sigmask(SIG_UNBLOCK, &again, nullptr);
      for (const int repeated : {SIGTERM, SIGINT, SIGQUIT})
         std::signal(repeated, [](int) { _exit(failed); });
      server.shutdown();
   }
   logLine(LogLevel::Log, "shutting down");
   database->close();
   closeAudit();
   logLine(LogLevel::Log, "database system is shut down");
   flushLog();
   return ok;
}

/// An option of `check` or `ready`, whose value is a text without checks.
struct TextOption {
   std::string name;
   const char* value; ///< what the help calls it
   const char* help;
   std::string* target;
};

/// False: `--help` was asked for and given, and nothing is left to do. Throws UsageError for unknown options.
bool parseOptions(const std::vector<std::string>& arguments, const char* introduction,
                  std::initializer_list<TextOption> known) {
   for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == "--help" || arguments[i] == "-h") {
         fmt::print("{}\n\n", introduction);
         for (const TextOption& option : known)
            fmt::print("  {:<26} {}\n", fmt::format("{} {}", option.name, option.value), option.help);
         return false;
      }
      const auto isMeant = [&](const TextOption& option) {
         return arguments[i] == option.name || arguments[i].starts_with(option.name + "=");
      };
      const auto option = std::find_if(known.begin(), known.end(), isMeant);
      if (option == known.end()) throw UsageError(fmt::format("unknown option \"{}\"", arguments[i]));
      const size_t equals = arguments[i].find('=');
      if (equals == std::string::npos && i + 1 == arguments.size())
         throw UsageError(fmt::format("{} needs a value", option->name));
      *option->target = equals == std::string::npos ? arguments[++i] : arguments[i].substr(equals + 1);
   }
   return true;
}

int check(const std::vector<std::string>& arguments) {
   engine::DatabaseOptions options;
   const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
   const char* namedFile = environment("OUZEL_ENCRYPTION_KEY_FILE");
   std::string keyFile = namedFile != nullptr ? namedFile : "";
   if (!parseOptions(
           arguments,
           "Usage: ouzel check --data DIR [options]\n\nRead a stopped database, verify every checksum and the "
           "catalog, and print what is wrong.\nThe exit status is 0 when nothing is, and 1 otherwise.",
           {{"--data", "DIR|URL", "where the database lives (required)", &options.dataDirectory},
            {"--wal", "DIR", "where its log lies, if not inside the data directory", &options.walDirectory},
            {"--encryption-key-file", "FILE",
             "its key (default: of OUZEL_ENCRYPTION_KEY_FILE, or OUZEL_ENCRYPTION_KEY)", &keyFile}}))
      return ok;
   options.store.key = readEncryptionKey(keyFile, environment);
   const std::string& directory = options.dataDirectory;
   if (directory.empty()) throw UsageError("--data DIR is required");
   const uint64_t problems =
       engine::Database::check(options, [](const std::string& problem) { std::printf("%s\n", problem.c_str()); });
   if (problems == 0)
      fmt::print("{}: no problems found\n", directory);
   else
      fmt::print("{}: {} problem{} found\n", directory, problems, problems == 1 ? "" : "s");
   return problems == 0 ? ok : failed;
}

/// `ouzel audit-check FILE...`
int checkAuditFiles(const std::vector<std::string>& files) {
   if (files.empty() || files[0].starts_with("-")) {
      fmt::print(
          "Usage: ouzel audit-check FILE...\n\nVerify files of the audit, the oldest first: that each record is "
          "what the server wrote, and that none is\nmissing between two others. The exit status is 0 when that is "
          "so, and 1 otherwise.\n\nThe first and the last records may be missing without a trace: compare the "
          "numbers and the hash that are printed\nwith ones that are kept elsewhere.\n");
      return files.empty() ? misused : ok;
   }
   const AuditCheck found = checkAudit(files, [](const std::string& finding) { fmt::print("{}\n", finding); });
   fmt::print("{} records, {} broken, {} torn, {} lost, {} without a hash\n", found.records, found.broken, found.torn,
              found.lost, found.unchained);
   if (found.firstNumber > 1)
      fmt::print("the first record is {}: those before it are not in these files\n", found.firstNumber);
   if (!found.lastHash.empty()) fmt::print("last record: {}, hash {}\n", found.lastNumber, found.lastHash);
   return found.broken == 0 && found.unchained == 0 ? ok : failed;
}

/// `ouzel ready`: asks the address where a server with the same environment would listen, unless options name another.
/// For the health check of an image.
int ready(const std::vector<std::string>& arguments) {
   const auto environment = [](const char* name, const char* otherwise) {
      const char* value = std::getenv(name);
      const bool isServiceLink =
          value && std::string_view(value).find("://") != std::string_view::npos; // of Kubernetes
      return std::string(value && !isServiceLink ? value : otherwise);
   };
   std::string host = environment("OUZEL_LISTEN", "127.0.0.1"), port = environment("OUZEL_PORT", "5432");
   if (!parseOptions(arguments,
                     "Usage: ouzel ready [options]\n\nAsk whether a server takes clients. The exit status is 0 when it "
                     "does, and 1 otherwise.",
                     {{"--host", "HOST", "where it listens (default: OUZEL_LISTEN, or 127.0.0.1)", &host},
                      {"--port", "N", "its port (default: OUZEL_PORT, or 5432)", &port}}))
      return ok;
   if (host == "*" || host == "0.0.0.0" || host == "::") host = "localhost";
   uint16_t number = 0;
   const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
   if (parsed.ec != std::errc() || parsed.ptr != port.data() + port.size() || number == 0)
      throw UsageError(fmt::format("\"{}\" is not a port", port));
   const std::string problem = whyNotReady(host, number, readyTimeoutMs);
   if (problem.empty()) {
      fmt::print("{}:{}: ready\n", host, port);
      return ok;
   }
   fmt::print(stderr, "ouzel: {}:{}: {} (--host and --port, or OUZEL_LISTEN and OUZEL_PORT, say where to ask)\n", host,
              port, problem);
   return failed;
}

/// What is wrong on the command line, in one line, and where help is.
void reportUsage(const UsageError& error, const std::string& command) {
   const bool isKnown = command == "serve" || command == "check" || command == "ready";
   fmt::print(stderr, "ouzel: {}\nouzel{} --help tells more\n", error.what(), isKnown ? " " + command : "");
}

// Ends a process to which the system gives no memory or threads. The destructors of libraries do not run: Arrow's
// allocator asks for memory in its own, and dies of the answer.
[[noreturn]] void endWithoutMemory() {
   std::fflush(nullptr);
   std::_Exit(failed);
}

} // namespace

int main(int count, char** values) {
   const std::vector<std::string> arguments(values + 1, values + count);
   setStackOfThreads(); // `ulimit -s` may ask for less
   try {
      if (arguments.empty()) throw UsageError("say which command is meant: serve, check, ready or audit-check");
      const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
      if (arguments[0] == "serve") return serve(rest);
      if (arguments[0] == "check") return check(rest);
      if (arguments[0] == "ready") return ready(rest);
      if (arguments[0] == "audit-check") return checkAuditFiles(rest);
      if (arguments[0] == "--version" || arguments[0] == "-V") {
         fmt::print("ouzel {}\n", versionText);
         return ok;
      }
      if (arguments[0] == "--help" || arguments[0] == "-h") {
         std::fputs(usage, stdout);
         return ok;
      }
      throw UsageError(
          fmt::format("unknown command \"{}\"; there are serve, check, ready and audit-check", arguments[0]));
   } catch (const UsageError& error) {
      reportUsage(error, arguments.empty() ? "" : arguments[0]);
      return misused;
   } catch (const SqlError& error) {
      reportFatal(error);
      return failed;
   } catch (const std::bad_alloc&) {
      reportFatal("out of memory",
                  "The system gave no more: see `ulimit -v`, the container's limit, and memory_limit.");
      endWithoutMemory();
   } catch (const std::system_error& error) {
      reportFatal(std::string("could not start a thread: ") + error.code().message(),
                  "The system gave no more: see `ulimit -u`, the container's limit of processes, and threads.");
      endWithoutMemory();
   } catch (const std::exception& error) {
      reportFatal(error.what(), "");
      return failed;
   }
}
