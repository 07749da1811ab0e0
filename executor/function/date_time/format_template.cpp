#include "executor/function/date_time/format_template.hpp"

#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel::formatting {

namespace {

constexpr auto gregorian = Keyword::Calendar::Gregorian, isoWeek = Keyword::Calendar::IsoWeek;

// A word stands before its prefixes, so that the longest word is found.
constexpr Keyword dateKeywords[] = {
    {"A.D.", A_D},
    {"A.M.", A_M},
    {"AD", AD},
    {"AM", AM},
    {"B.C.", A_D},
    {"BC", AD},
    {"CC", CC, true},
    {"DAY", DAY},
    {"DDD", DDD, true, gregorian},
    {"DD", DD, true, gregorian},
    {"DY", DY},
    {"Day", Day},
    {"Dy", Dy},
    {"D", D, true, gregorian},
    {"FF1", FF1, true},
    {"FF2", FF2, true},
    {"FF3", FF3, true},
    {"FF4", FF4, true},
    {"FF5", FF5, true},
    {"FF6", FF6, true},
    {"FX", FX},
    {"HH24", HH24, true},
    {"HH12", HH12, true},
    {"HH", HH, true},
    {"IDDD", IDDD, true, isoWeek},
    {"ID", ID, true, isoWeek},
    {"IW", IW, true, isoWeek},
    {"IYYY", IYYY, true, isoWeek},
    {"IYY", IYY, true, isoWeek},
    {"IY", IY, true, isoWeek},
    {"I", I, true, isoWeek},
    {"J", J, true},
    {"MI", MI, true},
    {"MM", MM, true, gregorian},
    {"MONTH", MONTH, false, gregorian},
    {"MON", MON, false, gregorian},
    {"MS", MS, true},
    {"Month", Month, false, gregorian},
    {"Mon", Mon, false, gregorian},
    {"OF", OF},
    {"P.M.", A_M},
    {"PM", AM},
    {"Q", Q, true},
    {"RM", RM, false, gregorian},
    {"SSSSS", SSSS, true},
    {"SSSS", SSSS, true},
    {"SS", SS, true},
    {"TZH", TZH},
    {"TZM", TZM, true},
    {"TZ", TZ},
    {"US", US, true},
    {"WW", WW, true, gregorian},
    {"W", W, true, gregorian},
    {"Y,YYY", Y_YYY, true, gregorian},
    {"YYYY", YYYY, true, gregorian},
    {"YYY", YYY, true, gregorian},
    {"YY", YY, true, gregorian},
    {"Y", Y, true, gregorian},
    {"a.d.", a_d},
    {"a.m.", a_m},
    {"ad", ad},
    {"am", am},
    {"b.c.", a_d},
    {"bc", ad},
    {"cc", CC, true},
    {"day", day},
    {"ddd", DDD, true, gregorian},
    {"dd", DD, true, gregorian},
    {"dy", dy},
    {"d", D, true, gregorian},
    {"ff1", FF1, true},
    {"ff2", FF2, true},
    {"ff3", FF3, true},
    {"ff4", FF4, true},
    {"ff5", FF5, true},
    {"ff6", FF6, true},
    {"fx", FX},
    {"hh24", HH24, true},
    {"hh12", HH12, true},
    {"hh", HH, true},
    {"iddd", IDDD, true, isoWeek},
    {"id", ID, true, isoWeek},
    {"iw", IW, true, isoWeek},
    {"iyyy", IYYY, true, isoWeek},
    {"iyy", IYY, true, isoWeek},
    {"iy", IY, true, isoWeek},
    {"i", I, true, isoWeek},
    {"j", J, true},
    {"mi", MI, true},
    {"mm", MM, true, gregorian},
    {"month", month, false, gregorian},
    {"mon", mon, false, gregorian},
    {"ms", MS, true},
    {"of", OF},
    {"p.m.", a_m},
    {"pm", am},
    {"q", Q, true},
    {"rm", rm, false, gregorian},
    {"sssss", SSSS, true},
    {"ssss", SSSS, true},
    {"ss", SS, true},
    {"tzh", TZH},
    {"tzm", TZM, true},
    {"tz", tz},
    {"us", US, true},
    {"ww", WW, true, gregorian},
    {"w", W, true, gregorian},
    {"y,yyy", Y_YYY, true, gregorian},
    {"yyyy", YYYY, true, gregorian},
    {"yyy", YYY, true, gregorian},
    {"yy", YY, true, gregorian},
    {"y", Y, true, gregorian},
};

constexpr Keyword numberKeywords[] = {
    {",", COMMA},    {".", POINT},    {"0", ZERO},     {"9", NINE},        {"B", BLANK},    {"C", SPELL},
    {"D", DECIMAL},  {"EEEE", EEEE},  {"FM", FM},      {"G", GROUP},       {"L", CURRENCY}, {"MI", MINUS},
    {"PL", PLUS},    {"PR", BRACKET}, {"RN", ROMAN},   {"SG", SIGN},       {"SP", SPELL},   {"S", LOCALE_SIGN},
    {"TH", ORDINAL}, {"V", MULTIPLY}, {"b", BLANK},    {"c", SPELL},       {"d", DECIMAL},  {"eeee", EEEE},
    {"fm", FM},      {"g", GROUP},    {"l", CURRENCY}, {"mi", MINUS},      {"pl", PLUS},    {"pr", BRACKET},
    {"rn", roman},   {"sg", SIGN},    {"sp", SPELL},   {"s", LOCALE_SIGN}, {"th", ordinal}, {"v", MULTIPLY},
};

template <size_t count>
const Keyword* findIn(const Keyword (&table)[count], std::string_view text) {
   for (const Keyword& keyword : table)
      if (text.substr(0, keyword.name.size()) == keyword.name) return &keyword;
   return nullptr;
}

size_t characterBytes(std::string_view text) {
   size_t length = 1;
   while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80)
      ++length;
   return length;
}

} // namespace

