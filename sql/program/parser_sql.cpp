#include <algorithm>

#include "sql/parse/parser.hpp"
#include "sql/program/parser.hpp"

namespace ouzel::sql::program {

namespace {

constexpr std::string_view spaces = " \t\n\r\f\v";

/// The offset of the first word that an expression cannot have but a query: UNION and its kin, INTO.
std::optional<uint32_t> findQueryWord(std::string_view text) {
   const Scanner scanner(text);
   int depth = 0;
   std::string before;
   for (size_t i = 0; scanner.at(i).kind != TokenKind::End; ++i) {
      const RawToken& token = scanner.at(i);
      const std::string_view word = scanner.text(token);
      depth += word == "(" || word == "[";
      depth -= word == ")" || word == "]";
      std::string name =
          token.kind == TokenKind::Identifier && word.front() != '"' ? identifierName(word) : std::string(word);
      const bool isName = before == "." || before == "as";
      if (depth == 0 && !isName && (name == "union" || name == "intersect" || name == "except" || name == "into"))
         return token.offset;
      before = std::move(name);
   }
   return std::nullopt;
}

std::string nearWord(std::string_view text, uint32_t offset) {
   const std::string_view rest = text.substr(offset);
   const size_t length = std::min(rest.find_first_of(" \t\n\r\f\v(/-"), rest.size());
   return "syntax error at or near \"" + std::string(rest.substr(0, length)) + "\"";
}

/// Throws what the parser of PostgreSQL says to an expression, with positions in it.
void checkExpression(std::string_view text) {
   constexpr std::string_view select = "SELECT ";
   const SourceText source(text);
   const auto queryWord = findQueryWord(text);
   const uint32_t wordPosition = queryWord ? source.position(static_cast<int32_t>(*queryWord)) : UINT32_MAX;
   try {
      ParsedScript::parse(std::string(select) + std::string(text));
   } catch (SqlError& error) {
      const uint32_t position = error.position();
      error.setPosition(position > select.size() ? position - static_cast<uint32_t>(select.size()) : 0);
      if (error.position() < wordPosition) throw;
   }
   if (queryWord) throw SqlError(sqlstate::syntaxError, nearWord(text, *queryWord)).at(wordPosition);
}

/// Finds the semicolon that ends a statement: not one of the body of CREATE FUNCTION or CREATE RULE.
class StatementEnd {
public:
   explicit StatementEnd(const Token& first) : isCreate_(isWord(first, "create")) {}

