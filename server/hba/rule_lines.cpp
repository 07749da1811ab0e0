#include "server/hba/rule_lines.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace ouzel::server {

namespace {

bool isBlank(char c) {
   return c == ' ' || c == '\t' || c == '\r';
}

/// Cuts one line, which has no line breaks any more.
class LineCutter {
public:
   explicit LineCutter(std::string_view text) : rest_(text) {}

   /// False: the line has no further field.
   bool takeField(RuleField& field) {
      field.clear();
      hasMore_ = true;
      RuleWord word;
      while (hasMore_ && takeWord(word))
         field.push_back(std::move(word));
      return !field.empty();
   }
   /// Empty: nothing is wrong so far.
   const std::string& problem() const { return problem_; }

private:
   /// A comma behind the word says that the field has more; blanks may follow the comma.
   bool takeWord(RuleWord& word) {
      word = RuleWord();
      while (!rest_.empty() && (isBlank(rest_[0]) || rest_[0] == ','))
         rest_.remove_prefix(1);
      hasMore_ = false;
      bool inQuotes = false, hasQuotes = false;
      for (; !rest_.empty(); rest_.remove_prefix(1)) {
         const char c = rest_[0];
         if (inQuotes && c == '"' && rest_.substr(1).starts_with('"')) {
            word.text += c; // two quotes are one
            rest_.remove_prefix(1);
         } else if (c == '"') {
            inQuotes = !inQuotes;
            if (word.text.empty() && !hasQuotes) word.isQuoted = true;
            hasQuotes = true;
         } else if (c == '\0') {
            problem_ = "a null character";
            rest_ = {};
            return false;
         } else if (inQuotes) {
            word.text += c;
         } else if (c == '#') {
            rest_ = {};
            break;
         } else if (c == ',') {
            hasMore_ = true;
            rest_.remove_prefix(1);
            break;
         } else if (isBlank(c)) {
            break;
         } else {
            word.text += c;
         }
      }
      if (inQuotes) problem_ = "unterminated quoted string";
      if (!word.isQuoted && word.text.size() > 1 && word.text[0] == '@')
         problem_ = fmt::format("cannot include \"{}\": files of names are not supported", word.text.substr(1));
      return hasQuotes || !word.text.empty();
   }

   std::string_view rest_;
   bool hasMore_ = false;
   std::string problem_;
};

/// Takes a line, and those that it continues in, from the front of the text.
RuleLine takeLine(std::string_view& text, size_t& lines) {
   RuleLine line;
   line.number = lines + 1;
   bool goesOn = true;
   while (goesOn && !text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view part = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++lines;
      if (part.ends_with('\r')) part.remove_suffix(1);
      goesOn = part.ends_with('\\');
      if (goesOn) part.remove_suffix(1);
      line.text += part;
   }
   return line;
}

} // namespace

std::string describe(const std::vector<RuleProblem>& problems) {
   std::string text;
   for (const RuleProblem& problem : problems)
      text += fmt::format("{}line {}: {}", text.empty() ? "" : "; ", problem.line, problem.message);
   return text;
}

std::vector<RuleLine> cutRuleLines(std::string_view text, std::vector<RuleProblem>& problems) {
   std::vector<RuleLine> out;
   size_t lines = 0;
   while (!text.empty()) {
      RuleLine line = takeLine(text, lines);
      LineCutter cutter(line.text);
      RuleField field;
      while (cutter.takeField(field))
         line.fields.push_back(std::move(field));
      if (!cutter.problem().empty())
         problems.push_back({line.number, cutter.problem()});
      else if (!line.fields.empty())
         out.push_back(std::move(line));
   }
   return out;
}

} // namespace ouzel::server
