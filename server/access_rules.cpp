#include "server/access_rules.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "server/configuration_file.hpp"
#include "server/hba/hba_parser.hpp"

namespace ouzel::server {

namespace {

void requireNone(const std::string& path, const std::vector<RuleProblem>& problems) {
   if (!problems.empty()) throw UsageError(fmt::format("{}: {}", path, describe(problems)));
}

/// Rules that nobody can meet.
std::vector<std::string> warningsOf(const std::vector<HbaRule>& rules, const ServerOptions& options) {
   std::vector<std::string> warnings;
   for (const HbaRule& rule : rules) {
      const auto warn = [&](std::string_view what) {
         warnings.push_back(fmt::format("{}: line {}: {}", options.hbaFile, rule.line, what));
      };
      if (rule.connection == HbaConnection::HostGss)
         warn("hostgssenc record cannot match because GSSAPI is not supported by this build");
      if (rule.connection == HbaConnection::HostSsl && options.tlsCertificateFile.empty())
         warn("hostssl record cannot match because there is no --ssl-cert-file");
      else if (rule.clientCertificate != HbaRule::ClientCertificate::Any && options.tlsAuthoritiesFile.empty())
         warn("client certificates can only be checked if there is a --ssl-ca-file");
      if (rule.connection == HbaConnection::Local && options.socketDirectory.empty())
         warn("local record cannot match because there is no --socket");
   }
   return warnings;
}

void logWarnings(const AccessFiles* files) {
   if (!files) return;
   for (const std::string& warning : files->warnings)
      logLine(LogLevel::Warning, warning);
}

} // namespace

std::shared_ptr<const AccessFiles> AccessFiles::read(const ServerOptions& options) {
   auto files = std::make_shared<AccessFiles>();
   files->hbaFile = options.hbaFile;
   files->identFile = options.identFile;
   std::vector<RuleProblem> problems;
   files->rules = parseHba(readConfiguration(options.hbaFile), problems);
   requireNone(options.hbaFile, problems);
   if (files->rules.empty())
      throw UsageError(fmt::format("configuration file \"{}\" contains no entries", options.hbaFile));
   if (!options.identFile.empty()) {
      files->identities = IdentMap::parse(readConfiguration(options.identFile), problems);
      requireNone(options.identFile, problems);
   }
   files->warnings = warningsOf(files->rules, options);
   return files;
}

namespace {

std::vector<std::string> namesOf(const RuleField& field) {
   std::vector<std::string> names;
   for (const RuleWord& word : field)
      names.push_back(word.text);
   return names;
}

AccessRuleRow rowOf(const HbaRule& rule) {
   using Kind = HbaAddresses::Kind;
   using Certificate = HbaRule::ClientCertificate;
   AccessRuleRow row{static_cast<int32_t>(rule.line),
                     std::string(nameOf(rule.connection)),
                     namesOf(rule.databases),
                     namesOf(rule.users),
                     "",
                     "",
                     std::string(nameOf(rule.method)),
                     {}};
   if (rule.connection != HbaConnection::Local) {
      switch (rule.addresses.kind) {
      case Kind::All: row.address = "all"; break;
      case Kind::SameHost: row.address = "samehost"; break;
      case Kind::SameNet: row.address = "samenet"; break;
      case Kind::Range:
         row.address = rule.addresses.range.address.text();
         row.mask = rule.addresses.range.mask.text();
         break;
      }
   }
   if (!rule.map.empty()) row.options.push_back("map=" + rule.map);
   if (rule.clientCertificate != Certificate::Any)
      row.options.push_back(rule.clientCertificate == Certificate::VerifyCa ? "clientcert=verify-ca"
                                                                            : "clientcert=verify-full");
   return row;
}

} // namespace

std::vector<AccessRuleRow> AccessFiles::ruleRows() const {
   std::vector<AccessRuleRow> rows;
   for (const HbaRule& rule : rules)
      rows.push_back(rowOf(rule));
   return rows;
}

std::vector<UserMapRow> AccessFiles::mapRows() const {
   std::vector<UserMapRow> rows;
   for (const IdentMap::Line& line : identities.lines())
      rows.push_back({static_cast<int32_t>(line.number), line.map, line.systemName, line.role});
   return rows;
}

AccessRules::AccessRules(const ServerOptions& options)
   : files_(options.hbaFile.empty() ? nullptr : AccessFiles::read(options)) {
   logWarnings(files_.get());
}

std::shared_ptr<const AccessFiles> AccessRules::current() const {
   const MutexLock lock(mutex_);
   return files_;
}

void AccessRules::reload(const ServerOptions& options) {
   if (options.hbaFile.empty() || !current()) return; // whether there are rules is decided at the start
   try {
      auto fresh = AccessFiles::read(options);
      logWarnings(fresh.get());
      const MutexLock lock(mutex_);
      files_.swap(fresh);
   } catch (const UsageError& error) {
      logRecord({.level = LogLevel::Error,
                 .message = fmt::format("\"{}\" was not reloaded; the old rules stay in use", options.hbaFile),
                 .state = sqlstate::configFileError.text(),
                 .detail = error.what()});
   }
}

} // namespace ouzel::server
