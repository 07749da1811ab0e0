#include "catalog/object/search_path.hpp"
#include "sql/program/parser.hpp"

// Cursors, and COMMIT and ROLLBACK.

namespace ouzel::sql::program {

VariableId Parser::parseCursorVariable() {
   const Token token = reader_.next();
   if (token.kind != WordKind::Variable) throwNotVariable(reader_);
   const Variable& variable = program_.variables[token.variable];
   if (variable.kind != VariableKind::Scalar || variable.promise != Promise::None || reader_.peekIs("["))
      throw reader_.error(sqlstate::datatypeMismatch, "cursor variable must be a simple variable", token.raw.offset);
   if (!isRefcursor(token.variable))
      throw reader_.error(sqlstate::datatypeMismatch,
                          "variable \"" + variable.name + "\" must be of type cursor or refcursor", token.raw.offset);
   return token.variable;
}

Statement Parser::parseOpen() {
   const uint32_t begin = reader_.current().raw.offset;
   OpenCursor node{};
   node.cursor = parseCursorVariable();
   reader_.lineOf(begin);
   if (program_.variables[node.cursor].cursor) {
      node.arguments = parseArguments(node.cursor, ";");
      return statement(begin, std::move(node));
   }
   if (reader_.next().isEvenIfVariable("no")) {
      if (reader_.next().isEvenIfVariable("scroll")) {
         node.scrolling = Scrolling::NoScroll;
         reader_.next();
      }
   } else if (reader_.current().isEvenIfVariable("scroll")) {
      node.scrolling = Scrolling::Scroll;
      reader_.next();
   }
   if (!reader_.current().is("for")) reader_.fail("syntax error, expected \"FOR\"");
   if (take("execute")) {
      node.dynamicQuery = readExpression({"using", ";"}, "USING or ;");
      if (reader_.current().is("using")) node.parameters = readList({",", ";"}, ", or ;");
   } else {
      node.query = readStatementText();
   }
   return statement(begin, std::move(node));
}

Statement Parser::parseFetch(bool isMove) {
   const uint32_t begin = reader_.current().raw.offset;
   Fetch node{};
   node.isMove = isMove;
   bool isManyRows = false;
   parseDirection(node, isManyRows);
   node.cursor = parseCursorVariable();
   if (!isMove) {
      expect("into");
      node.target = parseInto(nullptr);
   }
   expect(";");
   if (!isMove && isManyRows)
      throw reader_.error(sqlstate::featureNotSupported, "FETCH statement cannot return multiple rows", begin);
   return statement(begin, std::move(node));
}

/// Through FROM or IN.
void Parser::parseDirection(Fetch& fetch, bool& isManyRows) {
   const auto isFrom = [&] { return reader_.current().is("from") || reader_.current().is("in"); };
   const auto readCount = [&] { fetch.countExpression = readExpression({"from", "in"}, "FROM or IN"); };
   const auto next = [&]() -> const Token& {
      if (reader_.next().isEnd()) reader_.fail("unexpected end of function definition");
      return reader_.current();
   };
   const Token first = next();
   const auto is = [&](std::string_view word) { return first.isEvenIfVariable(word); };
   if (isFrom()) return;
   if (is("absolute") || is("relative")) {
      fetch.direction = is("absolute") ? FetchDirection::Absolute : FetchDirection::Relative;
      readCount();
      return;
   }
   if (is("prior")) {
      fetch.direction = FetchDirection::Backward;
   } else if (is("first") || is("last")) {
      fetch.direction = FetchDirection::Absolute;
      fetch.count = is("last") ? -1 : 1;
   } else if (first.is("all")) {
      fetch.count = Fetch::fetchAll;
      isManyRows = true;
   } else if (is("forward") || is("backward")) {
      if (is("backward")) fetch.direction = FetchDirection::Backward;
      next();
      if (isFrom()) return;
      isManyRows = true;
      if (!reader_.current().is("all")) {
         reader_.pushBack();
         readCount();
         return;
      }
      fetch.count = Fetch::fetchAll;
   } else if (first.kind == WordKind::Variable && !is("next")) {
      reader_.pushBack(); // the cursor
      return;
   } else if (!is("next")) {
      reader_.pushBack();
      readCount();
      isManyRows = true;
      return;
   }
   reader_.next();
   if (!isFrom()) reader_.fail("expected FROM or IN");
}

/// Behind a bound cursor, through `until`.
std::optional<SqlText> Parser::parseArguments(VariableId cursor, std::string_view until) {
   const std::string name = program_.variables[cursor].name;
   const auto bound = program_.variables[cursor].cursor;
   const auto refuse = [&](const std::string& message) {
      throw reader_.error(sqlstate::syntaxError, message, reader_.current().raw.offset);
   };
   const bool hasParenthesis = reader_.next().is("(");
   if (!bound->hasArguments) {
      if (hasParenthesis) refuse("cursor \"" + name + "\" has no arguments");
      if (!reader_.current().is(until)) reader_.fail();
      return std::nullopt;
   }
   if (!hasParenthesis) refuse("cursor \"" + name + "\" has arguments");
   const size_t count = bound->arguments.size();
   const uint32_t begin = reader_.peekOffset();
   std::vector<std::optional<std::string>> given(count);
   bool isAnyNamed = false;
   for (size_t i = 0; i < count; ++i) {
      const uint32_t argumentOffset = reader_.peekOffset();
      const bool isNamed = reader_.peekIsWordThen(":=");
      isAnyNamed |= isNamed;
      const size_t number = isNamed ? argumentNumber(program_.variables[cursor], count) : i;
      if (given[number])
         throw reader_.error(sqlstate::syntaxError,
                             "value for parameter \"" + program_.variables[bound->arguments[number]].name +
                                 "\" of cursor \"" + name + "\" specified more than once",
                             argumentOffset);
      const uint32_t textsBefore = program_.textCount;
      given[number] = readSql({{",", ")"}, ",\" or \")", SqlForm::Expression}).text;
      program_.textCount = textsBefore;
      const bool isLast = i == count - 1;
      if (reader_.current().is(")") && !isLast) refuse("not enough arguments for cursor \"" + name + "\"");
      if (reader_.current().is(",") && isLast) refuse("too many arguments for cursor \"" + name + "\"");
   }
   std::string list;
   for (size_t i = 0; i < count; ++i) {
      if (i > 0) list += ", ";
      list += *given[i];
      if (isAnyNamed) list += " AS " + catalog::quoteIdentifier(program_.variables[bound->arguments[i]].name);
   }
   expect(until);
   return makeText(std::move(list), SqlForm::Expression, begin);
}

/// At `name :=`: which argument of the cursor it is.
size_t Parser::argumentNumber(const Variable& cursor, size_t count) {
   const Lookup lookupBefore = std::exchange(reader_.lookup, Lookup::Declare);
   const std::string name = reader_.next().names[0];
   reader_.lookup = lookupBefore;
   size_t number = 0;
   while (number < count && program_.variables[cursor.cursor->arguments[number]].name != name)
      ++number;
   if (number == count)
      throw reader_.error(sqlstate::syntaxError,
                          "cursor \"" + cursor.name + "\" has no argument named \"" + name + "\"",
                          reader_.current().raw.offset);
   expect(":=");
   return number;
}

Statement Parser::parseClose() {
   const uint32_t begin = reader_.current().raw.offset;
   const VariableId cursor = parseCursorVariable();
   expect(";");
   return statement(begin, CloseCursor{cursor});
}

Statement Parser::parseEndTransaction(bool isCommit) {
   const uint32_t begin = reader_.current().raw.offset;
   bool isChained = false;
   if (take("and")) {
      isChained = !take("no");
      expect("chain");
   }
   expect(";");
   program_.usesTransactions = true;
   return statement(begin, EndTransaction{isCommit, isChained});
}

} // namespace ouzel::sql::program
