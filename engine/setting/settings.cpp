#include "engine/setting/settings.hpp"

#include <algorithm>

#include "common/audit/classes.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/encoding_converter.hpp"
#include "common/text/number_text.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel::engine {

namespace {

void checkChangeable(const SettingInfo& info) {
   const std::string name(info.name);
   if (info.context == "internal")
      throw SqlError(sqlstate::cantChangeRuntimeParam, "parameter \"" + name + "\" cannot be changed");
   if (info.context == "postmaster")
      throw SqlError(sqlstate::cantChangeRuntimeParam,
                     "parameter \"" + name + "\" cannot be changed without restarting the server");
   if (info.context == "sighup")
      throw SqlError(sqlstate::cantChangeRuntimeParam, "parameter \"" + name + "\" cannot be changed now");
   if (info.context == "backend" || info.context == "superuser-backend")
      throw SqlError(sqlstate::cantChangeRuntimeParam,
                     "parameter \"" + name + "\" cannot be set after connection start");
}

/// log_destination: words in any case and order, with commas between.
std::string canonicalDestinations(std::string_view value) {
   std::string out;
   for (std::string_view rest = value; !rest.empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string word = lowerCase(trimBlanks(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      if (word != "stderr" && word != "csvlog" && word != "jsonlog")
         throw SqlError(sqlstate::invalidParameterValue,
                        "invalid value for parameter \"log_destination\": \"" + std::string(value) + "\"")
             .detail("Unrecognized key word: \"" + word + "\".");
      out += (out.empty() ? "" : ",") + word;
   }
   return out;
}

/// ouzel.audit: words in any case.
std::string canonicalAuditClasses(std::string_view value) {
   std::string badWord;
   const std::string list = lowerCase(trimBlanks(value));
   if (list.empty()) return "none";
   if (!parseAuditClasses(list, badWord))
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid value for parameter \"ouzel.audit\": \"" + std::string(value) + "\"")
          .detail("Unrecognized key word: \"" + badWord + "\".")
          .hint("Available values: read, write, ddl, role, misc, all, none, each but the last with - before it.");
   return list;
}

/// ouzel.audit_destination.
std::string canonicalAuditDestination(std::string_view value) {
   std::string word = lowerCase(trimBlanks(value));
   if (!word.empty() && word != "jsonlog")
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid value for parameter \"ouzel.audit_destination\": \"" + std::string(value) + "\"")
          .hint("Available values: jsonlog, or nothing.");
   return word;
}

/// The names of clients are at most 63 bytes of ASCII, so that logs can be read everywhere.
std::string applicationName(std::string_view value) {
   std::string name(truncateName(value));
   for (char& c : name)
      if (c < ' ' || c > '~') c = '?';
   return name;
}

/// The canonical form of a value beyond its type's: one spelling for the spellings that clients use. `current` is the
/// setting's present value: a DateStyle may name only a part.
std::string canonicalValue(const SettingInfo& info, std::string_view value, std::string_view current) {
   std::string canonical = canonicalSetting(info, value);
   if (info.name == "application_name") return applicationName(value);
   if (info.name == "log_destination") return canonicalDestinations(value);
   if (info.name == "ouzel.audit") return canonicalAuditClasses(value);
   if (info.name == "ouzel.audit_destination") return canonicalAuditDestination(value);
   if (info.name == "default_with_oids" && canonical == "on")
      throw SqlError(sqlstate::featureNotSupported, "tables declared WITH OIDS are not supported");
   if (info.name == "log_hostname" && canonical == "on") throwNotSupported("log_hostname"); // lines have addresses
   if (info.name == "pg_stat_statements.track" && canonical == "all")
      throwNotSupported("pg_stat_statements.track = all");
   if (info.name == "pg_stat_statements.save" && canonical == "on") throwNotSupported("pg_stat_statements.save = on");
   const auto refuse = [&] {
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid value for parameter \"" + std::string(info.name) + "\": \"" + std::string(value) + "\"");
   };
   if (info.name == "default_table_access_method" && canonical != "heap")
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid value for parameter \"default_table_access_method\": \"" + canonical + "\"")
          .detail(canonical.empty() ? "default_table_access_method cannot be empty."
                                    : "Table access method \"" + canonical + "\" does not exist.");
   if (info.name == "client_encoding") {
      const auto encoding = encodingNamed(value);
      if (!encoding) refuse();
      const std::string name(encodingName(*encoding));
      if (*encoding != CharacterEncoding::SqlAscii && !canConvert(*encoding))
         throwNotSupported("the client encoding " + name);
      return name;
   }
   if (info.name == "TimeZone" || info.name == "log_timezone") {
      const auto zone = parseTimeZoneSetting(value);
      if (!zone) refuse();
      return *zone;
   }
   if (info.name == "DateStyle") {
      const auto style = parseDateStyleSetting(value, current);
      if (!style) refuse();
      return *style;
   }
   return canonical;
}

} // namespace

