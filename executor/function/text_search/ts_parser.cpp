#include "executor/function/text_search/ts_parser.hpp"

#include <utility>

#include "common/error/check.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/stack.hpp"
#include "executor/function/text_search/ts_parser_rules.hpp"

namespace ouzel::executor {

namespace {

struct TokenName {
   std::string_view name, description;
};
constexpr std::array<TokenName, tsTokenMax> names{{
    {"asciiword", "Word, all ASCII"},
    {"word", "Word, all letters"},
    {"numword", "Word, letters and digits"},
    {"email", "Email address"},
    {"url", "URL"},
    {"host", "Host"},
    {"sfloat", "Scientific notation"},
    {"version", "Version number"},
    {"hword_numpart", "Hyphenated word part, letters and digits"},
    {"hword_part", "Hyphenated word part, all letters"},
    {"hword_asciipart", "Hyphenated word part, all ASCII"},
    {"blank", "Space symbols"},
    {"tag", "XML tag"},
    {"protocol", "Protocol head"},
    {"numhword", "Hyphenated word, letters and digits"},
    {"asciihword", "Hyphenated word, all ASCII"},
    {"hword", "Hyphenated word, all letters"},
    {"url_path", "URL path"},
    {"file", "File or path name"},
    {"float", "Decimal notation"},
    {"int", "Signed integer"},
    {"uint", "Unsigned integer"},
    {"entity", "XML entity"},
}};

constexpr bool isBeyondAscii(char c) {
   return static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool isAscii(char c) {
   const char lower = asciiLower(c);
   return lower >= 'a' && lower <= 'z';
}
constexpr bool isDigit(char c) {
   return c >= '0' && c <= '9';
}
constexpr bool isLetter(char c) {
   return isAscii(c) || isBeyondAscii(c);
}
constexpr bool isWhite(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}
/// What stands in the path of a URL: what is visible, but for characters that RFC 3986 has no place for.
constexpr bool isUrlCharacter(char c) {
   return c > ' ' && c < 0x7F && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
}

} // namespace

std::string_view tsTokenName(int32_t token) {
   return names[static_cast<size_t>(token - 1)].name;
}
std::string_view tsTokenDescription(int32_t token) {
   return names[static_cast<size_t>(token - 1)].description;
}
int32_t tsTokenNamed(std::string_view name) {
   for (int32_t token = 1; token <= tsTokenMax; ++token)
      if (tsTokenName(token) == name) return token;
   return 0;
}

size_t TsParser::characterSize(size_t at) const {
   if (at >= text_.size()) return 0;
   const auto first = static_cast<unsigned char>(text_[at]);
   const size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
   return std::min(size, text_.size() - at);
}

bool TsParser::holds(const TsRule& rule) {
   const size_t at = top().at;
   const bool isEnd = at >= text_.size();
   const char c = isEnd ? '\0' : text_[at];
   switch (rule.test) {
   case TsTest::Always: return true;
   case TsTest::End: return isEnd;
   case TsTest::Char: return !isEnd && c == rule.character;
   case TsTest::Ascii: return isAscii(c);
   case TsTest::Letter: return isLetter(c);
   case TsTest::Digit: return isDigit(c);
   case TsTest::Alnum: return isLetter(c) || isDigit(c);
   case TsTest::Other: return !isEnd && !isLetter(c) && !isDigit(c);
   case TsTest::White: return isWhite(c);
   case TsTest::Hex: return hexDigit(c) >= 0;
   case TsTest::Ignored: return isIgnoring_;
   case TsTest::StopHost: return std::exchange(wantsHost_, false);
   case TsTest::HostAhead: return isHostAhead();
   case TsTest::UrlPathAhead: return isUrlPathAhead();
   }
   return false;
}

/// Takes a host that begins here.
bool TsParser::isHostAhead() {
   checkStack();
   Place& place = top();
   if (place.at >= text_.size()) return false;
   TsParser rest(text_.substr(place.at), Host{});
   if (!rest.next() || rest.token() != TsToken::Host) return false;
   place.at += rest.text().size();
   place.length += rest.text().size();
   return true;
}

/// Takes the path of a URL that begins here.
bool TsParser::isUrlPathAhead() {
   Place& place = top();
   size_t end = place.at;
   while (end < text_.size() && isUrlCharacter(text_[end]))
      ++end;
   if (end == place.at) return false;
   place.length += end - place.at;
   place.at = end;
   return true;
}

/// What is between the tags of a script or a style is blank.
void TsParser::noteTag() {
   const std::string tag = lowerCase(std::string_view(begin_, top().length));
   if (tag == "</script" || tag == "</style") isIgnoring_ = false;
   if (tag == "<script" || tag == "<style") isIgnoring_ = true;
}

void TsParser::apply(const TsRule& rule) {
   Place& place = top();
   switch (rule.special) {
   case TsSpecial::None: break;
   case TsSpecial::NoteTag: noteTag(); break;
   case TsSpecial::FindHost: wantsHost_ = true; [[fallthrough]];
   case TsSpecial::FindParts: place.at -= place.length; break;
   case TsSpecial::Restart:
      place.at -= place.length;
      place.length = 0;
      break;
   }
   if ((rule.steps & TakeToken) != 0) {
      token_ = rule.token;
      length_ = std::exchange(place.length, 0);
   }
   if ((rule.steps & Back) != 0) {
      stack_.pop_back();
      CHECK(!stack_.empty());
   } else if ((rule.steps & Try) != 0) {
      place.tried = &rule;
      Place attempt = place;
      attempt.tried = nullptr;
      stack_.push_back(attempt);
   } else if ((rule.steps & Commit) != 0) {
      CHECK(stack_.size() >= 2);
      stack_.erase(stack_.end() - 2);
   } else if ((rule.steps & CommitAll) != 0) {
      stack_.erase(stack_.begin(), stack_.end() - 1);
   } else if ((rule.steps & Merge) != 0) {
      CHECK(stack_.size() >= 2);
      Place& below = *(stack_.end() - 2);
      below.at = place.at;
      below.length = place.length;
      stack_.pop_back();
   }
   if (rule.next != TsState::Stay) top().state = static_cast<uint8_t>(rule.next);
}

bool TsParser::next() {
   if (top().at >= text_.size()) return false;
   stack_.erase(stack_.begin(), stack_.end() - 1); // nothing goes back before a token
   top().tried = nullptr;
   begin_ = text_.data() + top().at;
   for (;;) {
      Place& place = top();
      const TsRule* rule = place.tried ? place.tried + 1 : tsRulesOf(static_cast<TsState>(place.state));
      place.tried = nullptr;
      while (!holds(*rule))
         ++rule;
      apply(*rule);
      if ((rule->steps & TakeToken) != 0) return true;
      if ((rule->steps & Rerun) == 0 && top().at >= text_.size()) return false;
      if ((rule->steps & (Rerun | Back)) != 0) continue;
      const size_t size = characterSize(top().at);
      top().at += size;
      top().length += size;
   }
}

} // namespace ouzel::executor
