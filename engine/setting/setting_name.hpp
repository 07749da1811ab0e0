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
} // namespace setting_text

/// A setting that the server's own code reads, by its place in settingTable(). A name that no table has does not
/// compile.
class SettingName {
public:
   consteval SettingName(const char* name) : index_(0) {
      if (!isFoundIn(setting_text::postgres, name) && !isFoundIn(setting_text::ouzel, name))
         throw "there is no setting of this name";
   }
   constexpr uint32_t index() const { return index_; }

private:
   /// Advances index_ to the table's line that begins with `name`, or past all its lines. Plain loops: gcc 12 does not
   /// take std::string_view::find as a constant expression where UBSan checks pointers.
   template <size_t size>
   consteval bool isFoundIn(const char (&table)[size], const char* name) {
      size_t at = nextLine(table, 0);
      for (; at + 1 < size; at = nextLine(table, at), ++index_) {
         size_t length = 0;
         while (name[length] != 0 && table[at + length] == name[length])
            ++length;
         if (name[length] == 0 && table[at + length] == '\t') return true;
      }
      return false;
   }
   template <size_t size>
   static consteval size_t nextLine(const char (&table)[size], size_t at) {
      while (table[at] != '\n')
         ++at;
      return at + 1;
   }

   uint32_t index_;
};

} // namespace ouzel::engine
