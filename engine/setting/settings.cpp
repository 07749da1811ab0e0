#include "engine/setting/settings.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"

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

/// The canonical form of a value beyond its type's: one spelling for the spellings that clients use. `current` is the
/// setting's present value: a DateStyle may name only a part.
std::string canonicalValue(const SettingInfo& info, std::string_view value, std::string_view current) {
   std::string canonical = canonicalSetting(info, value);
   const auto refuse = [&] {
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid value for parameter \"" + std::string(info.name) + "\": \"" + std::string(value) + "\"");
   };
   if (info.name == "client_encoding") {
      std::string plain;
      for (const char c : lowerCase(value))
         if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
      if (plain == "utf8" || plain == "unicode" || plain.empty()) return "UTF8";
      if (plain == "sqlascii") return "SQL_ASCII"; // no conversion either way
      if (plain.rfind("latin", 0) == 0 || plain.rfind("win", 0) == 0 || plain.rfind("iso", 0) == 0)
         throwNotSupported("client encoding " + std::string(value));
      refuse();
   }
   if (info.name == "TimeZone") {
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

Settings::Settings(const std::vector<std::pair<std::string, std::string>>& defaults) {
   for (const SettingInfo& info : settingTable())
      values_.emplace_back(info.initial);
   for (const auto& [name, value] : defaults) {
      const SettingInfo& info = require(name);
      values_[info.index] = canonicalValue(info, value, values_[info.index]);
   }
   DCHECK(values_.size() == settingTable().size());
   memoryLimitMax_ = integer("memory_limit");
   DCHECK(memoryLimitMax_ > 0);
   keepsLog_ = boolean("ouzel.keeps_log");
   resetValues_ = values_;
   reportedValues_ = values_;
   updateFormat();
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

void Settings::setInitial(std::string_view name, std::string_view value) {
   const SettingInfo& info = require(name);
   if (info.context == "internal" || info.context == "postmaster" || info.context == "sighup") checkChangeable(info);
   std::string canonical = canonicalValue(info, value, values_[info.index]);
   checkAgainstServer(info, canonical);
   assign(info, std::move(canonical));
   resetValues_[info.index] = values_[info.index];
   reportedValues_[info.index] = values_[info.index];
}

void Settings::set(std::string_view name, std::string_view value, bool isLocal) {
   if (!atStart_ && inTransaction_) atStart_ = Undo{values_, custom_};
   const SettingInfo* known = findSetting(name);
   if (!known && name.find('.') != std::string_view::npos && lowerCase(name).rfind("ouzel.", 0) != 0) {
      custom_[lowerCase(name)] = std::string(value);
      return;
   }
   const SettingInfo& info = require(name);
   checkChangeable(info);
   std::string canonical = canonicalValue(info, value, values_[info.index]);
   checkAgainstServer(info, canonical);
   if (isLocal)
      afterCommit_.emplace(info.index, values_[info.index]);
   else
      afterCommit_.erase(info.index);
   assign(info, std::move(canonical));
}

void Settings::reset(std::string_view name) {
   if (!findSetting(name) && custom_.erase(lowerCase(name))) return;
   const SettingInfo& info = require(name);
   checkChangeable(info);
   if (!atStart_ && inTransaction_) atStart_ = Undo{values_, custom_};
   afterCommit_.erase(info.index);
   assign(info, resetValues_[info.index]);
}

void Settings::resetAll() {
   if (!atStart_ && inTransaction_) atStart_ = Undo{values_, custom_};
   for (const SettingInfo& info : settingTable())
      if (info.context == "user" || info.context == "superuser")
         if (info.name.rfind("transaction_", 0) != 0) values_[info.index] = resetValues_[info.index];
   afterCommit_.clear();
   custom_.clear();
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

void Settings::transactionBegins() {
   DCHECK(!inTransaction_);
   inTransaction_ = true;
   atStart_.reset();
   afterCommit_.clear();
}

void Settings::transactionEnds(bool committed) {
   const bool changes = committed ? !afterCommit_.empty() : atStart_.has_value();
   if (!committed && atStart_) {
      values_ = std::move(atStart_->values);
      custom_ = std::move(atStart_->custom);
   } else if (committed) {
      for (auto& [index, value] : afterCommit_)
         values_[index] = std::move(value);
   }
   inTransaction_ = false;
   atStart_.reset();
   afterCommit_.clear();
   if (changes) changed();
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
