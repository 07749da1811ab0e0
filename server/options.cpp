#include "server/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "io/cache/cache_options.hpp"
#include "io/crypto/encryption_key.hpp"
#include "io/net/tls_files.hpp"
#include "io/s3/s3_location.hpp"
#include "io/spill/spill_target.hpp"
#include "io/store/open_store.hpp"

namespace ouzel::server {

namespace {

template <typename Number>
Number parseNumber(std::string_view text, Number lowest, Number highest) {
   Number value{};
   const auto end = text.data() + text.size();
   const auto result = std::from_chars(text.data(), end, value);
   if (result.ec != std::errc() || result.ptr != end || value < lowest || value > highest)
      throw UsageError(fmt::format("\"{}\" is not a number from {} to {}", text, lowest, highest));
   return value;
}

bool parseSwitch(std::string_view text) {
   for (const char* on : {"on", "true", "yes", "1"})
      if (text == on) return true;
   for (const char* off : {"off", "false", "no", "0"})
      if (text == off) return false;
   throw UsageError(fmt::format("\"{}\" is neither on nor off", text));
}

std::vector<std::string> splitList(std::string_view text) {
   std::vector<std::string> parts;
   while (true) {
      const size_t comma = text.find(',');
      const auto part = text.substr(0, comma);
      if (part.empty()) throw UsageError("empty element in a list");
      parts.emplace_back(part);
      if (comma == std::string_view::npos) return parts;
      text.remove_prefix(comma + 1);
   }
}

struct Option {
   const char* name;  ///< as a flag; with _ for - in files, OUZEL_ and capitals in the environment
   const char* value; ///< empty: a flag without a value
   const char* help;
   void (*set)(ServerOptions&, const std::string&);
   const char* setting = nullptr; ///< its name in files and the environment, when it is not that of the flag
};

constexpr Option optionTable[] = {
    {"data", "DIR|URL",
     "where the database lives: a directory, created when it does not exist, or s3://BUCKET/PREFIX (required)",
     [](ServerOptions& o, const std::string& v) {
        if (v.find("://") != std::string::npos && !io::isRemoteStore(v))
           throw UsageError(fmt::format("\"{}\" is neither a directory nor s3://BUCKET/PREFIX", v));
        try {
           if (io::isRemoteStore(v)) static_cast<void>(io::S3Location::parse(v));
        } catch (const SqlError& error) {
           throw UsageError(error.what());
        }
        o.dataDirectory = v;
     }},
    {"wal", "DIR",
     "where the write-ahead log lies (default: inside the data directory; required with s3:// unless --commit "
     "object_store)",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("a directory is needed");
        o.walDirectory = v;
     }},
    {"commit", "log|object_store",
     "what COMMIT waits for unless a session says otherwise (ouzel.commit): the log, or the data in the store",
     [](ServerOptions& o, const std::string& v) {
        if (v != "log" && v != "object_store")
           throw UsageError(fmt::format("\"{}\" is neither log nor object_store", v));
        o.sessionSettings.push_back({"ouzel.commit", v, "--commit"}); // the last one counts
     }},
    {"encryption-key-file", "FILE", "encrypt the database with this key: 64 hex digits, or base64 of 32 bytes",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("a file is needed");
        o.encryptionKeyFile = v;
     }},
    {"checkpoint-wal-size", "SIZE", "a checkpoint starts when the log has grown by this (default 1GB)",
     [](ServerOptions& o, const std::string& v) {
        o.checkpointWalSize = parseSize(v);
        if (o.checkpointWalSize < (size_t{1} << 20)) throw UsageError("at least 1MB is needed");
     }},
    {"read-only", "", "show what another server writes to the database, as of its checkpoints; needs no --wal",
     [](ServerOptions& o, const std::string& v) { o.readOnly = parseSwitch(v); }},
    {"take-over", "", "wait for the lease of a server that may be alive to expire, then start in its place",
     [](ServerOptions& o, const std::string& v) { o.takeOver = parseSwitch(v); }},
    {"lease-seconds", "N", "how long a server that is not heard of keeps others out (default 10)",
     [](ServerOptions& o, const std::string& v) { o.leaseSeconds = parseNumber<uint32_t>(v, 1, 3600); }},
    {"listen", "ADDR", "address to listen on; \"*\" for all (default 127.0.0.1)",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("an address is needed; \"*\" means all");
        o.listen = v;
     }},
    {"port", "N", "TCP port; 0 picks a free one (default 5432)",
     [](ServerOptions& o, const std::string& v) { o.port = parseNumber<uint16_t>(v, 0, 65535); }},
    {"metrics-port", "N", "answer GET /metrics (Prometheus) on this port, to everyone who can reach it (default: off)",
     [](ServerOptions& o, const std::string& v) { o.metricsPort = parseNumber<uint16_t>(v, 0, 65535); }},
    {"threads", "N", "worker threads (default: one per core)",
     [](ServerOptions& o, const std::string& v) { o.threads = parseNumber<uint32_t>(v, 1, 4096); }},
    {"memory-limit", "SIZE", "memory for everything, e.g. 4GB (default: 80 % of the machine's)",
     [](ServerOptions& o, const std::string& v) {
        o.memoryLimit = parseSize(v);
        if (o.memoryLimit < (size_t{16} << 20)) throw UsageError("at least 16MB are needed");
     }},
    {"spill", "DIR[,DIR...]",
     "where what outgrows memory goes: directories, memory://HOST:PORT, s3://BUCKET/PREFIX (default: in the data "
     "directory or the log's)",
     [](ServerOptions& o, const std::string& v) {
        o.spillTargets = splitList(v);
        try {
           for (const std::string& target : o.spillTargets)
              io::requireSpillAddress(target);
        } catch (const SqlError& error) {
           throw UsageError(error.what());
        }
     }},
    {"cache", "DIR:SIZE",
     "keep up to SIZE of the bucket's objects on a local SSD, e.g. /ssd/cache:100GB; only with s3://",
     [](ServerOptions& o, const std::string& v) {
        const size_t colon = v.rfind(':');
        if (colon == std::string::npos || colon == 0) throw UsageError("write DIR:SIZE, for example /ssd/cache:100GB");
        o.cacheDirectory = v.substr(0, colon);
        o.cacheSize = parseSize(std::string_view(v).substr(colon + 1));
        if (o.cacheSize < io::CacheOptions::sizeMin) throw UsageError("at least 64MB are needed");
     }},
    {"password", "TEXT", "password of the user postgres; remote clients must know it",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("the password must not be empty");
        o.password = v;
        o.passwordFile.clear(); // of several places, the last one counts
     }},
    {"password-file", "FILE", "read that password from the first line of a file",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("a file is needed");
        o.passwordFile = v;
        o.password.clear();
     }},
    {"max-connections", "N", "open connections, idle ones included (default 2000)",
     [](ServerOptions& o, const std::string& v) { o.connectionsMax = parseNumber<uint32_t>(v, 1, 262143); }},
    {"superuser-reserved-connections", "N", "of these, how many are kept for superusers (default 3)",
     [](ServerOptions& o, const std::string& v) { o.reservedConnections = parseNumber<uint32_t>(v, 0, 262143); }},
    {"session-threads", "N", "statements at work at a time, those that wait not counted (default 256)",
     [](ServerOptions& o, const std::string& v) { o.sessionThreadsMax = parseNumber<uint32_t>(v, 1, 4096); }},
    {"ssl-cert-file", "FILE", "certificate chain (PEM); with --ssl-key-file, clients may use TLS",
     [](ServerOptions& o, const std::string& v) { o.tlsCertificateFile = v; }},
    {"ssl-key-file", "FILE", "private key (PEM)", [](ServerOptions& o, const std::string& v) { o.tlsKeyFile = v; }},
    {"ssl-ca-file", "FILE", "certificates (PEM) of those who sign certificates of clients, which are verified",
     [](ServerOptions& o, const std::string& v) { o.tlsAuthoritiesFile = v; }},
    {"ssl-client-cert", "off|verify-ca|verify-full",
     "which certificate clients have to show, besides a password: none, one that --ssl-ca-file signs, or one with the "
     "user's name as its common name (default off)",
     [](ServerOptions& o, const std::string& v) {
        using Kind = ServerOptions::ClientCertificates;
        if (v != "off" && v != "verify-ca" && v != "verify-full")
           throw UsageError(fmt::format("\"{}\" is not one of off, verify-ca, verify-full", v));
        o.clientCertificates = v == "off" ? Kind::Off : v == "verify-ca" ? Kind::VerifyCa : Kind::VerifyFull;
     }},
    {"require-ssl", "", "refuse connections without TLS, those of this machine included",
     [](ServerOptions& o, const std::string& v) { o.requiresTls = parseSwitch(v); }},
    {"trust-loopback", "on|off", "whether clients of this machine need no password (default on)",
     [](ServerOptions& o, const std::string& v) {
        o.trustsLoopback = parseSwitch(v);
        o.isLoopbackGiven = true;
     }},
    {"hba", "FILE", "who may come in from where, and by which proof: PostgreSQL's pg_hba.conf",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("a file is needed");
        o.hbaFile = v;
     },
     "hba_file"},
    {"ident", "FILE", "the maps that rules of --hba name: PostgreSQL's pg_ident.conf",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("a file is needed");
        o.identFile = v;
     },
     "ident_file"},
    {"socket", "DIR", "listen on the Unix-domain socket DIR/.s.PGSQL.PORT, too",
     [](ServerOptions& o, const std::string& v) {
        if (v.empty()) throw UsageError("a directory is needed");
        o.socketDirectory = v;
     },
     "unix_socket_directory"},
    {"authentication-delay", "MS",
     "the answer to a wrong password is kept back so long, and twice as long with each further one (default 100; 0: "
     "not at all)",
     [](ServerOptions& o, const std::string& v) { o.authenticationDelayMillis = parseNumber<uint32_t>(v, 0, 1000); }},
    {"log-level", "LEVEL", "debug, log, warning, error or fatal: how grave a message has to be (default log)",
     [](ServerOptions& o, const std::string& v) {
        constexpr std::pair<std::string_view, const char*> levels[] = {
            {"debug", "debug1"}, {"log", "warning"}, {"warning", "warning"}, {"error", "error"}, {"fatal", "fatal"}};
        const auto level =
            std::find_if(std::begin(levels), std::end(levels), [&](const auto& known) { return known.first == v; });
        if (level == std::end(levels))
           throw UsageError(fmt::format("\"{}\" is not one of debug, log, warning, error, fatal", v));
        o.sessionSettings.push_back({"log_min_messages", level->second, "--log-level"}); // the last one counts
     }},
};