const Keyword* findDateKeyword(std::string_view text) {
   return findIn(dateKeywords, text);
}
const Keyword* findNumberKeyword(std::string_view text) {
   return findIn(numberKeywords, text);
}

std::vector<Node> parseTemplate(std::string_view pattern, TemplateKind kind) {
   // Nodes are kept, uncharged, and take sixty times the bytes of the template.
   constexpr size_t bytesMax = size_t{64} << 10;
   if (pattern.size() > bytesMax)
      throw SqlError(sqlstate::programLimitExceeded, "formatting template is too long")
          .detail("It has " + std::to_string(pattern.size()) + " bytes; the limit is " + std::to_string(bytesMax) +
                  ".");
   std::vector<Node> nodes;
   const bool isDate = kind != TemplateKind::Number;
   const auto startsWith = [&pattern](std::string_view word) { return pattern.substr(0, word.size()) == word; };
   const auto takeCharacter = [&](NodeKind nodeKind) {
      Node node;
      node.kind = nodeKind;
      const size_t length = characterBytes(pattern);
      node.text = std::string(pattern.substr(0, length));
      nodes.push_back(std::move(node));
      pattern.remove_prefix(length);
   };
   while (!pattern.empty()) {
      Node node;
      if (isDate) {
         if (startsWith("FM") || startsWith("fm")) {
            node.isFillMode = true;
            pattern.remove_prefix(2);
         } else if (startsWith("TM") || startsWith("tm")) {
            node.isTranslated = true;
            pattern.remove_prefix(2);
         }
         if (pattern.empty()) break;
      }
      node.keyword = isDate ? findDateKeyword(pattern) : findNumberKeyword(pattern);
      if (node.keyword) {
         node.kind = NodeKind::Action;
         pattern.remove_prefix(node.keyword->name.size());
         if (isDate && startsWith("TH")) {
            node.ordinal = Node::Ordinal::Upper;
            pattern.remove_prefix(2);
         } else if (isDate && startsWith("th")) {
            node.ordinal = Node::Ordinal::Lower;
            pattern.remove_prefix(2);
         } else if (isDate && startsWith("SP")) {
            pattern.remove_prefix(2); // SP (spell out) is accepted and ignored, as in PostgreSQL
         }
         nodes.push_back(std::move(node));
         continue;
      }
      if (kind == TemplateKind::StandardDate && pattern[0] != '"') {
         if (std::string_view("-./,':; ").find(pattern[0]) == std::string_view::npos)
            throw SqlError(sqlstate::invalidDatetimeFormat,
                           "invalid datetime format separator: \"" +
                               std::string(pattern.substr(0, characterBytes(pattern))) + '"');
         takeCharacter(pattern[0] == ' ' ? NodeKind::Space : NodeKind::Separator);
         continue;
      }
      if (pattern[0] == '"') {
         pattern.remove_prefix(1);
         while (!pattern.empty()) {
            if (pattern[0] == '"') {
               pattern.remove_prefix(1);
               break;
            }
            if (pattern[0] == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
            takeCharacter(NodeKind::Char);
         }
         continue;
      }
      if (startsWith("\\\"")) pattern.remove_prefix(1);
      const char c = pattern[0];
      takeCharacter(isDate && isSeparator(c) ? NodeKind::Separator : isBlank(c) ? NodeKind::Space : NodeKind::Char);
   }
   return nodes;
}

const char* ordinalSuffix(std::string_view number, bool isUpper) {
   if (number.empty() || !isDigit(number.back()))
      throw SqlError(sqlstate::invalidTextRepresentation, '"' + std::string(number) + "\" is not a number");
   const bool isTeen = number.size() > 1 && number[number.size() - 2] == '1';
   switch (isTeen ? '0' : number.back()) {
   case '1': return isUpper ? "ST" : "st";
   case '2': return isUpper ? "ND" : "nd";
   case '3': return isUpper ? "RD" : "rd";
   default: return isUpper ? "TH" : "th";
   }
}

} // namespace ouzel::formatting
