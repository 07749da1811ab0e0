#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Templates of to_char() and its inverses, parsed into nodes. Used by formatting*.cpp only.

namespace ouzel::formatting {

/// A word of a template. `id` is a DateField or a NumberField, by the table that has the word.
struct Keyword {
   std::string_view name;
   int32_t id;
   bool isDigit = false; ///< reads digits, so that the field before it must have a fixed width
   enum class Calendar : uint8_t { Any, Gregorian, IsoWeek } calendar = Calendar::Any;
};

enum class NodeKind : uint8_t { Action, Char, Separator, Space };
struct Node {
   NodeKind kind = NodeKind::Char;
   const Keyword* keyword = nullptr; ///< Action
   std::string text;                 ///< other kinds: one character
   bool isFillMode = false;          ///< FM
   bool isTranslated = false;        ///< TM: names without padding
   enum class Ordinal : uint8_t { None, Upper, Lower } ordinal = Ordinal::None;
};

enum class TemplateKind : uint8_t {
   Date,
   StandardDate, ///< with the separators of the SQL standard and texts in quotes only; others are 22007
   Number
};
/// Throws 54000 for a template of more than 64 kB.
std::vector<Node> parseTemplate(std::string_view pattern, TemplateKind kind);

/// A printable character that is neither letter nor digit.
constexpr bool isSeparator(char c) {
   return c > 0x20 && c < 0x7f && !(c >= '0' && c <= '9') && !((c | 32) >= 'a' && (c | 32) <= 'z');
}

/// The longest keyword that `text` starts with; null if none.
const Keyword* findDateKeyword(std::string_view text);
const Keyword* findNumberKeyword(std::string_view text);

/// "st", "nd", "rd" or "th" for a number's text. Throws 22P02 if the text does not end in a digit.
const char* ordinalSuffix(std::string_view number, bool isUpper);

enum DateField : int32_t {
   A_D,
   A_M,
   AD,
   AM,
   CC,
   DAY,
   DDD,
   DD,
   DY,
   Day,
   Dy,
   D,
   FF1,
   FF2,
   FF3,
   FF4,
   FF5,
   FF6,
   FX,
   HH24,
   HH12,
   HH,
   IDDD,
   ID,
   IW,
   IYYY,
   IYY,
   IY,
   I,
   J,
   MI,
   MM,
   MONTH,
   MON,
   MS,
   Month,
   Mon,
   OF,
   Q,
   RM,
   SSSS,
   SS,
   TZH,
   TZM,
   TZ,
   US,
   WW,
   W,
   Y_YYY,
   YYYY,
   YYY,
   YY,
   Y,
   a_d,
   a_m,
   ad,
   am,
   day,
   dy,
   month,
   mon,
   rm,
   tz
};

enum NumberField : int32_t {
   COMMA,
   POINT,
   ZERO,
   NINE,
   BLANK,
   DECIMAL,
   EEEE,
   FM,
   GROUP,
   CURRENCY,
   MINUS,
   PLUS,
   BRACKET,
   ROMAN,
   SIGN,
   SPELL,
   LOCALE_SIGN,
   ORDINAL,
   MULTIPLY,
   roman,
   ordinal
};

} // namespace ouzel::formatting