std::string fileName(const Option& option) {
   if (option.setting != nullptr) return option.setting;
   std::string name = option.name;
   std::replace(name.begin(), name.end(), '-', '_');
   return name;
}

char upperCase(char c) {
   return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

std::string environmentName(const Option& option) {
   std::string name = "OUZEL_" + fileName(option);
   std::transform(name.begin(), name.end(), name.begin(), upperCase);
   return name;
}

/// How many letters are to be inserted, removed or replaced (Levenshtein) to make the one text the other.
size_t editDistance(std::string_view a, std::string_view b) {
   std::vector<size_t> row(b.size() + 1);
   std::iota(row.begin(), row.end(), size_t{0});
   for (size_t i = 1; i <= a.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i);
      for (size_t j = 1; j <= b.size(); ++j) {
         const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
         diagonal = row[j];
         row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      }
   }
   return row.back();
}

const Option* findFlag(std::string_view name) {
   for (const Option& option : optionTable)
      if (name == option.name) return &option;
   return nullptr;
}

/// Set a value; the error for a wrong value names its source.
void apply(const Option& option, ServerOptions& options, const std::string& value, const std::string& source) {
   try {
      option.set(options, value);
   } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", source, error.what()));
   }
}

void applyConfiguration(const std::string& path, ServerOptions& options) {
   std::map<std::string, size_t> lines; // by name in lower case
   for (auto& [number, name, value] : parseConfiguration(readConfiguration(path), path)) {
      if (const auto [known, isFirst] = lines.try_emplace(lowerCase(name), number); !isFirst)
         options.warnings.push_back(
             {fmt::format("{}:{}: {} is set in line {} already", path, number, name, known->second),
              "The last one counts. Remove the other."});
      const auto option = std::find_if(std::begin(optionTable), std::end(optionTable),
                                       [&name = name](const Option& o) { return fileName(o) == name; });
      std::string source = fmt::format("{}:{}: {}", path, number, name);
      if (option != std::end(optionTable))
         apply(*option, options, value, source);
      else
         options.sessionSettings.push_back({std::move(name), std::move(value), std::move(source)});
   }
}