Settings::Settings(const SettingList& defaults) {
   for (const SettingInfo& info : settingTable())
      values_.emplace_back(info.initial);
   for (const auto& [name, value] : defaults) {
      const SettingInfo& info = require(name);
      values_[info.index] = canonicalValue(info, value, values_[info.index]);
   }
   DCHECK(values_.size() == settingTable().size());
   memoryLimitMax_ = integer("memory_limit");
   keepsLog_ = boolean("ouzel.keeps_log");
   resetValues_ = values_;
   reportedValues_ = values_;
   updateFormat();
}

void Settings::adoptDefaults(const SettingList& before, const SettingList& now) {
   const Settings old(before), fresh(now);
   for (size_t i = 0; i < values_.size(); ++i) {
      if (resetValues_[i] != old.values_[i]) continue; // the startup packet has set it
      if (values_[i] == resetValues_[i]) values_[i] = fresh.values_[i];
      resetValues_[i] = fresh.values_[i];
   }
   memoryLimitMax_ = fresh.memoryLimitMax_;
   changed();
}

void Settings::checkAgainstServer(const SettingInfo& info, const std::string& canonical) const {
   if (info.name == "ouzel.commit" && canonical == "log" && !keepsLog_)
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid value for parameter \"ouzel.commit\": \"log\", the server keeps no log")
          .hint("A server started with --wal DIR keeps one.");
   if (info.name != "memory_limit" || std::strtoll(canonical.c_str(), nullptr, 10) <= memoryLimitMax_) return;
   throw SqlError(sqlstate::invalidParameterValue, canonical + " MB is outside the valid range for parameter \"" +
                                                       std::string(info.name) + "\" (" + std::string(info.minimum) +
                                                       " MB .. " + std::to_string(memoryLimitMax_) + " MB)");
}

const SettingInfo& Settings::require(std::string_view name) const {
   if (const SettingInfo* info = findSetting(name)) return *info;
   throw SqlError(sqlstate::undefinedObject, "unrecognized configuration parameter \"" + std::string(name) + "\"");
}

bool Settings::isCustom(std::string_view name) {
   return !findSetting(name) && name.find('.') != std::string_view::npos && !lowerCase(name).starts_with("ouzel.");
}

namespace {

/// Throws 42602 unless the name of a custom setting is identifiers with dots between them.
void requireCustomName(std::string_view name) {
   const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c < 0; };
   bool begins = true; // an identifier is due
   for (const char c : name) {
      const bool isFine = begins ? isLetter(c) : isLetter(c) || (c >= '0' && c <= '9') || c == '$' || c == '.';
      if (isFine) {
         begins = c == '.';
         continue;
      }
      begins = true;
      break;
   }
   if (begins)
      throw SqlError(sqlstate::invalidName, "invalid configuration parameter name \"" + std::string(name) + "\"")
          .detail("Custom parameter names must be two or more simple identifiers separated by dots.");
}

} // namespace

void Settings::check(std::string_view name, const std::optional<std::string>& value) const {
   if (isCustom(name)) return requireCustomName(name);
   const SettingInfo& info = require(name);
   checkChangeable(info);
   if (value) checkAgainstServer(info, canonicalValue(info, *value, values_[info.index]));
}

