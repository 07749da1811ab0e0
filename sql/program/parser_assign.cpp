#include "sql/parse/parser.hpp"
#include "sql/program/parser.hpp"

namespace ouzel::sql::program {

namespace {

/// Index of the token behind a bracket that is closed, and the offsets of its bounds.
struct Brackets {
   size_t end;                   ///< of the token behind `]`
   uint32_t begin, colon, close; ///< offsets; colon 0: no slice
};

/// `at`: the index of the token `[`. nullopt: it is not closed.
std::optional<Brackets> readBrackets(const Scanner& scanner, size_t at) {
   Brackets brackets{0, scanner.at(at).offset + 1, 0, 0};
   for (int depth = 0; scanner.at(at).kind != TokenKind::End; ++at) {
      const std::string_view text = scanner.text(scanner.at(at));
      depth += text == "[" || text == "(";
      depth -= text == "]" || text == ")";
      if (depth == 1 && text == ":" && brackets.colon == 0) brackets.colon = scanner.at(at).offset;
      if (depth > 0) continue;
      brackets.close = scanner.at(at).offset;
      brackets.end = at + 1;
      return brackets;
   }
   return std::nullopt;
}

/// Whether the grammar takes the word as a target: a reserved word of SQL must be quoted.
bool mayBeAssigned(std::string_view name) {
   if (name.starts_with('$')) return true;
   try {
      ParsedScript::parse("TABLE " + std::string(name));
      return true;
   } catch (const SqlError&) {
      return false;
   }
}

} // namespace

Statement Parser::parseAssignment() {
   const Token target = reader_.current();
   checkAssignable(target.variable, target.raw.offset);
   reader_.lineOf(target.raw.offset);
   reader_.pushBack();
   const uint32_t textsBefore = program_.textCount;
   const SqlText whole = readSql({{";"}, ";", SqlForm::Statement, false});
   program_.textCount = textsBefore; // the whole is not executed
   Assignment node{target.variable, {}, {}, whole.text};
   uint32_t valueBegin = 0;
   node.steps = parseTargetSteps(whole, target.names.size(), valueBegin);
   const std::string value = whole.text.substr(valueBegin);
   checkSql(value, SqlForm::Expression, whole.offset + valueBegin);
   node.value = makeText(value, SqlForm::Expression, whole.offset + valueBegin);
   return statement(target.raw.offset, std::move(node));
}

std::vector<TargetStep> Parser::parseTargetSteps(const SqlText& whole, size_t nameCount, uint32_t& valueBegin) {
   const Scanner scanner(whole.text);
   std::vector<TargetStep> steps;
   uint32_t stepsBegin = 0;
   const auto checkSteps = [&](uint32_t end) { // as SQL, of a variable v
      if (steps.empty()) return;
      checkSql("v" + whole.text.substr(stepsBegin, end - stepsBegin), SqlForm::Expression,
               whole.offset + stepsBegin - 1);
   };
   const auto fail = [&](const RawToken& token, uint32_t stepsEnd) {
      checkSteps(stepsEnd);
      const bool isEnd = token.kind == TokenKind::End;
      const std::string text(scanner.text(token));
      throw reader_.error(sqlstate::syntaxError,
                          isEnd ? "syntax error at end of input" : "syntax error at or near \"" + text + "\"",
                          whole.offset + token.offset);
   };
   const RawToken& first = scanner.at(0);
   if (source_.checksSyntax && !mayBeAssigned(scanner.text(first))) fail(first, 0);
   size_t at = 2 * nameCount - 1;
   stepsBegin = scanner.at(at).offset;
   for (;;) {
      const RawToken& token = scanner.at(at);
      const std::string_view text = scanner.text(token);
      if (text == ":=" || text == "=") {
         checkSteps(token.offset);
         valueBegin = scanner.at(at + 1).offset;
         return steps;
      }
      if (text == ".") {
         const RawToken& field = scanner.at(at + 1);
         const bool isName = field.kind == TokenKind::Identifier && !scanner.text(field).starts_with("$");
         if (!isName && scanner.text(field) != "*") fail(field, token.offset);
         steps.push_back({.field = identifierName(scanner.text(field)), .isSlice = false, .lower = {}, .upper = {}});
         at += 2;
      } else if (text == "[") {
         const auto brackets = readBrackets(scanner, at);
         if (!brackets) fail(token, token.offset);
         if (brackets->colon)
            steps.push_back(subscript(whole, {brackets->begin, brackets->colon, brackets->close}));
         else
            steps.push_back(subscript(whole, {brackets->begin, brackets->close}));
         at = brackets->end;
      } else {
         fail(token, token.offset);
      }
   }
}

TargetStep Parser::subscript(const SqlText& whole, std::initializer_list<uint32_t> bounds) {
   const auto part = [&](uint32_t begin, uint32_t end) -> std::optional<SqlText> {
      const std::string text = whole.text.substr(begin, end - begin);
      const size_t first = text.find_first_not_of(" \t\n\r\f\v");
      if (first == std::string::npos) return std::nullopt;
      const size_t last = text.find_last_not_of(" \t\n\r\f\v");
      return makeText(text.substr(first, last - first + 1), SqlForm::Expression,
                      whole.offset + begin + static_cast<uint32_t>(first));
   };
   const uint32_t* bound = bounds.begin();
   TargetStep step;
   step.isSlice = bounds.size() == 3;
   if (step.isSlice) {
      step.lower = part(bound[0], bound[1]);
      ++bound;
      step.upper = part(bound[0] + 1, bound[1]);
   } else {
      step.upper = part(bound[0], bound[1]);
   }
   return step;
}

} // namespace ouzel::sql::program