/// Whether commits wait for the store, by the options; the engine checks the settings later.
bool commitsWaitForStore(const ServerOptions& options) {
   bool waits = false;
   for (const SessionSetting& setting : options.sessionSettings)
      if (lowerCase(setting.name) == "ouzel.commit") waits = lowerCase(setting.value) == "object_store";
   return waits;
}

} // namespace

size_t parseSize(std::string_view text) {
   size_t digits = 0;
   while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9')
      ++digits;
   size_t number = 0;
   const auto result = std::from_chars(text.data(), text.data() + digits, number);
   auto unit = text.substr(digits);
   while (unit.starts_with(' '))
      unit.remove_prefix(1);
   const std::string lower = lowerCase(unit);
   int shift = -1;
   if (lower.empty() || lower == "b")
      shift = 0;
   else if (lower == "kb" || lower == "kib" || lower == "k")
      shift = 10;
   else if (lower == "mb" || lower == "mib" || lower == "m")
      shift = 20;
   else if (lower == "gb" || lower == "gib" || lower == "g")
      shift = 30;
   else if (lower == "tb" || lower == "tib" || lower == "t")
      shift = 40;
   if (digits == 0 || result.ec != std::errc() || shift < 0 || number > (SIZE_MAX >> shift))
      throw UsageError(fmt::format("\"{}\" is not a size; write for example 512MB or 4GB", text));
   return number << shift;
}