void Settings::setInitial(std::string_view name, std::string_view value) {
   if (isCustom(name)) {
      requireCustomName(name);
      custom_[lowerCase(name)] = resetCustom_[lowerCase(name)] = std::string(value);
      return;
   }
   const SettingInfo& info = require(name);
   if (info.context == "internal" || info.context == "postmaster" || info.context == "sighup") checkChangeable(info);
   std::string canonical = canonicalValue(info, value, values_[info.index]);
   checkAgainstServer(info, canonical);
   assign(info, std::move(canonical));
   resetValues_[info.index] = values_[info.index];
   reportedValues_[info.index] = values_[info.index];
}

void Settings::set(std::string_view name, std::string_view value, bool isLocal) {
   remember();
   if (isCustom(name)) {
      requireCustomName(name);
      const std::string key = lowerCase(name);
      if (isLocal)
         hidden_.custom.emplace(key, find(key));
      else
         hidden_.custom.erase(key);
      custom_[key] = std::string(value);
      return;
   }
   const SettingInfo& info = require(name);
   checkChangeable(info);
   std::string canonical = canonicalValue(info, value, values_[info.index]);
   checkAgainstServer(info, canonical);
   if (isLocal)
      hidden_.values.emplace(info.index, values_[info.index]);
   else
      hidden_.values.erase(info.index);
   assign(info, std::move(canonical));
}

void Settings::reset(std::string_view name) {
   remember();
   if (isCustom(name) && custom_.contains(lowerCase(name))) {
      const auto initial = resetCustom_.find(lowerCase(name));
      if (initial == resetCustom_.end())
         custom_[lowerCase(name)].clear(); // the name stays known
      else
         custom_[initial->first] = initial->second;
      return;
   }
   const SettingInfo& info = require(name);
   checkChangeable(info);
   hidden_.values.erase(info.index);
   assign(info, resetValues_[info.index]);
}

void Settings::resetAll() {
   remember();
   for (const SettingInfo& info : settingTable())
      if (info.context == "user" || info.context == "superuser")
         if (info.name.rfind("transaction_", 0) != 0 && info.name != "role" && info.name != "session_authorization")
            values_[info.index] = resetValues_[info.index];
   hidden_ = {};
   for (auto& [name, value] : custom_)
      value.clear();
   for (const auto& [name, value] : resetCustom_)
      custom_[name] = value;
   changed();
}

std::optional<std::string> Settings::find(std::string_view name) const {
   if (const SettingInfo* info = findSetting(name)) return displaySetting(*info, values_[info->index]);
   const auto custom = custom_.find(lowerCase(name));
   return custom == custom_.end() ? std::nullopt : std::optional(custom->second);
}

std::string Settings::show(std::string_view name) const {
   if (auto value = find(name)) return *value;
   require(name);
   return {};
}

void Settings::force(SettingName name, std::string value) {
   const SettingInfo& info = settingTable()[name.index()];
   // The transaction's own settings change with every transaction and do not affect plans.
   if (info.name.rfind("transaction_", 0) == 0)
      values_[info.index] = std::move(value);
   else
      assign(info, std::move(value));
}

const std::string& Settings::valueOf(std::string_view name) const {
   return values_[require(name).index];
}

int64_t Settings::integer(SettingName name) const {
   return std::strtoll(value(name).c_str(), nullptr, 10);
}

void Settings::assign(const SettingInfo& info, std::string canonical) {
   DCHECK(info.index < values_.size());
   values_[info.index] = std::move(canonical);
   changed();
}

void Settings::changed() {
   ++version_;
   updateFormat();
}

