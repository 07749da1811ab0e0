#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The table of all settings: PostgreSQL's (so that SET and SHOW of clients work) and Ouzel's own. Read once, then
// constant.

namespace ouzel::engine {

enum class SettingType : uint8_t { Bool, Integer, Real, String, Enum };

struct SettingInfo {
   std::string_view name, unit, context, minimum, maximum, initial, category, description, extraDescription;
   SettingType type;
   std::vector<std::string_view> enumValues;
   std::vector<std::string_view> flags; ///< as pg_settings_get_flags() gives them
   bool isReported;                     ///< clients are told when it changes (PostgreSQL's GUC_REPORT)
   bool isHidden;                       ///< not in SHOW ALL and pg_settings (PostgreSQL's GUC_NO_SHOW_ALL)
   /// Only for superusers and members of pg_read_all_settings (PostgreSQL's GUC_SUPERUSER_ONLY).
   bool isPrivileged;
   uint32_t index;
};

const std::vector<SettingInfo>& settingTable();
/// Case-insensitive; null when there is none.
const SettingInfo* findSetting(std::string_view name);

/// Canonical form of `value` (booleans on/off, numbers in the base unit, enums in their spelling). Throws 22023 as
/// PostgreSQL words it.
std::string canonicalSetting(const SettingInfo& info, std::string_view value);
/// As SHOW prints it: numbers with the largest unit that divides them.
std::string displaySetting(const SettingInfo& info, const std::string& canonical);

} // namespace ouzel::engine
