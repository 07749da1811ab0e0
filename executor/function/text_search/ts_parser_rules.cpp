#include "executor/function/text_search/ts_parser_rules.hpp"

namespace ouzel::executor {

namespace {

using S = TsState;
using T = TsTest;
using K = TsToken;

constexpr TsRule go(T test, S next, TsSpecial special = TsSpecial::None) {
   return {test, '\0', 0, next, K::None, special};
}
constexpr TsRule go(char c, S next, TsSpecial special = TsSpecial::None) {
   return {T::Char, c, 0, next, K::None, special};
}
constexpr TsRule attempt(T test, S next) {
   return {test, '\0', Try, next, K::None, TsSpecial::None};
}
constexpr TsRule attempt(char c, S next) {
   return {T::Char, c, Try, next, K::None, TsSpecial::None};
}
constexpr TsRule commit(T test, S next) {
   return {test, '\0', Commit, next, K::None, TsSpecial::None};
}
constexpr TsRule commit(char c, S next) {
   return {T::Char, c, Commit, next, K::None, TsSpecial::None};
}
constexpr TsRule back(T test = T::Always) {
   return {test, '\0', Back, S::Stay, K::None, TsSpecial::None};
}
constexpr TsRule rerun(T test, S next, TsSpecial special = TsSpecial::None) {
   return {test, '\0', Rerun, next, K::None, special};
}
/// A token ends before the character.
constexpr TsRule found(K token, S next = S::Base, T test = T::Always, uint8_t steps = 0,
                       TsSpecial special = TsSpecial::None) {
   return {test, '\0', static_cast<uint8_t>(TakeToken | steps), next, token, special};
}
constexpr TsRule foundAt(char c, K token, uint8_t steps = 0) {
   return {T::Char, c, static_cast<uint8_t>(TakeToken | steps), S::Base, token, TsSpecial::None};
}

constexpr TsRule base[] = {go(T::End, S::Stay),          attempt('<', S::TagFirst),    go(T::Ignored, S::Space),
                           go(T::Ascii, S::AsciiWord),   go(T::Letter, S::Word),       go(T::Digit, S::Unsigned),
                           attempt('-', S::SignedFirst), attempt('+', S::SignedFirst), attempt('&', S::EntityFirst),
                           attempt('~', S::FileTilde),   attempt('/', S::FileFirst),   attempt('.', S::PathDot),
                           go(T::Always, S::Space)};
constexpr TsRule space[] = {found(K::Blank, S::Base, T::End), foundAt('<', K::Blank), go(T::Ignored, S::Stay),
                            foundAt('-', K::Blank),           foundAt('+', K::Blank), foundAt('&', K::Blank),
                            foundAt('/', K::Blank),           go(T::Other, S::Stay),  found(K::Blank)};

// ---- words ----

constexpr TsRule numWord[] = {go(T::Alnum, S::Stay),     attempt('@', S::Email),          attempt('/', S::FileFirst),
                              attempt('.', S::FileNext), attempt('-', S::NumHyphenFirst), found(K::NumWord)};
constexpr TsRule asciiWord[] = {
    go(T::Ascii, S::Stay),      attempt('.', S::DomainFirst),      attempt('.', S::FileNext),
    attempt('-', S::HostFirst), attempt('-', S::AsciiHyphenFirst), attempt('_', S::HostFirst),
    attempt('@', S::Email),     attempt(':', S::ProtocolFirst),    attempt('/', S::FileFirst),
    attempt(T::Digit, S::Host), go(T::Digit, S::NumWord),          go(T::Letter, S::Word),
    found(K::AsciiWord)};
constexpr TsRule word[] = {go(T::Letter, S::Stay), go(T::Digit, S::NumWord), attempt('-', S::HyphenFirst),
                           found(K::Word)};

// ---- numbers ----

constexpr TsRule unsignedInt[] = {
    go(T::Digit, S::Stay),          attempt('.', S::DomainFirst),   attempt('.', S::UnsignedDecimalFirst),
    attempt('e', S::ExponentFirst), attempt('E', S::ExponentFirst), attempt('-', S::HostFirst),
    attempt('_', S::HostFirst),     attempt('@', S::Email),         attempt(T::Ascii, S::Host),
    go(T::Letter, S::NumWord),      attempt('/', S::FileFirst),     found(K::UnsignedInt)};
constexpr TsRule signedFirst[] = {commit(T::Digit, S::Signed), back()};
constexpr TsRule signedInt[] = {go(T::Digit, S::Stay), attempt('.', S::DecimalFirst), attempt('e', S::ExponentFirst),
                                attempt('E', S::ExponentFirst), found(K::Int)};
constexpr TsRule unsignedDecimalFirst[] = {commit(T::Digit, S::UnsignedDecimal), back()};
constexpr TsRule unsignedDecimal[] = {go(T::Digit, S::Stay), attempt('.', S::VersionFirst),
                                      attempt('e', S::ExponentFirst), attempt('E', S::ExponentFirst), found(K::Float)};
constexpr TsRule decimalFirst[] = {commit(T::Digit, S::Decimal), back()};
constexpr TsRule decimal[] = {go(T::Digit, S::Stay), attempt('.', S::SignBeforeVersion), attempt('e', S::ExponentFirst),
                              attempt('E', S::ExponentFirst), found(K::Float)};
// "-1.2.3" is a blank and a version.
constexpr TsRule signBeforeVersion[] = {rerun(T::Digit, S::SkipSign, TsSpecial::Restart), back()};
constexpr TsRule skipSign[] = {back(T::End), found(K::Blank, S::Unsigned, T::Digit, CommitAll), go(T::Always, S::Stay)};
constexpr TsRule versionFirst[] = {commit(T::Digit, S::Version), back()};
constexpr TsRule version[] = {go(T::Digit, S::Stay), attempt('.', S::VersionFirst), found(K::Version)};
constexpr TsRule exponentFirst[] = {commit(T::Digit, S::Exponent), go('+', S::ExponentSign), go('-', S::ExponentSign),
                                    back()};
constexpr TsRule exponentSign[] = {commit(T::Digit, S::Exponent), back()};
constexpr TsRule exponent[] = {go(T::Digit, S::Stay), found(K::ScientificFloat)};

// ---- entities, tags and comments of XML ----

constexpr TsRule entityFirst[] = {go('#', S::EntityNumberFirst), go(T::Ascii, S::Entity), go(':', S::Entity),
                                  go('_', S::Entity), back()};
constexpr TsRule entity[] = {go(T::Alnum, S::Stay),
                             go(':', S::Stay),
                             go('_', S::Stay),
                             go('.', S::Stay),
                             go('-', S::Stay),
                             go(';', S::EntityEnd),
                             back()};
constexpr TsRule entityNumberFirst[] = {go('x', S::EntityHexFirst), go('X', S::EntityHexFirst),
                                        go(T::Digit, S::EntityNumber), back()};
constexpr TsRule entityNumber[] = {go(T::Digit, S::Stay), go(';', S::EntityEnd), back()};
constexpr TsRule entityHexFirst[] = {go(T::Hex, S::EntityHex), back()};
constexpr TsRule entityHex[] = {go(T::Hex, S::Stay), go(';', S::EntityEnd), back()};
constexpr TsRule entityEnd[] = {found(K::Entity, S::Base, T::Always, Commit)};

constexpr TsRule tagFirst[] = {attempt('/', S::TagCloseFirst),
                               attempt('!', S::CommentFirst),
                               attempt('?', S::XmlBegin),
                               attempt(T::Ascii, S::TagName),
                               attempt(':', S::TagName),
                               attempt('_', S::TagName),
                               back()};
constexpr TsRule xmlBegin[] = {go('x', S::Tag), back()};
constexpr TsRule tagCloseFirst[] = {go(T::Ascii, S::TagName), back()};
constexpr TsRule tagName[] = {go('/', S::TagBeginEnd),
                              go('>', S::TagEnd, TsSpecial::NoteTag),
                              go(T::White, S::Tag, TsSpecial::NoteTag),
                              go(T::Alnum, S::Stay),
                              go(':', S::Stay),
                              go('_', S::Stay),
                              go('.', S::Stay),
                              go('-', S::Stay),
                              back()};
constexpr TsRule tagBeginEnd[] = {go('>', S::TagEnd), back()};
constexpr TsRule tag[] = {go('>', S::TagEnd, TsSpecial::NoteTag),
                          go('\'', S::TagQuote),
                          go('"', S::TagDoubleQuote),
                          go(T::Ascii, S::Stay),
                          go(T::Digit, S::Stay),
                          go('=', S::Stay),
                          go('-', S::Stay),
                          go('_', S::Stay),
                          go('#', S::Stay),
                          go('/', S::Stay),
                          go(':', S::Stay),
                          go('.', S::Stay),
                          go('&', S::Stay),
                          go('?', S::Stay),
                          go('%', S::Stay),
                          go('~', S::Stay),
                          go(T::White, S::Stay, TsSpecial::NoteTag),
                          back()};
constexpr TsRule tagQuote[] = {back(T::End), attempt('\\', S::TagBackslash), go('\'', S::Tag), go(T::Always, S::Stay)};
constexpr TsRule tagDoubleQuote[] = {back(T::End), attempt('\\', S::TagBackslash), go('"', S::Tag),
                                     go(T::Always, S::Stay)};
constexpr TsRule tagBackslash[] = {back(T::End), {T::Always, '\0', Merge, S::Stay, K::None, TsSpecial::None}};
constexpr TsRule tagEnd[] = {found(K::Tag, S::Base, T::Always, CommitAll)};
constexpr TsRule commentFirst[] = {go('-', S::CommentSecond), go('D', S::Tag), go('d', S::Tag), back()};
constexpr TsRule commentSecond[] = {go('-', S::Comment), back()};
constexpr TsRule comment[] = {back(T::End), go('-', S::CommentCloseFirst), go(T::Always, S::Stay)};
constexpr TsRule commentCloseFirst[] = {back(T::End), go('-', S::CommentCloseSecond), go(T::Always, S::Comment)};
constexpr TsRule commentCloseSecond[] = {back(T::End), go('-', S::Stay), go('>', S::TagEnd), go(T::Always, S::Comment)};

// ---- hosts, mail addresses, URLs ----

constexpr TsRule domainFirst[] = {go(T::Ascii, S::DomainSecond), go(T::Digit, S::Host), back()};
constexpr TsRule domainSecond[] = {go(T::Ascii, S::Domain),
                                   attempt(T::Digit, S::Host),
                                   attempt('-', S::HostFirst),
                                   attempt('_', S::HostFirst),
                                   attempt('.', S::DomainFirst),
                                   attempt('@', S::Email),
                                   back()};
constexpr TsRule domain[] = {found(K::Host, S::Base, T::End, CommitAll),
                             go(T::Ascii, S::Stay),
                             attempt(T::Digit, S::Host),
                             attempt(':', S::PortFirst),
                             attempt('-', S::HostFirst),
                             attempt('_', S::HostFirst),
                             attempt('.', S::DomainFirst),
                             attempt('@', S::Email),
                             back(T::Digit),
                             found(K::Host, S::UrlPathStart, T::StopHost, CommitAll),
                             attempt('/', S::UrlSlash),
                             found(K::Host, S::Base, T::Always, CommitAll)};
constexpr TsRule portFirst[] = {go(T::Digit, S::Port), back()};
constexpr TsRule port[] = {found(K::Host, S::Base, T::End, CommitAll), go(T::Digit, S::Stay),
                           found(K::Host, S::UrlPathStart, T::StopHost, CommitAll), attempt('/', S::UrlSlash),
                           found(K::Host, S::Base, T::Always, CommitAll)};
constexpr TsRule hostFirst[] = {go(T::Digit, S::Host), go(T::Ascii, S::Host), back()};
constexpr TsRule host[] = {go(T::Digit, S::Stay),
                           go(T::Ascii, S::Stay),
                           attempt('@', S::Email),
                           attempt('.', S::DomainFirst),
                           attempt('-', S::HostFirst),
                           attempt('_', S::HostFirst),
                           back()};
constexpr TsRule email[] = {back(T::StopHost), found(K::Email, S::Base, T::HostAhead, CommitAll), back()};
constexpr TsRule urlPathStart[] = {go(T::Always, S::UrlPath)};
constexpr TsRule urlPath[] = {{T::UrlPathAhead, '\0', Rerun, S::Stay, K::None, TsSpecial::None}, found(K::UrlPath)};
constexpr TsRule urlSlash[] = {back(T::End), found(K::Url, S::Base, T::UrlPathAhead, CommitAll, TsSpecial::FindHost),
                               back()};
constexpr TsRule protocolFirst[] = {go('/', S::ProtocolSecond), back()};
constexpr TsRule protocolSecond[] = {go('/', S::ProtocolEnd), back()};
constexpr TsRule protocolEnd[] = {found(K::Protocol, S::Base, T::Always, CommitAll)};

// ---- files ----

constexpr TsRule fileFirst[] = {go(T::Ascii, S::File), go(T::Digit, S::File),      go('.', S::PathFirst),
                                go('_', S::File),      attempt('~', S::FileTilde), back()};
constexpr TsRule fileTilde[] = {go(T::Ascii, S::File), go(T::Digit, S::File), go('_', S::File), go('/', S::FileFirst),
                                back()};
constexpr TsRule pathFirst[] = {go(T::Ascii, S::File), go(T::Digit, S::File), go('_', S::File),
                                go('.', S::PathDots),  go('/', S::FileFirst), back()};
constexpr TsRule pathDot[] = {go('.', S::PathDots), go('/', S::FileFirst), back()};
constexpr TsRule pathDots[] = {found(K::File, S::Base, T::End, Commit), attempt('/', S::FileFirst),
                               foundAt('/', K::File, Commit), found(K::File, S::Base, T::White, Commit), back()};
constexpr TsRule file[] = {go(T::Ascii, S::Stay), go(T::Digit, S::Stay), attempt('.', S::FileNext),
                           go('_', S::Stay),      go('-', S::Stay),      attempt('/', S::FileFirst),
                           found(K::File)};
constexpr TsRule fileNext[] = {commit(T::Ascii, S::File), commit(T::Digit, S::File), commit('_', S::File), back()};

// ---- words with hyphens, and their parts ----

constexpr TsRule asciiHyphenFirst[] = {go(T::Ascii, S::AsciiHyphen), go(T::Letter, S::Hyphen),
                                       go(T::Digit, S::HyphenDigits), back()};
constexpr TsRule asciiHyphen[] = {
    go(T::Ascii, S::Stay), go(T::Letter, S::Hyphen), go(T::Digit, S::NumHyphen), attempt('-', S::AsciiHyphenFirst),
    found(K::AsciiHyphenWord, S::HyphenParts, T::Always, CommitAll, TsSpecial::FindParts)};
constexpr TsRule hyphenFirst[] = {go(T::Letter, S::Hyphen), go(T::Digit, S::HyphenDigits), back()};
constexpr TsRule hyphen[] = {go(T::Letter, S::Stay), go(T::Digit, S::NumHyphen), attempt('-', S::HyphenFirst),
                             found(K::HyphenWord, S::HyphenParts, T::Always, CommitAll, TsSpecial::FindParts)};
constexpr TsRule numHyphenFirst[] = {go(T::Letter, S::NumHyphen), go(T::Digit, S::HyphenDigits), back()};
constexpr TsRule numHyphen[] = {go(T::Alnum, S::Stay), attempt('-', S::NumHyphenFirst),
                                found(K::NumHyphenWord, S::HyphenParts, T::Always, CommitAll, TsSpecial::FindParts)};
constexpr TsRule hyphenDigits[] = {go(T::Digit, S::Stay), go(T::Letter, S::NumHyphen), back()};
constexpr TsRule hyphenParts[] = {rerun(T::End, S::Base),
                                  go(T::Ascii, S::AsciiHyphenPart),
                                  go(T::Letter, S::HyphenPart),
                                  attempt(T::Digit, S::HyphenPartDigits),
                                  attempt('-', S::HyphenPartsHyphen),
                                  rerun(T::Always, S::Base)};
constexpr TsRule hyphenPartsHyphen[] = {found(K::Blank, S::HyphenParts, T::Alnum, Commit), back()};
constexpr TsRule hyphenPart[] = {found(K::HyphenPart, S::Base, T::End), go(T::Letter, S::Stay),
                                 go(T::Digit, S::NumHyphenPart), found(K::HyphenPart, S::HyphenParts)};
constexpr TsRule asciiHyphenPart[] = {found(K::AsciiHyphenPart, S::Base, T::End), go(T::Ascii, S::Stay),
                                      go(T::Letter, S::HyphenPart), go(T::Digit, S::NumHyphenPart),
                                      found(K::AsciiHyphenPart, S::HyphenParts)};
constexpr TsRule numHyphenPart[] = {found(K::NumHyphenPart, S::Base, T::End), go(T::Alnum, S::Stay),
                                    found(K::NumHyphenPart, S::HyphenParts)};
constexpr TsRule hyphenPartDigits[] = {go(T::Digit, S::Stay), commit(T::Letter, S::NumHyphenPart), back()};

/// By state.
constexpr const TsRule* all[] = {base,
                                 numWord,
                                 asciiWord,
                                 word,
                                 unsignedInt,
                                 signedFirst,
                                 signedInt,
                                 space,
                                 unsignedDecimalFirst,
                                 unsignedDecimal,
                                 decimalFirst,
                                 decimal,
                                 signBeforeVersion,
                                 skipSign,
                                 versionFirst,
                                 version,
                                 exponentFirst,
                                 exponentSign,
                                 exponent,
                                 entityFirst,
                                 entity,
                                 entityNumberFirst,
                                 entityNumber,
                                 entityHexFirst,
                                 entityHex,
                                 entityEnd,
                                 tagFirst,
                                 xmlBegin,
                                 tagCloseFirst,
                                 tagName,
                                 tagBeginEnd,
                                 tag,
                                 tagQuote,
                                 tagDoubleQuote,
                                 tagBackslash,
                                 tagEnd,
                                 commentFirst,
                                 commentSecond,
                                 comment,
                                 commentCloseFirst,
                                 commentCloseSecond,
                                 domainFirst,
                                 domainSecond,
                                 domain,
                                 portFirst,
                                 port,
                                 hostFirst,
                                 host,
                                 email,
                                 fileFirst,
                                 fileTilde,
                                 pathFirst,
                                 pathDot,
                                 pathDots,
                                 file,
                                 fileNext,
                                 urlPathStart,
                                 urlPath,
                                 urlSlash,
                                 protocolFirst,
                                 protocolSecond,
                                 protocolEnd,
                                 asciiHyphenFirst,
                                 asciiHyphen,
                                 hyphenFirst,
                                 hyphen,
                                 numHyphenFirst,
                                 numHyphen,
                                 hyphenDigits,
                                 hyphenParts,
                                 hyphenPartsHyphen,
                                 hyphenPart,
                                 asciiHyphenPart,
                                 numHyphenPart,
                                 hyphenPartDigits};
static_assert(std::size(all) == static_cast<size_t>(S::Stay));

} // namespace

const TsRule* tsRulesOf(TsState state) {
   return all[static_cast<size_t>(state)];
}

} // namespace ouzel::executor