void Settings::updateFormat() {
   format_ = SessionFormat::fromSettings(value("TimeZone"), value("DateStyle"), value("IntervalStyle"),
                                         static_cast<int32_t>(integer("extra_float_digits")),
                                         value("bytea_output") == "escape");
   format_.readsXmlDocuments = value("xmloption") == "document";
   format_.xmlBinary = value("xmlbinary") == "hex" ? XmlBinary::Hex : XmlBinary::Base64;
   const std::string& encoding = value("client_encoding");
   clientEncoding_ = encoding == "UTF8" ? CharacterEncoding::Utf8 : encodingNamed(encoding).value();
}

std::vector<std::string> Settings::searchPath(const std::string& user) const {
   std::vector<std::string> path;
   const std::string& text = value("search_path");
   for (size_t i = 0; i < text.size();) {
      while (i < text.size() && (text[i] == ' ' || text[i] == ','))
         ++i;
      if (i >= text.size()) break;
      std::string name;
      if (text[i] == '"') {
         for (++i; i < text.size(); ++i) {
            if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
               ++i;
            else if (text[i] == '"')
               break;
            name += text[i];
         }
         ++i;
      } else {
         const size_t end = std::min(text.find(',', i), text.size());
         name = lowerCase(text.substr(i, end - i));
         while (!name.empty() && name.back() == ' ')
            name.pop_back();
         i = end;
      }
      path.push_back(name == "$user" ? user : name);
   }
   return path;
}

void Settings::remember() {
   if (!levels_.empty() && !levels_.back()) levels_.back() = State{values_, custom_, hidden_};
}

void Settings::restore(State&& state) {
   values_ = std::move(state.values);
   for (const auto& [name, value] : custom_)
      state.custom.try_emplace(name); // a name that was set stays known
   custom_ = std::move(state.custom);
   hidden_ = std::move(state.hidden);
   changed();
}

void Settings::transactionBegins() {
   DCHECK(levels_.empty());
   levels_.emplace_back();
}

std::optional<Settings::State> Settings::endLevels(size_t from) {
   DCHECK(from < levels_.size());
   const auto oldest = std::find_if(levels_.begin() + static_cast<ptrdiff_t>(from), levels_.end(),
                                    [](const std::optional<State>& level) { return level.has_value(); });
   std::optional<State> state;
   if (oldest != levels_.end()) state = std::move(*oldest);
   levels_.resize(from);
   return state;
}

void Settings::releaseSavepoint(size_t number) {
   std::optional<State> state = endLevels(number + 1);
   if (!levels_.back()) levels_.back() = std::move(state);
}

void Settings::rollbackToSavepoint(size_t number) {
   if (std::optional<State> state = endLevels(number + 1)) restore(std::move(*state));
   levels_.emplace_back();
}

void Settings::transactionFails() {
   if (levels_.empty()) return;
   std::optional<State>& last = levels_.back();
   if (last) restore(std::move(*std::exchange(last, std::nullopt)));
}

void Settings::transactionEnds(bool committed) {
   std::optional<State> state = endLevels(0);
   if (!committed && state) restore(std::move(*state));
   if (committed && !(hidden_.values.empty() && hidden_.custom.empty())) {
      for (auto& [index, value] : hidden_.values)
         values_[index] = std::move(value);
      for (auto& [name, value] : hidden_.custom)
         custom_[name] = value ? std::move(*value) : std::string();
      changed();
   }
   hidden_ = {};
}

std::vector<std::pair<std::string, std::string>> Settings::reported() const {
   std::vector<std::pair<std::string, std::string>> out;
   for (const SettingInfo& info : settingTable())
      if (info.isReported) out.emplace_back(info.name, displaySetting(info, values_[info.index]));
   return out;
}

std::vector<std::pair<std::string, std::string>> Settings::takeChanges() {
   std::vector<std::pair<std::string, std::string>> out;
   DCHECK(takenVersion_ <= version_);
   if (takenVersion_ == version_) return out;
   takenVersion_ = version_;
   for (const SettingInfo& info : settingTable())
      if (info.isReported && values_[info.index] != reportedValues_[info.index]) {
         out.emplace_back(info.name, displaySetting(info, values_[info.index]));
         reportedValues_[info.index] = values_[info.index];
      }
   return out;
}

} // namespace ouzel::engine
