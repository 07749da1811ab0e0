#include "sql/bind/state/view_text.hpp"

#include <algorithm>

#include "catalog/object/search_path.hpp"

namespace ouzel::sql {

void ViewTextRecorder::replace(uint32_t location, uint32_t length, std::string text) {
   // An expression may be bound more than once and then asks for the same replacement again.
   for (const Edit& edit : edits_)
      if (edit.location == location && edit.length == length) return;
   edits_.push_back({location, length, std::move(text)});
}

void ViewTextRecorder::readColumn(Oid relation, int16_t attribute) {
   if (!relation) return;
   if (renamesColumn(relation, attribute) && location_ >= 0) {
      const auto [begin, length] = lastPart(location_, parts_);
      replace(begin, length, catalog::quoteIdentifier(rename_.name));
      isRenamed_ = true;
      return;
   }
   reads_.push_back({relation, attribute});
}

void ViewTextRecorder::readRelation(Oid relation) {
   reads_.push_back({relation, 0});
}

std::pair<uint32_t, uint32_t> ViewTextRecorder::lastPart(int32_t location, uint32_t parts) const {
   size_t at = static_cast<size_t>(location), begin = at;
   const auto skipBlanks = [&] {
      while (at < source_.size() && std::string_view(" \t\r\n").find(source_[at]) != std::string_view::npos)
         ++at;
   };
   for (uint32_t part = 0; part < parts; ++part) {
      skipBlanks();
      begin = at;
      if (at < source_.size() && source_[at] == '"') {
         for (++at; at < source_.size(); ++at)
            if (source_[at] == '"' && (++at >= source_.size() || source_[at] != '"')) break;
      } else {
         const auto isWord = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
                   static_cast<unsigned char>(c) >= 0x80;
         };
         while (at < source_.size() && isWord(source_[at]))
            ++at;
      }
      if (part + 1 == parts) break;
      skipBlanks();
      if (at < source_.size() && source_[at] == '.') ++at;
   }
   return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at - begin)};
}

void ViewTextRecorder::keepOutputName(int32_t location, std::string_view name) {
   for (Edit& edit : edits_)
      if (edit.location == lastPart(location, parts_).first)
         edit.text = catalog::quoteIdentifier(rename_.name) + " AS " + catalog::quoteIdentifier(name);
}

void ViewTextRecorder::renameTable(Oid relation, int32_t location, uint32_t parts, std::string_view alias) {
   if (rename_.relation != relation || rename_.attribute != 0 || location < 0) return;
   const auto [begin, length] = lastPart(location, parts);
   std::string text = catalog::quoteIdentifier(rename_.name);
   if (!alias.empty()) text += " AS " + catalog::quoteIdentifier(alias);
   replace(begin, length, std::move(text));
}

std::string ViewTextRecorder::apply(std::string_view source, uint32_t offset, uint32_t length) const {
   std::vector<Edit> edits = edits_;
   std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.location < b.location; });
   std::string text;
   uint32_t copied = offset;
   for (const Edit& edit : edits) {
      if (edit.location < copied || edit.location + edit.length > offset + length) continue;
      text += source.substr(copied, edit.location - copied);
      text += edit.text;
      copied = edit.location + edit.length;
   }
   text += source.substr(copied, offset + length - copied);
   return text;
}

std::vector<catalog::Dependency> ViewTextRecorder::dependencies() const {
   auto reads = reads_;
   std::sort(reads.begin(), reads.end());
   reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
   return reads;
}

} // namespace ouzel::sql
