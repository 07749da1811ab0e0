#include "catalog/object/regclass_text.hpp"

#include <algorithm>
#include <charconv>

namespace ouzel::catalog {

namespace {

/// The end of the token at `at`: a quoted text, a comment, or one character.
size_t tokenEnd(std::string_view sql, size_t at) {
   const auto after = [&](size_t found, size_t length) {
      return found == std::string_view::npos ? sql.size() : found + length;
   };
   const std::string_view rest = sql.substr(at);
   if (rest.starts_with("--")) return after(sql.find('\n', at), 1);
   if (rest.starts_with("/*")) {
      size_t depth = 1, end = at + 2;
      for (; depth > 0 && end < sql.size(); ++end)
         if (sql.substr(end).starts_with("/*"))
            ++depth, ++end;
         else if (sql.substr(end).starts_with("*/"))
            --depth, ++end;
      return std::min(end, sql.size());
   }
   const char first = sql[at];
   if (first == '$') {
      const size_t tagEnd =
          sql.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", at + 1);
      if (tagEnd == std::string_view::npos || sql[tagEnd] != '$') return at + 1;
      const std::string_view tag = sql.substr(at, tagEnd + 1 - at);
      return after(sql.find(tag, tagEnd + 1), tag.size());
   }
   if (first != '\'' && first != '"') return at + 1;
   const bool escapes = first == '\'' && at > 0 && (sql[at - 1] == 'e' || sql[at - 1] == 'E');
   for (size_t end = at + 1; end < sql.size(); ++end)
      if (escapes && sql[end] == '\\')
         ++end;
      else if (sql[end] == first) // a doubled quote is two tokens, which does no harm
         return end + 1;
   return sql.size();
}

/// Whether the text begins with a cast to regclass, as the binder and users write it.
bool isRegclassCast(std::string_view text) {
   const auto skip = [&](std::string_view word) {
      text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
      if (text.size() < word.size()) return false;
      for (size_t i = 0; i < word.size(); ++i)
         if (text[i] != word[i] && (text[i] | 0x20) != word[i]) return false;
      text.remove_prefix(word.size());
      return true;
   };
   if (!skip("::")) return false;
   if (skip("pg_catalog") && !skip(".")) return false;
   return skip("regclass");
}

} // namespace

std::string replaceRegclasses(std::string_view sql, const std::function<std::optional<std::string>(Oid)>& textFor) {
   std::string text;
   size_t copied = 0;
   if (sql.find("::") == std::string_view::npos) return std::string(sql); // the usual case
   for (size_t at = 0, end = 0; at < sql.size(); at = end) {
      end = tokenEnd(sql, at);
      if (sql[at] != '\'' || end - at < 3 || end - at > 12) continue;
      const std::string_view digits = sql.substr(at + 1, end - at - 2);
      if (digits.find_first_not_of("0123456789") != std::string_view::npos || !isRegclassCast(sql.substr(end)))
         continue;
      Oid oid = invalidOid;
      const auto [parsed, error] = std::from_chars(digits.data(), digits.data() + digits.size(), oid);
      if (error != std::errc()) continue;
      const std::optional<std::string> replacement = textFor(oid);
      if (!replacement) continue;
      text.append(sql.substr(copied, at + 1 - copied));
      for (const char c : *replacement)
         text.append(c == '\'' ? 2 : 1, c);
      text.push_back('\'');
      copied = end;
   }
   return text.append(sql.substr(copied));
}

} // namespace ouzel::catalog
