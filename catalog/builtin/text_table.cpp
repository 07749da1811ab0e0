#include "catalog/builtin/text_table.hpp"

#include <algorithm>

#include "common/error/check.hpp"

namespace ouzel::catalog {

TextTable::TextTable(std::string_view text) {
   size_t at = 0;
   bool isHeader = true;
   while (at < text.size()) {
      size_t end = text.find('\n', at);
      if (end == std::string_view::npos) end = text.size();
      const std::string_view line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty() || line[0] == '#') continue;
      size_t start = 0, count = 0;
      while (true) {
         const size_t tab = std::min(line.find('\t', start), line.size());
         const std::string_view field = line.substr(start, tab - start);
         if (isHeader)
            names_.push_back(field);
         else if (field == "\\N")
            fields_.emplace_back();
         else
            fields_.push_back(field.find('\\') == std::string_view::npos ? field : unescape(field));
         ++count;
         if (tab == line.size()) break;
         start = tab + 1;
      }
      CHECK(count == names_.size());
      isHeader = false;
   }
   CHECK(!names_.empty());
}

std::string_view TextTable::unescape(std::string_view raw) {
   auto text = std::make_unique<std::string>();
   for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\' || i + 1 == raw.size()) {
         text->push_back(raw[i]);
         continue;
      }
      switch (const char c = raw[++i]) {
      case 'n': text->push_back('\n'); break;
      case 't': text->push_back('\t'); break;
      case 'r': text->push_back('\r'); break;
      case 'b': text->push_back('\b'); break;
      case 'f': text->push_back('\f'); break;
      case 'v': text->push_back('\v'); break;
      default: text->push_back(c);
      }
   }
   unescaped_.push_back(std::move(text));
   return *unescaped_.back();
}

bool TextTable::hasColumn(std::string_view name) const {
   return std::find(names_.begin(), names_.end(), name) != names_.end();
}

uint32_t TextTable::column(std::string_view name) const {
   const auto found = std::find(names_.begin(), names_.end(), name);
   CHECK(found != names_.end());
   return static_cast<uint32_t>(found - names_.begin());
}

} // namespace ouzel::catalog