   bool isAt(const Token& token) {
      if (isCreate_ && !isRoutine_ && tokenCount_ < 3) {
         constexpr std::string_view orReplace[] = {"or", "replace"};
         const bool isKind = isWord(token, "function") || isWord(token, "procedure");
         isRoutine_ = isKind && (tokenCount_ == 0 || tokenCount_ == 2);
         isCreate_ = isRoutine_ || (tokenCount_ < 2 && isWord(token, orReplace[tokenCount_]));
         ++tokenCount_;
      }
      if (token.is("("))
         ++parentheses_;
      else if (token.is(")") && parentheses_ > 0)
         --parentheses_;
      if (isRoutine_ && parentheses_ == 0) {
         if (token.is("begin") || token.is("case"))
            ++blocks_;
         else if (token.is("end") && blocks_ > 0)
            --blocks_;
      }
      return token.is(";") && parentheses_ == 0 && blocks_ == 0;
   }

private:
   static bool isWord(const Token& token, std::string_view word) {
      return token.is(word) || (token.kind == WordKind::Word && token.names.size() == 1 && token.names[0] == word);
   }
   bool isCreate_, isRoutine_ = false;
   int tokenCount_ = 0, parentheses_ = 0, blocks_ = 0;
};

} // namespace

SqlText Parser::readSql(const Reading& reading) {
   const Lookup lookupBefore = std::exchange(reader_.lookup, Lookup::Sql);
   const bool isExpression = reading.form == SqlForm::Expression;
   std::optional<uint32_t> begin;
   uint32_t end = 0;
   for (int depth = 0;;) {
      const Token& token = reader_.next();
      if (!begin) begin = token.raw.offset;
      const auto isToken = [&](std::string_view what) { return token.is(what); };
      if (depth == 0 && std::any_of(reading.until.begin(), reading.until.end(), isToken)) break;
      // Where less than three signs may end a text, PostgreSQL lets the end of the body do so: what follows complains.
      if (depth == 0 && token.isEnd() && reading.until.size() < 3) break;
      if (token.is("(") || token.is("["))
         ++depth;
      else if ((token.is(")") || token.is("]")) && --depth < 0)
         reader_.fail("mismatched parentheses");
      end = token.raw.offset + token.raw.length;
      if (!token.isEnd() && !token.is(";")) continue;
      if (depth != 0) reader_.fail("mismatched parentheses");
      throw reader_.error(sqlstate::syntaxError,
                          "missing \"" + std::string(reading.expected) + "\" at end of SQL " +
                              (isExpression ? "expression" : "statement"),
                          token.raw.offset);
   }
   reader_.lookup = lookupBefore;
   if (*begin >= end) reader_.fail(isExpression ? "missing expression" : "missing SQL statement");
   const std::string_view text = reader_.body().substr(*begin, end - *begin);
   if (reading.isChecked) checkSql(text, reading.form, *begin);
   return makeText(std::string(text), reading.form, *begin);
}

SqlText Parser::readExpression(std::initializer_list<std::string_view> until, std::string_view expected) {
   return readSql({until, expected});
}

SqlText Parser::readStatementText() {
   return readSql({{";"}, ";", SqlForm::Statement});
}

std::vector<SqlText> Parser::readList(std::initializer_list<std::string_view> untilOrComma, std::string_view expected) {
   std::vector<SqlText> texts;
   do
      texts.push_back(readExpression(untilOrComma, expected));
   while (reader_.current().is(","));
   return texts;
}

SqlText Parser::makeText(std::string text, SqlForm form, uint32_t offset) {
   return {std::move(text), form, program_.textCount++, offset, reader_.scope};
}

void Parser::checkSql(std::string_view text, SqlForm form, uint32_t offset) const {
   if (!source_.checksSyntax) return;
   try {
      if (form == SqlForm::Expression)
         checkExpression(text);
      else
         ParsedScript::parse(text);
   } catch (SqlError& error) {
      error.setPosition(reader_.position(offset) + std::max(error.position(), 1u) - 1);
      throw;
   }
}

/// A statement of SQL, with an INTO of PL/pgSQL somewhere in it.
void Parser::parseSqlStatement(const Token& first, Body& body) {
   const uint32_t begin = first.raw.offset;
   if (first.kind != WordKind::Keyword) {
      for (const std::string_view sign : {"=", ":=", "[", "."})
         if (reader_.peekIs(sign)) throwNotVariable(reader_, first);
   }
   const Lookup lookupBefore = std::exchange(reader_.lookup, Lookup::Sql);
   SqlStatement node{};
   uint32_t intoBegin = 0, intoEnd = 0;
   bool isBehindInto = false, isBehindOwner = first.is("insert") || first.is("merge"); // INSERT INTO, MERGE INTO
   StatementEnd end(first);
   for (;;) {
      const Token& token = reader_.next();
      if (std::exchange(isBehindInto, false)) intoEnd = token.raw.offset;
      if (end.isAt(token)) break;
      if (token.isEnd()) reader_.fail("unexpected end of function definition");
      const bool isOwned = std::exchange(isBehindOwner, token.is("insert") || token.is("merge")) || first.is("import");
      if (!token.is("into") || isOwned) continue;
      if (node.hasInto) reader_.fail("INTO specified more than once");
      node.hasInto = isBehindInto = true;
      intoBegin = token.raw.offset;
      reader_.lookup = Lookup::Normal;
      node.target = parseInto(&node.isStrict);
      reader_.lookup = Lookup::Sql;
   }
   reader_.lookup = lookupBefore;
   std::string text(reader_.body().substr(begin, reader_.current().raw.offset - begin));
   // Blanks in place of INTO and its targets keep the positions of what stands behind.
   std::fill(text.begin() + (node.hasInto ? intoBegin - begin : 0), text.begin() + (node.hasInto ? intoEnd - begin : 0),
             ' ');
   text.resize(text.find_last_not_of(spaces) + 1);
   checkSql(text, SqlForm::Statement, begin);
   node.sql = makeText(std::move(text), SqlForm::Statement, begin);
   body.push_back(statement(begin, std::move(node)));
}

Statement Parser::parsePerform() {
   const uint32_t begin = reader_.current().raw.offset;
   reader_.lineOf(begin);
   reader_.pushBack();
   SqlText query = readSql({{";"}, ";", SqlForm::Statement, false});
   constexpr std::string_view perform = "PERFORM";
   query.text = "SELECT" + query.text.substr(perform.size());
   ++query.offset; // so that positions of what stands behind are right
   checkSql(query.text, SqlForm::Statement, query.offset);
   return statement(begin, Perform{std::move(query)});
}

Statement Parser::parseCall(bool isDo) {
   const uint32_t begin = reader_.current().raw.offset;
   reader_.lineOf(begin);
   reader_.pushBack();
   program_.usesTransactions = true;
   SqlText sql = readStatementText();
   return statement(begin, Call{std::move(sql), isDo});
}

Statement Parser::parseExecute() {
   const uint32_t begin = reader_.current().raw.offset;
   Execute node;
   node.command = readExpression({"into", "using", ";"}, "INTO or USING or ;");
   reader_.lineOf(begin);
   while (!reader_.current().is(";")) { // INTO and USING in either order
      if (reader_.current().is("into") && !node.hasInto) {
         node.hasInto = true;
         node.target = parseInto(&node.isStrict);
         reader_.next();
      } else if (reader_.current().is("using") && node.parameters.empty()) {
         node.parameters = readList({",", ";", "into"}, ", or ; or INTO");
      } else {
         reader_.fail();
      }
   }
   return statement(begin, std::move(node));
}

} // namespace ouzel::sql::program
