#include "sql/program/token_reader.hpp"

#include <algorithm>

#include "sql/program/keywords.hpp"

namespace ouzel::sql::program {

TokenReader::TokenReader(std::string_view body, Program& program) : scanner_(body), body_(body), program_(program) {
   for (size_t end = body.find('\n'); end != std::string_view::npos; end = body.find('\n', end + 1))
      lineEnds_.push_back(static_cast<uint32_t>(end));
}

std::string Token::dottedName() const {
   std::string name;
   for (const std::string& part : names)
      name += (name.empty() ? "" : ".") + part;
   return name;
}

bool TokenReader::isPlainWord(const RawToken& token) const {
   if (token.kind != TokenKind::Identifier) return false;
   const std::string_view text = scanner_.text(token);
   return text.front() == '"' || !isReservedWord(identifierName(text));
}

bool TokenReader::atStatementStart() const {
   return current_.is(";") || current_.is("begin") || current_.is("then") || current_.is("else") || current_.is("loop");
}

const Token& TokenReader::next() {
   if (!pushed_.empty()) {
      current_ = std::move(pushed_.back());
      pushed_.pop_back();
      return current_;
   }
   const RawToken& first = raw();
   if (isPlainWord(first)) return current_ = wordToken();
   Token token;
   token.raw = first;
   token.text = scanner_.text(first);
   if (first.kind == TokenKind::Identifier) {
      token.kind = WordKind::Keyword;
      token.isReserved = true;
      token.names = {identifierName(token.text)};
   }
   if (first.kind != TokenKind::End) ++at_;
   return current_ = std::move(token);
}

Token TokenReader::wordToken() {
   Token token;
   token.raw = raw();
   token.text = scanner_.text(token.raw);
   token.isQuoted = token.text.front() == '"';
   const auto addName = [&](size_t ahead) { token.names.push_back(identifierName(scanner_.text(raw(ahead)))); };
   const auto isDotAndWord = [&](size_t ahead) {
      if (raw(ahead).kind != TokenKind::Other || scanner_.text(raw(ahead)) != ".") return false;
      const RawToken& word = raw(ahead + 1);
      return isPlainWord(word) && !scanner_.text(word).starts_with("$");
   };
   addName(0);
   if (!isDotAndWord(1)) {
      resolveWord(token);
      ++at_;
      return token;
   }
   addName(2);
   if (isDotAndWord(3)) addName(4);
   const RawToken& last = raw(2 * token.names.size() - 2);
   token.raw.length = last.offset + last.length - token.raw.offset;
   token.text = scanner_.text(token.raw);
   at_ += 2 * token.names.size() - 1;
   resolveDotted(token);
   return token;
}

void TokenReader::resolveWord(Token& token) {
   // At the beginning of a statement a variable can only be assigned to. Other words there are the statement's, so that
   // variables may be called like statements.
   const auto isTarget = [&] {
      const std::string_view after = raw(1).kind == TokenKind::Other ? scanner_.text(raw(1)) : std::string_view();
      return after == "=" || after == ":=" || after == "[" || after == ".";
   };
   if (lookup == Lookup::Normal && (!atStatementStart() || isTarget())) {
      if (const Name* name = program_.names.find(scope, token.names[0]).name) {
         token.kind = WordKind::Variable;
         token.variable = name->variable;
         return;
      }
   }
   token.kind = WordKind::Word;
   if (!token.isQuoted && isUnreservedWord(token.names[0])) token.kind = WordKind::Keyword;
}

void TokenReader::resolveDotted(Token& token) {
   std::vector<std::string>& names = token.names;
   token.kind = WordKind::Dotted;
   if (lookup == Lookup::Declare) return;
   const bool hasThird = names.size() == 3;
   const FoundName found = program_.names.find(scope, names[0], names[1], hasThird ? names[2] : std::string_view());
   if (!found.name || (hasThird && found.name->kind != NameKind::Record)) return;
   token.kind = WordKind::Variable;
   token.variable = found.name->variable;
   if (names.size() == found.parts) return;
   token.variable = fieldOf(found.name->variable, names[found.parts]);
   names.resize(found.parts + 1); // what follows is a field of the field
}

VariableId TokenReader::fieldOf(VariableId record, std::string_view name) {
   std::vector<Variable>& variables = program_.variables;
   const auto isSame = [&](const Variable& v) {
      return v.kind == VariableKind::Field && v.record == record && v.name == name;
   };
   const auto same = std::find_if(variables.begin(), variables.end(), isSame);
   if (same != variables.end()) return static_cast<VariableId>(same - variables.begin());
   Variable field;
   field.kind = VariableKind::Field;
   field.name = name;
   field.record = record;
   variables.push_back(std::move(field));
   return static_cast<VariableId>(variables.size() - 1);
}

bool TokenReader::peekIs(std::string_view what) {
   if (!pushed_.empty()) return pushed_.back().is(what);
   const RawToken& token = raw();
   if (token.kind == TokenKind::Other) return scanner_.text(token) == what;
   return token.kind == TokenKind::Identifier && !isPlainWord(token) && identifierName(scanner_.text(token)) == what;
}

bool TokenReader::peekIsWordThen(std::string_view what) {
   return pushed_.empty() && isPlainWord(raw()) && !scanner_.text(raw()).starts_with("$") &&
          raw(1).kind == TokenKind::Other && scanner_.text(raw(1)) == what;
}

uint32_t TokenReader::peekOffset() {
   return pushed_.empty() ? raw().offset : pushed_.back().raw.offset;
}

uint32_t TokenReader::lineOf(uint32_t offset) {
   const auto next = std::lower_bound(lineEnds_.begin(), lineEnds_.end(), offset);
   return latestLine_ = static_cast<uint32_t>(next - lineEnds_.begin()) + 1;
}

void TokenReader::fail(std::string_view message) const {
   std::string text(message);
   text += current_.isEnd() ? std::string(" at end of input") : " at or near \"" + std::string(current_.text) + "\"";
   throw error(sqlstate::syntaxError, text, current_.raw.offset);
}

SqlError TokenReader::error(SqlState state, const std::string& message, uint32_t offset) const {
   return SqlError(state, message).at(scanner_.position(offset));
}

void throwNotVariable(const TokenReader& reader, const Token& token) {
   if (token.kind != WordKind::Word && token.kind != WordKind::Dotted) reader.fail();
   throw reader.error(sqlstate::syntaxError, "\"" + token.dottedName() + "\" is not a known variable",
                      token.raw.offset);
}

void throwNotVariable(const TokenReader& reader) {
   throwNotVariable(reader, reader.current());
}

} // namespace ouzel::sql::program
