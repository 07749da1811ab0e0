#include "sql/program/scanner.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <pg_query.h>

#include "common/text/ascii.hpp"
#include "common/text/utf8.hpp"
#include "sql/parse/parser.hpp"

namespace ouzel::sql::program {

namespace {

/// Reads the protobuf of a scan: tokens (field 2) with their start (1) and end (2).
class ScanReader {
public:
   explicit ScanReader(const PgQueryProtobuf& bytes) : at_(bytes.data), end_(bytes.data + bytes.len) {}

   bool nextToken(uint32_t& start, uint32_t& end) {
      while (at_ < end_) {
         const uint64_t tag = varint();
         if (tag != (2 << 3 | 2)) {
            varint(); // the version
            continue;
         }
         const char* const tokenEnd = at_ + varint();
         start = end = 0;
         while (at_ < tokenEnd) {
            const uint64_t field = varint() >> 3, value = varint();
            if (field == 1) start = static_cast<uint32_t>(value);
            if (field == 2) end = static_cast<uint32_t>(value);
         }
         return true;
      }
      return false;
   }

private:
   uint64_t varint() {
      uint64_t value = 0;
      for (int shift = 0; at_ < end_; shift += 7) {
         const auto byte = static_cast<unsigned char>(*at_++);
         value |= static_cast<uint64_t>(byte & 0x7f) << shift;
         if (byte < 0x80) break;
      }
      return value;
   }
   const char* at_;
   const char* const end_;
};

/// The byte offset of a character position.
uint32_t offsetOf(std::string_view text, int position) {
   size_t offset = 0;
   for (int seen = 0; offset < text.size(); ++offset) {
      seen += (static_cast<unsigned char>(text[offset]) & 0xc0) != 0x80;
      if (seen == position) break;
   }
   return static_cast<uint32_t>(offset);
}

bool beginsIdentifier(unsigned char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

bool isInteger(std::string_view text) {
   int32_t value;
   const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
   return problem == std::errc{} && end == text.data() + text.size();
}

TokenKind kindOf(std::string_view text) {
   const char first = text[0], second = text.size() > 1 ? text[1] : '\0';
   if (first == '\'') return TokenKind::String;
   if (first == '$') return second >= '0' && second <= '9' ? TokenKind::Identifier : TokenKind::String;
   if (second == '\'' && beginsIdentifier(static_cast<unsigned char>(first)))
      return first == 'e' || first == 'E' ? TokenKind::String : TokenKind::Other; // B'', X''
   if (first == '"' || beginsIdentifier(static_cast<unsigned char>(first))) return TokenKind::Identifier;
   if (first >= '0' && first <= '9') return isInteger(text) ? TokenKind::Integer : TokenKind::Other;
   return TokenKind::Other;
}

/// U&'...' or U&"...", which stand for nothing in PL/pgSQL's own grammar.
bool isUnicodeToken(std::string_view text) {
   return text.size() > 2 && (text[0] == 'u' || text[0] == 'U') && text[1] == '&' &&
          (text[2] == '\'' || text[2] == '"');
}

/// The offset behind the quoted text that begins at `begin`.
uint32_t endOfQuoted(std::string_view text, uint32_t begin) {
   uint32_t at = begin + 1;
   while (at < text.size() && (text[at] != text[begin] || text.substr(at + 1, 1) == text.substr(begin, 1)))
      at += text[at] == text[begin] ? 2 : 1;
   return std::min(at + 1, static_cast<uint32_t>(text.size()));
}

bool isComment(std::string_view text) {
   return text.starts_with("--") || text.starts_with("/*");
}

struct Freed {
   PgQueryScanResult result;
   ~Freed() { pg_query_free_scan_result(result); }
};

/// Scans the text; where the scanner refuses it, the offset of what it refuses.
std::optional<uint32_t> scan(std::string_view text, std::vector<RawToken>& tokens) {
   const Freed scanned{pg_query_scan(std::string(text).c_str())};
   if (const PgQueryError* error = scanned.result.error)
      return error->cursorpos > 0 ? offsetOf(text, error->cursorpos) : 0;
   ScanReader reader(scanned.result.pbuf);
   uint32_t begin, end;
   while (reader.nextToken(begin, end)) {
      const bool isUnicode = isUnicodeToken(text.substr(begin));
      if (isUnicode) end = endOfQuoted(text, begin + 2); // which the scan does not tell
      const std::string_view token = text.substr(begin, end - begin);
      if (isComment(token)) continue;
      tokens.push_back({isUnicode ? TokenKind::Other : kindOf(token), begin, end - begin});
   }
   return std::nullopt;
}

} // namespace

Scanner::Scanner(std::string_view text) : text_(text) {
   auto refused = scan(text, tokens_);
   if (!refused) {
      tokens_.push_back({TokenKind::End, static_cast<uint32_t>(text.size()), 0});
      return;
   }
   // What stands before is scanned again. An error within a string or a comment is one at its beginning then.
   while (*refused > 0) {
      const auto earlier = scan(text.substr(0, *refused), tokens_);
      if (!earlier) break;
      refused = *earlier < *refused ? *earlier : *refused - 1;
   }
   try {
      ParsedScript::parse(text.substr(*refused)); // gives the error with its SQLSTATE and its hint
      throwInternal("text that the scanner refuses is parsed");
   } catch (SqlError& error) {
      if (error.position() > 0) error.setPosition(error.position() + position(*refused) - 1);
      error_ = std::make_unique<SqlError>(error);
   }
}

const RawToken& Scanner::at(size_t index) const {
   if (index < tokens_.size()) return tokens_[index];
   if (error_) throw SqlError(*error_);
   return tokens_.back();
}

uint32_t Scanner::position(uint32_t offset) const {
   return characterCount(text_.substr(0, offset)) + 1;
}

std::string identifierName(std::string_view text) {
   std::string name;
   if (text.front() == '"') {
      for (size_t i = 1; i + 1 < text.size(); ++i) {
         name += text[i];
         if (text[i] == '"') ++i; // a doubled quote
      }
   } else {
      name = lowerCase(text);
   }
   constexpr size_t nameBytesMax = 63;
   if (name.size() > nameBytesMax) {
      size_t end = nameBytesMax;
      while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80)
         --end;
      name.resize(end);
   }
   return name;
}

} // namespace ouzel::sql::program
