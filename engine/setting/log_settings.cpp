#include "engine/setting/log_settings.hpp"

#include "common/error/sql_error.hpp"
#include "common/type/time_zone.hpp"

namespace ouzel::engine {

namespace {

LogVerbosity verbosityOf(const std::string& value) {
   if (value == "terse") return LogVerbosity::Terse;
   return value == "verbose" ? LogVerbosity::Verbose : LogVerbosity::Default;
}

LogZone zoneNamed(const std::string& name) {
   const TimeZone* zone = findTimeZone(name);
   if (!zone) return {};
   return [zone](int64_t micros) {
      const TimeZone::Offset offset = zone->offsetAt(micros);
      return LogZoneOffset{offset.seconds, offset.abbreviation};
   };
}

void readFileSettings(LogFileSettings& out, const Settings& settings) {
   out.zone = zoneNamed(settings.value("log_timezone"));
   out.rotationSeconds = settings.integer("log_rotation_age") * 60;
   out.rotationBytes = settings.integer("log_rotation_size") * 1024;
   out.fileMode = static_cast<uint32_t>(settings.integer("log_file_mode"));
}

/// Where files lie that the setting `name` places.
std::string directoryOf(const char* name, const std::string& value, const std::string& base) {
   if (value.starts_with('/')) return value;
   if (base.empty())
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid value for parameter \"" + std::string(name) + "\": \"" + value + "\"")
          .detail("A database in a bucket without a local log has no directory in which this one could lie.")
          .hint("Write an absolute path.");
   return base + "/" + value;
}

} // namespace

AuditSettings auditSettings(const SettingList& configuration, const std::string& directory) {
   const Settings settings(configuration);
   AuditSettings out;
   out.isOn = !settings.value("ouzel.audit_destination").empty();
   if (!out.isOn) return out;
   out.chains = settings.boolean("ouzel.audit_chain");
   out.isRequired = settings.boolean("ouzel.audit_required");
   const std::string& own = settings.value("ouzel.audit_directory");
   readFileSettings(out.files, settings);
   out.files.directory =
       directoryOf("ouzel.audit_directory", own.empty() ? settings.value("log_directory") : own, directory);
   out.files.filename = settings.value("ouzel.audit_filename");
   return out;
}

LogSettings logSettings(const SettingList& configuration, const std::string& directory) {
   const Settings settings(configuration);
   LogSettings out;
   const std::string& destinations = settings.value("log_destination"); // canonical: words of the three, with commas
   const auto names = [&](std::string_view word) { return ("," + destinations + ",").find(word) != std::string::npos; };
   out.writes[static_cast<size_t>(LogFormat::Text)] = names(",stderr,");
   out.writes[static_cast<size_t>(LogFormat::Csv)] = names(",csvlog,");
   out.writes[static_cast<size_t>(LogFormat::Json)] = names(",jsonlog,");
   out.linePrefix = settings.value("log_line_prefix");
   readFileSettings(out, settings);
   out.minMessages = levelNamed(settings.value("log_min_messages"));
   out.verbosity = verbosityOf(settings.value("log_error_verbosity"));
   out.checkpoints = settings.boolean("log_checkpoints");
   out.connections = settings.boolean("log_connections");
   out.usesFiles = settings.boolean("logging_collector");
   if (!out.usesFiles) {
      if (destinations.find(',') != std::string::npos)
         throw SqlError(sqlstate::invalidParameterValue,
                        "invalid value for parameter \"log_destination\": \"" + destinations + "\"")
             .detail("One stream takes one format; more of them need files.")
             .hint("Set log_directory or logging_collector = on.");
      return out;
   }
   out.directory = directoryOf("log_directory", settings.value("log_directory"), directory);
   out.filename = settings.value("log_filename");
   out.truncates = settings.boolean("log_truncate_on_rotation");
   return out;
}

void applyLogSettings(LogSession& session, const Settings& settings) {
   session.application = settings.value("application_name");
   session.minMessages = levelNamed(settings.value("log_min_messages"));
   session.minErrorStatement = levelNamed(settings.value("log_min_error_statement"));
   session.verbosity = verbosityOf(settings.value("log_error_verbosity"));
   session.logsEnd = settings.boolean("log_disconnections");
}

} // namespace ouzel::engine
