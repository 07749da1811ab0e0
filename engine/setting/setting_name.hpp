#pragma once
#include <cstddef>
#include <cstdint>

namespace ouzel::engine {

namespace setting_text {
// Tab-separated: a header, then a line for each setting, which begins with its name.
inline constexpr char postgres[] =
#include "engine/setting/settings_postgres.inc"
    ;
inline constexpr char ouzel[] =
#include "engine/setting/settings_ouzel.inc"
    ;

// Plain loops: gcc 12 does not take std::string_view::find as a constant expression where UBSan checks pointers.
template <size_t size>
consteval size_t nextLine(const char (&table)[size], size_t at) {
   while (table[at] != '\n')
      ++at;
   return at + 1;
}
/// The place in `table` of the line that begins with `name`; the number of lines when there is none. The header does
/// not count.
template <size_t size>
consteval uint32_t find(const char (&table)[size], const char* name) {
   uint32_t line = 0;
   for (size_t at = nextLine(table, 0); at + 1 < size; at = nextLine(table, at), ++line) {
      size_t length = 0;
      while (name[length] != 0 && table[at + length] == name[length])
         ++length;
      if (name[length] == 0 && table[at + length] == '\t') break;
   }
   return line;
}
inline constexpr uint32_t postgresCount = find(postgres, ""), ouzelCount = find(ouzel, "");
} // namespace setting_text

/// A setting that the server's own code reads, by its place in settingTable(). A name that no table has does not
/// compile.
class SettingName {
public:
   consteval SettingName(const char* name) : index_(setting_text::find(setting_text::postgres, name)) {
      if (index_ < setting_text::postgresCount) return;
      const uint32_t line = setting_text::find(setting_text::ouzel, name);
      if (line == setting_text::ouzelCount) throw "there is no setting of this name";
      index_ += line;
   }
   constexpr uint32_t index() const { return index_; }

private:
   uint32_t index_;
};

} // namespace ouzel::engine
