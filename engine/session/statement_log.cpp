#include "engine/session/statement_log.hpp"

#include <cstdlib>
#include <fmt/format.h>

#include "common/env/clock.hpp"
#include "common/env/random.hpp"
#include "common/log/log.hpp"
#include "common/type/text_codec.hpp"
#include "engine/setting/log_settings.hpp"
#include "sql/parse/fingerprint.hpp"

namespace ouzel::engine {

namespace {

double real(const Settings& settings, SettingName name) {
   return std::strtod(settings.value(name).c_str(), nullptr);
}

int lowestWanted(const std::string& value) {
   if (value == "all") return static_cast<int>(StatementClass::Other);
   if (value == "mod") return static_cast<int>(StatementClass::Modifies);
   return value == "ddl" ? static_cast<int>(StatementClass::Definition) : 3;
}

/// In quotes, those inside doubled; "..." stands for what is beyond `bytesMax` (-1: no limit).
void appendQuoted(std::string& out, std::string_view text, int64_t bytesMax) {
   const bool isCut = bytesMax >= 0 && text.size() > static_cast<size_t>(bytesMax);
   if (isCut) {
      size_t end = static_cast<size_t>(bytesMax);
      while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
         --end; // not within a character
      text = text.substr(0, end);
   }
   out += '\'';
   for (const char c : text) {
      if (c == '\'') out += '\'';
      out += c;
   }
   out += isCut ? "...'" : "'";
}

} // namespace

StatementLog::StatementLog(SessionCore& core) : core_(core) {
   refresh();
}

void StatementLog::refresh() {
   const Settings& settings = core_.settings;
   seenSettings_ = settings.version();
   applyLogSettings(core_.log, settings);
   core_.log.fingerprint = settings.value("compute_query_id") == "on" ? &sql::fingerprintOfText : nullptr;
   logsDuration_ = settings.boolean("log_duration");
   wanted_ = lowestWanted(settings.value("log_statement"));
   durationMin_ = settings.integer("log_min_duration_statement");
   sampleMin_ = settings.integer("log_min_duration_sample");
   sampleRate_ = real(settings, "log_statement_sample_rate");
   transactionRate_ = real(settings, "log_transaction_sample_rate");
   logsDurations_ = logsDuration_ || durationMin_ >= 0 || sampleMin_ >= 0 || transactionRate_ > 0;
   parameterBytesMax_ = settings.integer("log_parameter_max_length");
   parameterBytesOnError_ = settings.integer("log_parameter_max_length_on_error");
}

void StatementLog::begin(std::string_view text, std::shared_ptr<const void> owner, std::string_view command) {
   core_.adoptDefaults();
   if (core_.settings.version() != seenSettings_) refresh();
   LogSession& log = core_.log;
   log.owner = std::move(owner);
   log.statement = text;
   if (!command.empty()) log.command = command;
   isAnnounced_ = false;
   startNanos_ = steadyNanos(); // also while no duration is logged: the statement may be the SET that changes this
}

void StatementLog::setCommand(std::string_view command) {
   if (core_.settings.version() != seenSettings_) refresh(); // by the statement before it
   core_.log.command = command;
}

bool StatementLog::wants(StatementClass statement) const {
   return static_cast<int>(statement) >= wanted_;
}

void StatementLog::announce(std::string_view what, const std::string& detail) {
   isAnnounced_ = true;
   if (!isLogged(LogLevel::Log)) return;
   const std::string message = fmt::format("{}: {}", what, core_.log.statement);
   logRecord({.level = LogLevel::Log, .message = message, .detail = detail, .hidesStatement = true});
}

bool StatementLog::draws(double rate) {
   if (rate <= 0) return false;
   if (rate >= 1) return true;
   if (!sampling_) sampling_.emplace(unpredictableSeed()); // apart from random(), which setseed() makes repeatable
   return sampling_->next() <= rate;
}

StatementLog::Duration StatementLog::measure() {
   Duration duration;
   duration.micros = (steadyNanos() - startNanos_) / 1000;
   if (transactionRate_ > 0 && transaction_ != core_.transaction.count()) {
      transaction_ = core_.transaction.count();
      isSampled_ = draws(transactionRate_);
   }
   const bool isSampled = transactionRate_ > 0 && isSampled_;
   const int64_t millis = duration.micros / 1000;
   const bool isLong = durationMin_ >= 0 && millis >= durationMin_;
   const bool isDrawn = sampleMin_ >= 0 && millis >= sampleMin_ && draws(sampleRate_);
   duration.isLogged = isLong || isDrawn || logsDuration_ || isSampled;
   duration.hasStatement = (isLong || isDrawn || isSampled) && !isAnnounced_;
   return duration;
}

void StatementLog::write(const Duration& duration, const std::string& what, const std::string& detail) {
   if (!isLogged(LogLevel::Log)) return;
   std::string message = fmt::format("duration: {}.{:03} ms", duration.micros / 1000, duration.micros % 1000);
   if (duration.hasStatement) message += fmt::format("  {}: {}", what, core_.log.statement);
   logRecord({.level = LogLevel::Log, .message = message, .detail = detail, .hidesStatement = true});
}

std::string StatementLog::list(std::span<const BoundParameter> parameters, int64_t bytesMax) const {
   std::string out;
   for (size_t i = 0; i < parameters.size(); ++i) {
      out += fmt::format("{}${} = ", i == 0 ? "" : ", ", i + 1);
      if (parameters[i].value.isNull)
         out += "NULL";
      else
         appendQuoted(out, textOf(parameters[i].type, parameters[i].value, core_.format()), bytesMax);
   }
   return out;
}

std::string StatementLog::parameters(std::span<const BoundParameter> parameters) const {
   if (parameters.empty() || parameterBytesMax_ == 0) return "";
   return "parameters: " + list(parameters, parameterBytesMax_);
}

std::string StatementLog::quotedOnError(std::string_view text) const {
   std::string out;
   appendQuoted(out, text, parameterBytesOnError_);
   return out;
}

std::string StatementLog::parametersOnError(std::span<const BoundParameter> parameters) const {
   if (parameters.empty() || parameterBytesOnError_ == 0) return "";
   return list(parameters, parameterBytesOnError_);
}

} // namespace ouzel::engine
