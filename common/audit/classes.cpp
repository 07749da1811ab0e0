#include "common/audit/classes.hpp"

#include <algorithm>
#include <utility>

namespace ouzel {

namespace {

constexpr std::pair<std::string_view, uint32_t> classes[] = {{"read", audit_class::read},
                                                             {"write", audit_class::write},
                                                             {"ddl", audit_class::ddl},
                                                             {"role", audit_class::role},
                                                             {"misc", audit_class::misc},
                                                             {"all", audit_class::all},
                                                             {"none", 0}};

/// Without blanks around it, in lower case.
std::string wordOf(std::string_view text) {
   std::string word;
   for (const char c : text)
      if (c != ' ' && c != '\t') word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
   return word;
}

} // namespace

std::string_view auditClassName(uint32_t one) {
   for (const auto& [name, bits] : classes)
      if (bits == one) return name;
   return "";
}

std::optional<uint32_t> parseAuditClasses(std::string_view list, std::string& badWord) {
   uint32_t result = 0;
   for (bool hasMore = true; hasMore;) {
      const size_t comma = std::min(list.find(','), list.size());
      hasMore = comma < list.size();
      std::string word = wordOf(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
      const bool removes = word.starts_with('-');
      const std::string_view name = std::string_view(word).substr(removes ? 1 : 0);
      const auto* known =
          std::find_if(std::begin(classes), std::end(classes), [&](const auto& entry) { return entry.first == name; });
      if (known == std::end(classes)) {
         badWord = std::move(word);
         return std::nullopt;
      }
      if (known->second == 0)
         result = 0;
      else if (removes)
         result &= ~known->second;
      else
         result |= known->second;
   }
   return result;
}

} // namespace ouzel
