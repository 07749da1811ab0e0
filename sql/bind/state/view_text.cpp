#include "sql/bind/state/view_text.hpp"

#include <algorithm>

#include "catalog/object/function_text.hpp"
#include "catalog/object/search_path.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::sql {

namespace {

/// Bytes of the string literal at `begin`; 0: it is of a kind that is not understood here.
uint32_t literalLength(std::string_view text, uint32_t begin) {
   size_t at = begin;
   if (at < text.size() && text[at] == '$') {
      const size_t tagEnd = text.find('$', at + 1);
      if (tagEnd == std::string_view::npos) return 0;
      const std::string_view tag = text.substr(at, tagEnd - at + 1);
      const size_t close = text.find(tag, tagEnd + 1);
      return close == std::string_view::npos ? 0 : static_cast<uint32_t>(close + tag.size() - begin);
   }
   const bool escapes = at < text.size() && (text[at] == 'e' || text[at] == 'E');
   if (escapes) ++at;
   if (at >= text.size() || text[at] != '\'') return 0;
   for (++at; at < text.size(); ++at) {
      if (escapes && text[at] == '\\')
         ++at;
      else if (text[at] == '\'' && at + 1 < text.size() && text[at + 1] == '\'')
         ++at;
      else if (text[at] == '\'')
         break;
   }
   return at < text.size() ? static_cast<uint32_t>(at + 1 - begin) : 0;
}

/// Offset and length of the last of `parts` dotted identifiers at `location`.
std::pair<uint32_t, uint32_t> partOf(std::string_view source, int32_t location, uint32_t parts) {
   size_t at = static_cast<size_t>(location), begin = at;
   const auto skipBlanks = [&] {
      while (at < source.size() && std::string_view(" \t\r\n").find(source[at]) != std::string_view::npos)
         ++at;
   };
   for (uint32_t part = 0; part < parts; ++part) {
      skipBlanks();
      begin = at;
      if (at < source.size() && source[at] == '"') {
         for (++at; at < source.size(); ++at)
            if (source[at] == '"' && (++at >= source.size() || source[at] != '"')) break;
      } else {
         const auto isWord = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
                   static_cast<unsigned char>(c) >= 0x80;
         };
         while (at < source.size() && isWord(source[at]))
            ++at;
      }
      if (part + 1 == parts) break;
      skipBlanks();
      if (at < source.size() && source[at] == '.') ++at;
   }
   return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at - begin)};
}

} // namespace

void ViewTextRecorder::replace(uint32_t location, uint32_t length, std::string text) {
   // An expression may be bound more than once and then asks for the same replacement again.
   for (const Edit& edit : edits_)
      if (edit.location == location && edit.length == length) return;
   if (relabel_ && literalLength(source_, location) != length) return;
   edits_.push_back({location, length, std::move(text)});
}

void ViewTextRecorder::readColumn(Oid relation, int16_t attribute) {
   if (!relation) return;
   if (renamesColumn(relation, attribute) && location_ >= 0 && !isRow_) {
      const auto [begin, length] = partOf(source_, location_, parts_);
      replace(begin, length, catalog::quoteIdentifier(rename_.name));
      isRenamed_ = true;
      return;
   }
   reads_.push_back({relation, attribute});
}

void ViewTextRecorder::readRelation(Oid relation) {
   reads_.push_back({relation, 0});
}

void ViewTextRecorder::nameFunction(int32_t location, uint32_t parts, Oid function, std::string_view source) {
   const auto [begin, length] = partOf(source, location, parts);
   const auto start = static_cast<uint32_t>(location);
   replace(start, begin + length - start, catalog::storedFunctionName(function));
}