namespace {

/// A variable by which Kubernetes tells of a service whose name begins with ouzel: OUZEL_X_SERVICE_HOST=..., and
/// OUZEL_X_PORT=tcp://... and OUZEL_X_PORT_5432_TCP_ADDR=....
bool isServiceLink(std::string_view entry) {
   const size_t equals = std::min(entry.find('='), entry.size());
   const std::string_view name = entry.substr(0, equals), value = entry.substr(std::min(equals + 1, entry.size()));
   const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
   const bool isAddress = value.starts_with("tcp://") || value.starts_with("udp://") || value.starts_with("sctp://");
   return has("_SERVICE_HOST") || has("_SERVICE_PORT") || (name.ends_with("_PORT") && isAddress) ||
          (has("_PORT_") && (has("_TCP") || has("_UDP") || has("_SCTP")));
}

/// Options that would decide the same thing.
void requireConsistentAccess(const ServerOptions& options) {
   if (!options.hbaFile.empty() && options.isLoopbackGiven)
      throw UsageError("--trust-loopback is for servers without --hba, whose rules say who needs a password");
   if (!options.identFile.empty() && options.hbaFile.empty())
      throw UsageError("--ident needs --hba, whose rules name its maps");
   if (!options.socketDirectory.empty() && options.hbaFile.empty() &&
       options.clientCertificates != ServerOptions::ClientCertificates::Off)
      throw UsageError("--socket and --ssl-client-cert need --hba, which says who may come in without a certificate");
}

} // namespace

