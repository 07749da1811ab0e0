#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "executor/function/text_search/ts_parser.hpp"

// The rules of TsParser. A state's rules are tried in order; the last one of each state always holds.

namespace ouzel::executor {

enum class TsState : uint8_t {
   Base,
   NumWord,
   AsciiWord,
   Word,
   Unsigned,
   SignedFirst,
   Signed,
   Space,
   UnsignedDecimalFirst,
   UnsignedDecimal,
   DecimalFirst,
   Decimal,
   SignBeforeVersion,
   SkipSign,
   VersionFirst,
   Version,
   ExponentFirst,
   ExponentSign,
   Exponent,
   EntityFirst,
   Entity,
   EntityNumberFirst,
   EntityNumber,
   EntityHexFirst,
   EntityHex,
   EntityEnd,
   TagFirst,
   XmlBegin,
   TagCloseFirst,
   TagName,
   TagBeginEnd,
   Tag,
   TagQuote,
   TagDoubleQuote,
   TagBackslash,
   TagEnd,
   CommentFirst,
   CommentSecond,
   Comment,
   CommentCloseFirst,
   CommentCloseSecond,
   DomainFirst,
   DomainSecond,
   Domain,
   PortFirst,
   Port,
   HostFirst,
   Host,
   Email,
   FileFirst,
   FileTilde,
   PathFirst,
   PathDot,
   PathDots,
   File,
   FileNext,
   UrlPathStart,
   UrlPath,
   UrlSlash,
   ProtocolFirst,
   ProtocolSecond,
   ProtocolEnd,
   AsciiHyphenFirst,
   AsciiHyphen,
   HyphenFirst,
   Hyphen,
   NumHyphenFirst,
   NumHyphen,
   HyphenDigits,
   HyphenParts,
   HyphenPartsHyphen,
   HyphenPart,
   AsciiHyphenPart,
   NumHyphenPart,
   HyphenPartDigits,
   Stay ///< the state does not change
};

enum class TsTest : uint8_t {
   Always,
   End,     ///< of the text
   Char,    ///< the rule's character
   Ascii,   ///< a letter of ASCII
   Letter,  ///< or any character beyond ASCII
   Digit,   ///< of ASCII
   Alnum,   ///< a letter or digit
   Other,   ///< neither, and not the end
   White,   ///< space of ASCII
   Hex,     ///< a hexadecimal digit
   Ignored, ///< inside of a script or style
   StopHost,
   HostAhead,
   UrlPathAhead
};

/// What happens when a rule holds, as bits. Without Rerun and Back the character is taken.
enum TsStep : uint8_t {
   TakeToken = 1, ///< a token is found
   Back = 2,      ///< to where this was tried from, and to the rules that follow
   Try = 4,       ///< what follows may fail
   Rerun = 8,     ///< do not move on
   Commit = 16,   ///< what was tried is right: forget where to go back to
   Merge = 32,    ///< go on from here in the state that this was tried from
   CommitAll = 64
};

enum class TsSpecial : uint8_t { None, NoteTag, FindHost, FindParts, Restart };

struct TsRule {
   TsTest test = TsTest::Always;
   char character = '\0';
   uint8_t steps = 0;
   TsState next = TsState::Stay;
   TsToken token = TsToken::None;
   TsSpecial special = TsSpecial::None;
};

/// REQUIRES: not Stay.
const TsRule* tsRulesOf(TsState state);

} // namespace ouzel::executor