void ViewTextRecorder::isColumn(Oid relation) {
   // A relation that gets another name keeps the old one as its alias, which has no schema.
   const bool isAliased =
       rename_.relation != invalidOid && relation == rename_.relation && rename_.attribute == 0 && !isStandalone_;
   if ((isAliased || (owner_ != invalidOid && relation == owner_)) && location_ >= 0 && parts_ > 2) {
      const auto begin = static_cast<uint32_t>(location_);
      replace(begin, partOf(source_, location_, parts_ - 1).first - begin, "");
   }
   moveName(relation, location_, parts_ - 1);
   if (!isStandalone_ || location_ < 0 || parts_ < 2) return;
   const auto begin = static_cast<uint32_t>(location_);
   replace(begin, partOf(source_, location_, parts_).first - begin, "");
}

void ViewTextRecorder::isRow(Oid relation) {
   readsRow_ = isRow_ = true;
   moveName(relation, location_, parts_ - 1); // without the star
   if (isStandalone_ && rename_.relation && rename_.attribute == 0)
      renameTable(rename_.relation, location_, parts_ > 1 ? parts_ - 1 : 1, {}); // without the star
}

void ViewTextRecorder::enterLiteral(int32_t location, uint32_t position) {
   if (position > 0 && location >= 0) literals_[position] = static_cast<uint32_t>(location);
}

/// Replaces the literal at `position`; `rest` is what follows it.
void ViewTextRecorder::replaceLiteral(uint32_t position, std::string_view source,
                                      const std::function<std::string(std::string_view rest)>& textFor) {
   const auto found = literals_.find(position);
   if (found == literals_.end()) return;
   const uint32_t length = literalLength(source, found->second);
   // A literal in several pieces is left as it is.
   const size_t next = source.find_first_not_of(" \t\r\n", found->second + length);
   if (length == 0 || (next != std::string_view::npos && source[next] == '\'')) return;
   replace(found->second, length, textFor(next == std::string_view::npos ? std::string_view() : source.substr(next)));
}

void ViewTextRecorder::fixLiteral(uint32_t position, std::string_view text, std::string_view source) {
   replaceLiteral(position, source, [&](std::string_view) { return "'" + std::string(text) + "'"; });
}

void ViewTextRecorder::nameByOid(uint32_t position, Oid relation, std::string_view source) {
   replaceLiteral(position, source, [&](std::string_view rest) {
      return "'" + std::to_string(relation) + (rest.starts_with("::") ? "'" : "'::regclass");
   });
}

void ViewTextRecorder::isLiteral(uint32_t position, const SqlType& type, const Value& value) {
   if (!relabel_) return;
   const std::string text = relabel_(type, value);
   if (text.empty()) return;
   std::string quoted = "'";
   for (const char c : text)
      quoted.append(c == '\'' ? 2 : 1, c);
   replaceLiteral(position, source_, [&](std::string_view) { return quoted + "'"; });
   const auto found = literals_.find(position);
   if (found != literals_.end() &&
       std::none_of(edits_.begin(), edits_.end(), [&](const Edit& edit) { return edit.location == found->second; }))
      throwNotSupported("a new name for what a view, a check or a default writes in several pieces");
}

void ViewTextRecorder::keepOutputName(int32_t location, std::string_view name) {
   for (Edit& edit : edits_)
      if (edit.location == partOf(source_, location, parts_).first)
         edit.text = catalog::quoteIdentifier(rename_.name) + " AS " + catalog::quoteIdentifier(name);
}

void ViewTextRecorder::moveName(Oid relation, int32_t location, uint32_t parts) {
   if (location < 0 || parts < 2 || !moved_.contains(relation)) return;
   const auto [begin, length] = partOf(source_, location, parts - 1);
   replace(begin, length, catalog::quoteIdentifier(schema_));
}

void ViewTextRecorder::renameTable(Oid relation, int32_t location, uint32_t parts, std::string_view alias) {
   moveName(relation, location, parts);
   if (rename_.relation != relation || rename_.attribute != 0 || location < 0) return;
   const auto [begin, length] = partOf(source_, location, parts);
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