std::vector<std::string> unknownVariables(const char* const* environment) {
   constexpr std::string_view prefix = "OUZEL_";
   constexpr std::string_view known[] = {"OUZEL_CONFIG", "OUZEL_ENCRYPTION_KEY"};
   // Of the build and the tests, and of Kubernetes.
   constexpr std::string_view foreign[] = {"OUZEL_ARROW", "OUZEL_TEST_", "OUZEL_WIRE_TARGET", "OUZEL_BINARY"};
   std::vector<std::string> unknown;
   for (; *environment != nullptr; ++environment) {
      const std::string_view entry = *environment, name = entry.substr(0, entry.find('='));
      const auto begins = [&](std::string_view start) { return name.starts_with(start); };
      if (!begins(prefix) || isServiceLink(entry) ||
          std::find(std::begin(known), std::end(known), name) != std::end(known) ||
          std::any_of(std::begin(foreign), std::end(foreign), begins) ||
          std::any_of(std::begin(optionTable), std::end(optionTable),
                      [&](const Option& option) { return environmentName(option) == name; }))
         continue;
      std::string similar = similarOption(name.substr(prefix.size()));
      std::transform(similar.begin(), similar.end(), similar.begin(), upperCase);
      unknown.push_back(std::string(name) + (similar.empty() ? "" : "; perhaps you mean OUZEL_" + similar));
   }
   return unknown;
}

std::string similarOption(std::string_view name) {
   constexpr size_t distanceMax = 2, prefixMin = 4;
   std::string wanted = lowerCase(name);
   std::replace(wanted.begin(), wanted.end(), '-', '_');
   std::string found;
   size_t best = distanceMax + 1;
   for (const Option& option : optionTable) {
      const std::string other = fileName(option);
      if (wanted.size() >= prefixMin && other.starts_with(wanted)) return other;
      if (const size_t distance = editDistance(wanted, other); distance < best) {
         best = distance;
         found = other;
      }
   }
   return found;
}

