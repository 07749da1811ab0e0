#pragma once
#include <cstdint>
#include <string_view>

namespace ouzel::engine {

namespace setting_text {
// Tab-separated: a header, then a line for each setting, which begins with its name.
inline constexpr char postgres[] =
#include "engine/setting/settings_postgres.inc"
    ;
inline constexpr char ouzel[] =
#include "engine/setting/settings_ouzel.inc"
    ;
} // namespace setting_text

/// A setting that the server's own code reads, by its place in settingTable(). A name that no table has does not
/// compile.
class SettingName {
public:
   consteval SettingName(const char* name) : index_(0) {
      for (std::string_view table : {std::string_view(setting_text::postgres), std::string_view(setting_text::ouzel)}) {
         table.remove_prefix(table.find('\n') + 1);
         for (; !table.empty(); table.remove_prefix(table.find('\n') + 1), ++index_)
            if (table.substr(0, table.find('\t')) == name) return;
      }
      throw "there is no setting of this name";
   }
   constexpr uint32_t index() const { return index_; }

private:
   uint32_t index_;
};

} // namespace ouzel::engine
