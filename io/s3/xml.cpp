#include "io/s3/xml.hpp"

#include "io/http/response.hpp"

namespace ouzel::io {

namespace {

constexpr size_t depthMax = 16;

void appendUtf8(uint32_t code, std::string& target) {
   const auto put = [&](uint32_t byte) { target += static_cast<char>(byte); };
   if (code < 0x80) {
      put(code);
   } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      put(0x80 | (code & 0x3f));
   } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
   } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
   }
}

/// Appends the character that an entity means. `entity`: the text between '&' and ';'. False: the entity is unknown.
bool appendEntity(std::string_view entity, std::string& target) {
   static constexpr std::pair<std::string_view, char> named[] = {
       {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
   for (const auto& [name, c] : named) {
      if (entity != name) continue;
      target += c;
      return true;
   }
   if (entity.size() < 2 || entity.size() > 8 || entity[0] != '#') return false;
   uint32_t code = 0;
   const bool isHex = entity[1] == 'x';
   const std::string_view digits = entity.substr(isHex ? 2 : 1);
   if (digits.empty()) return false;
   for (const char c : digits) {
      const int digit = c >= '0' && c <= '9'            ? c - '0'
                        : isHex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : isHex && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                        : -1;
      if (digit < 0) return false;
      code = code * (isHex ? 16 : 10) + static_cast<uint32_t>(digit);
   }
   if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
   appendUtf8(code, target);
   return true;
}

} // namespace

bool XmlScanner::readText(std::string_view raw) {
   while (!raw.empty()) {
      const size_t ampersand = raw.find('&');
      text_.append(raw.substr(0, ampersand));
      if (ampersand == std::string_view::npos) return true;
      raw.remove_prefix(ampersand + 1);
      const size_t end = raw.substr(0, 12).find(';');
      if (end == std::string_view::npos || !appendEntity(raw.substr(0, end), text_)) return false;
      raw.remove_prefix(end + 1);
   }
   return true;
}

bool XmlScanner::skipPast(std::string_view mark) {
   const size_t end = rest_.find(mark);
   if (end == std::string_view::npos) return false;
   rest_.remove_prefix(end + mark.size());
   return true;
}

/// Reads an element's tag. REQUIRES: rest_ begins behind the tag's '<'.
XmlScanner::Event XmlScanner::readTag() {
   // Answers of S3 have no '>' in attribute values.
   const size_t end = rest_.find('>');
   if (end == std::string_view::npos) return Event::Invalid;
   std::string_view tag = rest_.substr(0, end);
   rest_.remove_prefix(end + 1);
   const bool isClose = tag.starts_with('/');
   if (isClose) tag.remove_prefix(1);
   closesAtOnce_ = !isClose && tag.ends_with('/');
   if (closesAtOnce_) tag.remove_suffix(1);
   name_ = tag.substr(0, tag.find_first_of(" \t\r\n"));
   if (const size_t colon = name_.find(':'); colon != std::string_view::npos) name_.remove_prefix(colon + 1);
   if (name_.empty()) return Event::Invalid;
   if (!isClose) {
      if (open_.size() == depthMax) return Event::Invalid;
      open_.push_back(name_);
      text_.clear();
      return Event::Open;
   }
   if (open_.empty() || open_.back() != name_) return Event::Invalid;
   open_.pop_back();
   return Event::Close;
}

XmlScanner::Event XmlScanner::next() {
   if (closesAtOnce_) {
      closesAtOnce_ = false;
      open_.pop_back();
      return Event::Close;
   }
   if (!open_.empty()) text_.clear();
   while (true) {
      const size_t tag = rest_.find('<');
      if (tag == std::string_view::npos) {
         rest_ = {};
         return open_.empty() ? Event::End : Event::Invalid;
      }
      if (!readText(rest_.substr(0, tag))) return Event::Invalid;
      rest_.remove_prefix(tag + 1);
      bool isGood = true;
      if (rest_.starts_with('?'))
         isGood = skipPast("?>");
      else if (rest_.starts_with("!--"))
         isGood = skipPast("-->");
      else if (rest_.starts_with('!'))
         isGood = false;
      else
         return readTag();
      if (!isGood) return Event::Invalid;
   }
}

} // namespace ouzel::io
