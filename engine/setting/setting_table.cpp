#include "engine/setting/setting_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "catalog/builtin/text_table.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "engine/setting/setting_name.hpp"

namespace ouzel::engine {

namespace {

/// Settings of extensions, which the server reads by their names.
constexpr char extensionSettings[] =
#include "engine/setting/settings_extensions.inc"
    ;

constexpr std::string_view reportedNames[] = {"application_name",
                                              "client_encoding",
                                              "DateStyle",
                                              "default_transaction_read_only",
                                              "in_hot_standby",
                                              "integer_datetimes",
                                              "IntervalStyle",
                                              "is_superuser",
                                              "server_encoding",
                                              "server_version",
                                              "session_authorization",
                                              "standard_conforming_strings",
                                              "TimeZone"};

constexpr std::string_view hiddenNames[] = {"is_superuser", "role", "seed", "session_authorization",
                                            "default_with_oids"};

SettingType typeOf(std::string_view name) {
   if (name == "bool") return SettingType::Bool;
   if (name == "integer") return SettingType::Integer;
   if (name == "real") return SettingType::Real;
   if (name == "enum") return SettingType::Enum;
   return SettingType::String;
}

std::vector<std::string_view> splitList(std::string_view rest) {
   std::vector<std::string_view> parts;
   while (!rest.empty()) {
      const size_t comma = rest.find(',');
      parts.push_back(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
   }
   return parts;
}

/// `out` gets views into `table`.
void load(const catalog::TextTable& table, std::vector<SettingInfo>& out) {
   const auto field = [&](uint32_t row, std::string_view column) {
      return table.at(row, table.column(column)).value_or(std::string_view());
   };
   const auto optional = [&](uint32_t row, std::string_view column) { // only PostgreSQL's have it
      return table.hasColumn(column) ? field(row, column) : std::string_view();
   };
   for (uint32_t row = 0; row < table.rowCount(); ++row) {
      SettingInfo info{};
      info.name = field(row, "name");
      info.type = typeOf(field(row, "vartype"));
      info.unit = field(row, "unit");
      info.context = field(row, "context");
      info.minimum = field(row, "min");
      info.maximum = field(row, "max");
      info.initial = field(row, "value");
      info.category = field(row, "category");
      info.description = field(row, "short_desc");
      info.extraDescription = optional(row, "extra_desc");
      info.enumValues = splitList(field(row, "enumvals"));
      info.flags = splitList(optional(row, "flags"));
      info.isPrivileged = optional(row, "privileged") == "t";
      info.isReported =
          std::find(std::begin(reportedNames), std::end(reportedNames), info.name) != std::end(reportedNames);
      info.isHidden = std::find(std::begin(hiddenNames), std::end(hiddenNames), info.name) != std::end(hiddenNames);
      info.index = static_cast<uint32_t>(out.size());
      out.push_back(std::move(info));
   }
}

struct Table {
   const catalog::TextTable postgres{{setting_text::postgres, sizeof setting_text::postgres - 1}},
       ouzel{{setting_text::ouzel, sizeof setting_text::ouzel - 1}},
       extensions{{extensionSettings, sizeof extensionSettings - 1}};
   std::vector<SettingInfo> infos;
   std::unordered_map<std::string, const SettingInfo*> byName;
   Table() {
      load(postgres, infos);
      load(ouzel, infos);
      load(extensions, infos);
      for (const SettingInfo& info : infos)
         byName.emplace(lowerCase(info.name), &info);
   }
};

const Table& table() {
   static const Table instance;
   return instance;
}

[[noreturn]] void badValue(const SettingInfo& info, std::string_view value, std::string hint = {}) {
   throw SqlError(sqlstate::invalidParameterValue,
                  "invalid value for parameter \"" + std::string(info.name) + "\": \"" + std::string(value) + "\"")
       .hint(std::move(hint));
}

/// How many base units of a family (bytes or microseconds) one unit is; 0: unknown.
struct Unit {
   std::string_view name;
   double size;
};
constexpr Unit memoryUnits[] = {
    {"TB", 1024.0 * 1024 * 1024 * 1024}, {"GB", 1024.0 * 1024 * 1024}, {"MB", 1024.0 * 1024}, {"kB", 1024}, {"B", 1}};
constexpr Unit timeUnits[] = {{"d", 86400e6}, {"h", 3600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}};

double baseSize(std::string_view unit) {
   if (unit == "8kB") return 8192;
   for (const Unit& u : memoryUnits)
      if (u.name == unit) return u.size;
   for (const Unit& u : timeUnits)
      if (u.name == unit) return u.size;
   return 0;
}

bool isTime(std::string_view unit) {
   return unit == "ms" || unit == "s" || unit == "min" || unit == "us";
}

std::string canonicalBool(const SettingInfo& info, std::string_view value) {
   const std::string v = lowerCase(value);
   const auto begins = [&](std::string_view word, size_t least) {
      return v.size() >= least && v.size() <= word.size() && word.substr(0, v.size()) == v;
   };
   if (begins("true", 1) || begins("yes", 1) || v == "on" || v == "1") return "on";
   if (begins("false", 1) || begins("no", 1) || begins("off", 2) || v == "0") return "off";
   throw SqlError(sqlstate::invalidParameterValue,
                  "parameter \"" + std::string(info.name) + "\" requires a Boolean value");
}

std::string formatNumber(double number, SettingType type) {
   if (type == SettingType::Integer) return std::to_string(static_cast<int64_t>(std::llround(number)));
   std::array<char, 32> buffer;
   const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
   return {buffer.data(), end.ptr};
}

std::string canonicalNumber(const SettingInfo& info, std::string_view value) {
   std::string_view text = value;
   while (!text.empty() && text.front() == ' ')
      text.remove_prefix(1);
   while (!text.empty() && text.back() == ' ')
      text.remove_suffix(1);
   double number = 0;
   const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
   if (parsed.ec != std::errc() || std::isnan(number)) badValue(info, value);
   std::string_view unit = text.substr(static_cast<size_t>(parsed.ptr - text.data()));
   while (!unit.empty() && unit.front() == ' ')
      unit.remove_prefix(1);
   if (!unit.empty()) {
      const double given = baseSize(unit), base = baseSize(info.unit);
      const bool sameFamily =
          given != 0 && base != 0 && isTime(info.unit) == (isTime(unit) || unit == "h" || unit == "d");
      if (!sameFamily)
         badValue(info, value,
                  info.unit.empty() ? ""
                  : isTime(info.unit)
                      ? "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."
                      : "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".");
      number = number * given / base;
   }
   if (info.type == SettingType::Integer) number = std::nearbyint(number);
   double low = -HUGE_VAL, high = HUGE_VAL;
   if (!info.minimum.empty()) std::from_chars(info.minimum.data(), info.minimum.data() + info.minimum.size(), low);
   if (!info.maximum.empty()) std::from_chars(info.maximum.data(), info.maximum.data() + info.maximum.size(), high);
   if (number < low || number > high) {
      const std::string unitText = info.unit.empty() ? "" : " " + std::string(info.unit);
      throw SqlError(sqlstate::invalidParameterValue, formatNumber(number, info.type) + unitText +
                                                          " is outside the valid range for parameter \"" +
                                                          std::string(info.name) + "\" (" + std::string(info.minimum) +
                                                          " .. " + std::string(info.maximum) + ")");
   }
   return formatNumber(number, info.type);
}

std::string canonicalEnum(const SettingInfo& info, std::string_view value) {
   std::string list;
   for (const std::string_view candidate : info.enumValues) {
      if (lowerCase(candidate) == lowerCase(value)) return std::string(candidate);
      list += (list.empty() ? "" : ", ") + std::string(candidate);
   }
   // PostgreSQL accepts booleans for some enums that were booleans in earlier versions.
   const std::string v = lowerCase(value);
   for (const auto& [word, meaning] : {std::pair<std::string_view, std::string_view>{"true", "on"},
                                       {"yes", "on"},
                                       {"1", "on"},
                                       {"false", "off"},
                                       {"no", "off"},
                                       {"0", "off"}})
      if (v == word && std::find(info.enumValues.begin(), info.enumValues.end(), meaning) != info.enumValues.end())
         return std::string(meaning);
   badValue(info, value, "Available values: " + list + ".");
}

/// The one setting that is written and shown in octal digits.
constexpr std::string_view octalName = "log_file_mode";

/// "0640" as a decimal number; other texts as they are.
std::string octalToDecimal(std::string_view text) {
   unsigned number = 0;
   const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, 8);
   const bool isOctal = text.starts_with('0') && parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
   return isOctal ? std::to_string(number) : std::string(text);
}

std::string decimalToOctal(const std::string& decimal) {
   std::array<char, 16> buffer;
   std::snprintf(buffer.data(), buffer.size(), "%04lo", std::strtoul(decimal.c_str(), nullptr, 10));
   return buffer.data();
}

} // namespace

const std::vector<SettingInfo>& settingTable() {
   return table().infos;
}

const SettingInfo* findSetting(std::string_view name) {
   const auto found = table().byName.find(lowerCase(name));
   return found == table().byName.end() ? nullptr : found->second;
}

std::string canonicalSetting(const SettingInfo& info, std::string_view value) {
   switch (info.type) {
   case SettingType::Bool: return canonicalBool(info, value);
   case SettingType::Integer:
      if (info.name == octalName) return canonicalNumber(info, octalToDecimal(value));
      return canonicalNumber(info, value);
   case SettingType::Real: return canonicalNumber(info, value);
   case SettingType::Enum: return canonicalEnum(info, value);
   case SettingType::String: return std::string(value);
   }
   return std::string(value);
}

std::string displaySetting(const SettingInfo& info, const std::string& canonical) {
   if (info.name == octalName) return decimalToOctal(canonical);
   if (info.name == "seed") return "unavailable"; // the generator has gone on since
   if (info.unit.empty() || (info.type != SettingType::Integer && info.type != SettingType::Real)) return canonical;
   const double number = std::strtod(canonical.c_str(), nullptr);
   if (number <= 0) return canonical;
   const double inBase = number * baseSize(info.unit);
   // The largest unit of which it is a whole number, but for rounding, or else the smallest.
   const auto inLargest = [&](const auto& units) {
      const Unit* chosen = &units[0];
      for (const Unit& unit : units) {
         chosen = &unit;
         const double whole = std::rint(inBase / unit.size);
         if (whole >= 1 && std::fabs(whole * unit.size / inBase - 1) <= 1e-8) break;
      }
      return formatNumber(inBase / chosen->size, info.type) + std::string(chosen->name);
   };
   return isTime(info.unit) ? inLargest(timeUnits) : inLargest(memoryUnits);
}

} // namespace ouzel::engine
