#include "sql/program/parser.hpp"

namespace ouzel::sql::program {

Statement Parser::parseFor(const std::string& label) {
   const uint32_t begin = reader_.current().raw.offset;
   pushLabel(NameKind::LoopLabel, label);
   const ForVariable variable = parseForVariable();
   expect("in");
   const uint32_t id = program_.statementCount++; // a loop stands before its body
   StatementNode node = parseForControl(variable);
   LoopBody loop = parseLoopBody();
   const auto setBody = [&](auto& forLoop) {
      forLoop.label = label;
      forLoop.body = std::move(loop.body);
   };
   if (auto* range = std::get_if<ForRange>(&node))
      setBody(*range);
   else if (auto* query = std::get_if<ForQuery>(&node))
      setBody(*query);
   else if (auto* execute = std::get_if<ForExecute>(&node))
      setBody(*execute);
   else
      setBody(std::get<ForCursor>(node));
   const uint32_t line = reader_.lineOf(begin);
   checkLabels(label, loop.endLabel, loop.endLabelOffset);
   popLabel();
   return {line, id, std::move(node)};
}

Parser::ForVariable Parser::parseForVariable() {
   const Token token = reader_.next();
   const uint32_t offset = token.raw.offset;
   if (token.kind == WordKind::Dotted) throwNotVariable(reader_);
   if (token.kind != WordKind::Word && token.kind != WordKind::Variable) reader_.fail();
   ForVariable variable{token.dottedName(), offset, reader_.lineOf(offset), {}};
   const bool isList = reader_.peekIs(",");
   if (token.kind == WordKind::Word) {
      if (isList) throwNotVariable(reader_, token);
   } else if (isRow(token.variable)) {
      variable.target = {true, {token.variable}};
   } else if (isList) {
      variable.target = parseScalarList(token.variable, offset);
   } else {
      variable.target = {false, {token.variable}};
   }
   return variable;
}

/// Behind IN, through LOOP.
StatementNode Parser::parseForControl(const ForVariable& variable) {
   const Token first = reader_.next();
   if (first.is("execute")) return parseForExecute(variable);
   if (first.kind == WordKind::Variable && isRefcursor(first.variable)) return parseForCursor(variable, first.variable);
   const bool isReverse = first.isEvenIfVariable("reverse");
   if (!isReverse) reader_.pushBack();
   SqlText text = readSql({{"..", "loop"}, "LOOP", SqlForm::Expression, false});
   if (reader_.current().is("..")) {
      checkSql(text.text, SqlForm::Expression, text.offset);
      return parseForRange(variable, std::move(text), isReverse);
   }
   if (isReverse)
      throw reader_.error(sqlstate::syntaxError, "cannot specify REVERSE in query FOR loop", first.raw.offset);
   text.form = SqlForm::Statement;
   checkSql(text.text, SqlForm::Statement, text.offset);
   return ForQuery{{}, rowTarget(variable, sqlstate::syntaxError), std::move(text), {}};
}

StatementNode Parser::parseForExecute(const ForVariable& variable) {
   SqlText query = readExpression({"loop", "using"}, "LOOP or USING");
   ForExecute node{{}, rowTarget(variable, sqlstate::datatypeMismatch), std::move(query), {}, {}};
   if (reader_.current().is("using")) node.parameters = readList({",", "loop"}, ", or LOOP");
   return node;
}

StatementNode Parser::parseForCursor(const ForVariable& variable, VariableId cursor) {
   if (variable.target.variables.size() > 1)
      throw reader_.error(sqlstate::syntaxError, "cursor FOR loop must have only one target variable", variable.offset);
   if (!program_.variables[cursor].cursor)
      throw reader_.error(sqlstate::syntaxError, "cursor FOR loop must use a bound cursor variable",
                          reader_.current().raw.offset);
   ForCursor node{{}, noVariable, cursor, parseArguments(cursor, "loop"), {}};
   const DeclaredType row{{oid::record, -1, invalidOid, invalidOid}, TypeClass::Record};
   node.record = addVariable(variable.name, variable.line, row);
   return node;
}

/// Behind the dots.
StatementNode Parser::parseForRange(const ForVariable& variable, SqlText lower, bool isReverse) {
   SqlText upper = readExpression({"loop", "by"}, "LOOP");
   std::optional<SqlText> step;
   if (reader_.current().is("by")) step = readExpression({"loop"}, "LOOP");
   if (variable.target.variables.size() > 1)
      throw reader_.error(sqlstate::syntaxError, "integer FOR loop must have only one target variable",
                          variable.offset);
   const DeclaredType integer{{oid::int4, -1, invalidOid, invalidOid}, TypeClass::Scalar};
   const VariableId counter = addVariable(variable.name, variable.line, integer);
   return ForRange{{}, counter, isReverse, std::move(lower), std::move(upper), std::move(step), {}};
}

Target Parser::rowTarget(const ForVariable& variable, SqlState unknown) {
   const Target& target = variable.target;
   if (target.variables.empty())
      throw reader_.error(unknown,
                          "loop variable of loop over rows must be a record variable or list of scalar variables",
                          variable.offset);
   if (target.isRecord)
      checkAssignable(target.variables[0], variable.offset);
   else if (target.variables.size() == 1)
      return singleTarget(target.variables[0], variable.offset);
   return target;
}

Statement Parser::parseForEach(const std::string& label) {
   const uint32_t begin = reader_.current().raw.offset;
   pushLabel(NameKind::LoopLabel, label);
   const ForVariable variable = parseForVariable();
   uint32_t slice = 0;
   if (take("slice")) {
      if (reader_.next().raw.kind != TokenKind::Integer) reader_.fail();
      slice = static_cast<uint32_t>(std::stoul(std::string(reader_.current().text)));
   }
   expect("in");
   expect("array");
   SqlText array = readExpression({"loop"}, "LOOP");
   LoopBody loop = parseLoopBody();
   Statement result = statement(begin, ForEach{label, variable.target, slice, std::move(array), std::move(loop.body)});
   const Target& target = variable.target;
   if (target.variables.empty())
      throw reader_.error(sqlstate::syntaxError,
                          "loop variable of FOREACH must be a known variable or list of variables", variable.offset);
   if (target.variables.size() == 1) checkAssignable(target.variables[0], variable.offset);
   checkLabels(label, loop.endLabel, loop.endLabelOffset);
   popLabel();
   return result;
}

} // namespace ouzel::sql::program
