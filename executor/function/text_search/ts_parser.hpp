#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace ouzel::executor {

/// The tokens that PostgreSQL's default parser finds, with its numbers.
enum class TsToken : uint8_t {
   None = 0,
   AsciiWord,
   Word,
   NumWord,
   Email,
   Url,
   Host,
   ScientificFloat,
   Version,
   NumHyphenPart,
   HyphenPart,
   AsciiHyphenPart,
   Blank,
   Tag,
   Protocol,
   NumHyphenWord,
   AsciiHyphenWord,
   HyphenWord,
   UrlPath,
   File,
   Float,
   Int,
   UnsignedInt,
   Entity
};
inline constexpr int32_t tsTokenMax = 23;

/// "asciiword" and "Word, all ASCII". REQUIRES: 1 to tsTokenMax.
std::string_view tsTokenName(int32_t token);
std::string_view tsTokenDescription(int32_t token);
/// 0: there is no such token.
int32_t tsTokenNamed(std::string_view name);

struct TsRule;

/// Cuts a text into tokens that cover it, where a URL and a hyphenated word are followed by their parts, which cover
/// them again. All characters beyond ASCII are letters, as where LC_CTYPE is C.
///
/// A machine of states, whose rules are in ts_parser_rules.hpp: it tries what a text might be, and goes back to where
/// it began to try when that fails.
class TsParser {
public:
   explicit TsParser(std::string_view text) : text_(text) { stack_.push_back({}); }

   /// Finds the next token; false: the text has ended.
   bool next();
   TsToken token() const { return token_; }
   std::string_view text() const { return {begin_, length_}; }

private:
   struct Place {
      size_t at = 0;
      size_t length = 0;             ///< of the token so far
      uint8_t state = 0;             ///< of TsState
      const TsRule* tried = nullptr; ///< the rule that led to what is tried above
   };
   struct Host {};
   TsParser(std::string_view text, Host) : TsParser(text) { wantsHost_ = true; }

   Place& top() { return stack_.back(); }
   size_t characterSize(size_t at) const;
   bool holds(const TsRule& rule);
   bool isHostAhead();
   bool isUrlPathAhead();
   void noteTag();
   void apply(const TsRule& rule);

   std::string_view text_;
   std::vector<Place> stack_; ///< the top goes on, the others are where it goes back to
   bool isIgnoring_ = false;  ///< inside of <script> or <style>
   bool wantsHost_ = false;   ///< a URL was found; its host comes next
   TsToken token_ = TsToken::None;
   const char* begin_ = nullptr;
   size_t length_ = 0;
};

} // namespace ouzel::executor