std::optional<ServerOptions> parseServeOptions(const std::vector<std::string>& arguments,
                                               EnvironmentLookup environment) {
   std::string configuration;
   std::vector<std::pair<const Option*, std::string>> flags;
   for (size_t i = 0; i < arguments.size(); ++i) {
      std::string flag = arguments[i];
      if (flag == "--help" || flag == "-h") return std::nullopt;
      if (!flag.starts_with("--")) throw UsageError(fmt::format("unexpected argument \"{}\"", flag));
      std::optional<std::string> value;
      if (const size_t equals = flag.find('='); equals != std::string::npos) {
         value = flag.substr(equals + 1);
         flag.resize(equals);
      }
      const Option* option = findFlag(std::string_view(flag).substr(2));
      if (option == nullptr && flag != "--config") {
         std::string similar = similarOption(std::string_view(flag).substr(2));
         std::replace(similar.begin(), similar.end(), '_', '-');
         throw UsageError(fmt::format("unknown option \"{}\"{}", flag,
                                      similar.empty() ? "" : fmt::format("; perhaps you mean --{}", similar)));
      }
      if (!value && option != nullptr && *option->value == '\0') value = "on";
      if (!value) {
         if (i + 1 == arguments.size()) throw UsageError(fmt::format("{} needs a value", flag));
         value = arguments[++i];
      }
      if (option == nullptr)
         configuration = *value;
      else
         flags.emplace_back(option, *value);
   }
   ServerOptions options;
   if (configuration.empty())
      if (const char* fromEnvironment = environment("OUZEL_CONFIG")) configuration = fromEnvironment;
   if (!configuration.empty()) applyConfiguration(configuration, options);
   options.configurationFile = configuration;
   for (const Option& option : optionTable) {
      const std::string variable = environmentName(option);
      const char* value = environment(variable.c_str());
      if (value && !isServiceLink(variable + "=" + value)) apply(option, options, value, variable);
   }
   for (const auto& [option, value] : flags)
      apply(*option, options, value, std::string("--") + option->name);
   if (options.dataDirectory.empty()) throw UsageError("--data DIR is required");
   if (options.reservedConnections >= options.connectionsMax)
      throw UsageError("superuser_reserved_connections must be less than max_connections");
   if (options.metricsPort == options.port && options.port != 0)
      throw UsageError("--metrics-port and --port are the same");
   if (options.readOnly && options.takeOver) throw UsageError("--take-over is for a server that writes");
   if (io::isRemoteStore(options.dataDirectory) && options.walDirectory.empty() && !options.readOnly &&
       !commitsWaitForStore(options))
      throw UsageError("--wal DIR is required with --data s3://...: the log of what is not in the bucket yet "
                       "(with --commit object_store there is nothing that is not)");
   if (!options.cacheDirectory.empty() && !io::isRemoteStore(options.dataDirectory))
      throw UsageError("--cache is for --data s3://...: a directory needs no cache");
   if (options.tlsCertificateFile.empty() != options.tlsKeyFile.empty())
      throw UsageError("--ssl-cert-file and --ssl-key-file belong together");
   if (options.tlsCertificateFile.empty() && (options.requiresTls || !options.tlsAuthoritiesFile.empty()))
      throw UsageError(fmt::format("{} needs --ssl-cert-file and --ssl-key-file",
                                   options.requiresTls ? "--require-ssl" : "--ssl-ca-file"));
   if (options.clientCertificates != ServerOptions::ClientCertificates::Off) {
      if (options.tlsAuthoritiesFile.empty()) throw UsageError("--ssl-client-cert needs --ssl-ca-file");
      options.requiresTls = true; // who comes without TLS shows no certificate
   }
   requireConsistentAccess(options);
   options.encryptionKey = readEncryptionKey(options.encryptionKeyFile, environment);
   if (!options.passwordFile.empty()) options.password = readPassword(options.passwordFile);
   for (const auto& [what, path] :
        {std::pair{"password file", &options.passwordFile}, {"encryption key file", &options.encryptionKeyFile}})
      if (!path->empty() && isReadableByAll(*path))
         options.warnings.push_back({fmt::format("{} \"{}\" can be read by all users of this machine", what, *path),
                                     fmt::format("chmod 640 \"{}\"", *path)});
   return options;
}

std::shared_ptr<const io::EncryptionKey> readEncryptionKey(const std::string& file, EnvironmentLookup environment) {
   const char* name = "OUZEL_ENCRYPTION_KEY";
   try {
      if (!file.empty()) return io::EncryptionKey::readFile(file);
      const char* text = environment(name);
      return text != nullptr ? io::EncryptionKey::parse(text) : nullptr;
   } catch (const SqlError& error) {
      throw UsageError(fmt::format("{}: {}{}{}", file.empty() ? name : file, error.what(),
                                   error.hintText().empty() ? "" : ". ", error.hintText()));
   }
}

io::TlsFiles tlsFiles(const ServerOptions& options) {
   return {options.tlsCertificateFile, options.tlsKeyFile, options.tlsAuthoritiesFile};
}

std::string serveHelp() {
   std::string text = "Usage: ouzel serve --data DIR [options]\n\nServe a database to PostgreSQL clients.\n\n";
   const auto line = [&](std::string_view name, std::string_view value, std::string_view help) {
      text += fmt::format("  {:<26} {}\n", fmt::format("--{}{}{}", name, value.empty() ? "" : " ", value), help);
   };
   for (const Option& option : optionTable)
      line(option.name, option.value, option.help);
   line("config", "FILE", "read settings from a file of `name = value` lines (memory_limit = 4GB)");
   text += "\nEach option can also be given in the environment: OUZEL_PORT, OUZEL_MEMORY_LIMIT, ...\n"
           "The command line wins over the environment, the environment over the file.\n"
           "The encryption key itself is taken from OUZEL_ENCRYPTION_KEY when no file is named.\n";
   return text;
}

} // namespace ouzel::server
