#include "sql/program/parser.hpp"

#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/parser.hpp"

namespace ouzel::sql::program {

Program Parser::run() {
   program_.name = source_.name;
   program_.signature = source_.signature;
   program_.kind = source_.kind;
   program_.returnsSet = source_.returnsSet;
   program_.returnType = source_.returnType;
   pushLabel(NameKind::BlockLabel, source_.name);
   addSignature();
   parseOptions();
   std::string label;
   if (take("<<")) label = takeLabel();
   if (const Token& first = reader_.next(); !first.is("declare") && !first.is("begin")) reader_.fail();
   reader_.pushBack();
   program_.block = parseBlock(label);
   take(";");
   if (!reader_.next().isEnd()) reader_.fail();
   setEndResult();
   return std::move(program_);
}

void Parser::parseOptions() {
   while (take("#")) {
      if (take("option")) {
         expect("dump");
      } else if (take("print_strict_params")) {
         const Token& value = reader_.next();
         if (value.kind != WordKind::Word && !value.isUnreserved()) reader_.fail();
         if (value.names[0] != "on" && value.names[0] != "off")
            throw SqlError(sqlstate::internalError, "unrecognized print_strict_params option " + value.names[0]);
         program_.printsStrictParameters = value.names[0] == "on";
      } else if (take("variable_conflict")) {
         const Token& value = reader_.next();
         if (value.is("error"))
            program_.variableConflict = VariableConflict::Error;
         else if (value.is("use_variable"))
            program_.variableConflict = VariableConflict::UseVariable;
         else if (value.is("use_column"))
            program_.variableConflict = VariableConflict::UseColumn;
         else
            reader_.fail();
      } else {
         reader_.next();
         reader_.fail();
      }
   }
}

Statement Parser::parseBlock(const std::string& label) {
   checkStack();
   pushLabel(NameKind::BlockLabel, label);
   Block block;
   block.label = label;
   if (take("declare")) block.declared = parseDeclarations();
   expect("begin");
   const uint32_t begin = reader_.current().raw.offset;
   block.body = parseStatements();
   if (take("exception")) parseHandlers(block);
   expect("end");
   uint32_t endLabelOffset = 0;
   const std::string endLabel = optionalEndLabel(endLabelOffset);
   Statement result = statement(begin, std::move(block));
   checkLabels(label, endLabel, endLabelOffset);
   popLabel();
   return result;
}

void Parser::parseHandlers(Block& block) {
   const uint32_t line = reader_.lineOf(reader_.current().raw.offset);
   const DeclaredType text{{oid::text, -1, defaultCollation, invalidOid}, TypeClass::Scalar};
   block.sqlstate = addVariable("sqlstate", line, text);
   block.sqlerrm = addVariable("sqlerrm", line, text);
   program_.variables[block.sqlstate].isConstant = program_.variables[block.sqlerrm].isConstant = true;
   expect("when");
   do {
      const uint32_t when = reader_.current().raw.offset;
      ExceptionHandler handler{0, parseConditions(), {}};
      handler.body = parseStatements();
      handler.line = reader_.lineOf(when);
      block.handlers.push_back(std::move(handler));
   } while (take("when"));
}

std::vector<Condition> Parser::parseConditions() {
   std::vector<Condition> conditions;
   do {
      const Token& name = reader_.next();
      if (!isLabelToken(name)) reader_.fail();
      if (name.names[0] == "sqlstate") {
         std::string code = sqlstateLiteral();
         conditions.push_back({code, code});
      } else {
         for (Condition& condition : conditionsNamed(name.names[0]))
            conditions.push_back(std::move(condition));
      }
   } while (take("or"));
   expect("then");
   return conditions;
}

Body Parser::parseStatements() {
   Body body;
   while (parseStatement(body))
      ;
   return body;
}

bool Parser::parseStatement(Body& body) {
   checkInterrupted();
   const Token first = reader_.next();
   switch (first.kind) {
   case WordKind::Variable: body.push_back(parseAssignment()); return true;
   case WordKind::Word:
   case WordKind::Dotted: parseSqlStatement(first, body); return true;
   case WordKind::Keyword:
      if (parseKeywordStatement(first, body)) return true;
      break;
   case WordKind::None:
      if (first.is("<<")) {
         parseLabeled(body);
         return true;
      }
      break;
   }
   reader_.pushBack();
   return false;
}

bool Parser::parseKeywordStatement(const Token& first, Body& body) {
   const std::string& word = first.names[0];
   if (word == "declare" || word == "begin") {
      reader_.pushBack();
      body.push_back(parseBlock({}));
      expect(";");
   } else if (word == "if")
      body.push_back(parseIf());
   else if (word == "case")
      body.push_back(parseCase());
   else if (word == "loop")
      body.push_back(parseLoop({}));
   else if (word == "while")
      body.push_back(parseWhile({}));
   else if (word == "for")
      body.push_back(parseFor({}));
   else if (word == "foreach")
      body.push_back(parseForEach({}));
   else if (word == "exit" || word == "continue")
      body.push_back(parseExit(word == "continue"));
   else if (word == "return")
      body.push_back(parseReturn());
   else if (word == "raise")
      body.push_back(parseRaise());
   else if (word == "assert")
      body.push_back(parseAssert());
   else if (word == "execute")
      body.push_back(parseExecute());
   else if (word == "perform")
      body.push_back(parsePerform());
   else if (word == "call" || word == "do")
      body.push_back(parseCall(word == "do"));
   else if (word == "get")
      body.push_back(parseGetDiagnostics());
   else if (word == "open")
      body.push_back(parseOpen());
   else if (word == "fetch" || word == "move")
      body.push_back(parseFetch(word == "move"));
   else if (word == "close")
      body.push_back(parseClose());
   else if (word == "commit" || word == "rollback")
      body.push_back(parseEndTransaction(word == "commit"));
   else if (word == "import" || word == "insert" || word == "merge")
      parseSqlStatement(first, body);
   else if (word == "null")
      expect(";");
   else
      return false;
   return true;
}

void Parser::parseLabeled(Body& body) {
   const std::string label = takeLabel();
   const Token& token = reader_.next();
   if (token.is("declare") || token.is("begin")) {
      reader_.pushBack();
      body.push_back(parseBlock(label));
      expect(";");
   } else if (token.is("loop"))
      body.push_back(parseLoop(label));
   else if (token.is("while"))
      body.push_back(parseWhile(label));
   else if (token.is("for"))
      body.push_back(parseFor(label));
   else if (token.is("foreach"))
      body.push_back(parseForEach(label));
   else
      reader_.fail();
}

std::string Parser::takeLabel() {
   const Token& token = reader_.next();
   if (!isLabelToken(token)) reader_.fail();
   std::string label = token.names[0];
   expect(">>");
   return label;
}

bool Parser::isLabelToken(const Token& token) const {
   if (token.kind == WordKind::Variable && token.isDotted()) reader_.fail();
   return token.kind == WordKind::Word || token.kind == WordKind::Variable || token.isUnreserved();
}

std::string Parser::optionalEndLabel(uint32_t& offset) {
   const Token& token = reader_.next();
   if (isLabelToken(token)) {
      offset = token.raw.offset;
      return token.names[0];
   }
   reader_.pushBack();
   return {};
}

void Parser::checkLabels(const std::string& begin, const std::string& end, uint32_t endOffset) {
   if (end.empty() || begin == end) return;
   if (begin.empty())
      throw reader_.error(sqlstate::syntaxError, "end label \"" + end + "\" specified for unlabeled block", endOffset);
   throw reader_.error(sqlstate::syntaxError, "end label \"" + end + "\" differs from block's label \"" + begin + "\"",
                       endOffset);
}

Statement Parser::statement(uint32_t offset, StatementNode node) {
   return {reader_.lineOf(offset), program_.statementCount++, std::move(node)};
}

VariableId Parser::addVariable(std::string name, uint32_t line, DeclaredType type, bool isNamed) {
   if (type.kind == TypeClass::Pseudo)
      throw SqlError(sqlstate::featureNotSupported,
                     "variable \"" + name + "\" has pseudo-type " + types_.nameOf(type.type));
   const auto id = static_cast<VariableId>(program_.variables.size());
   Variable variable;
   variable.kind = type.kind == TypeClass::Record ? VariableKind::Record : VariableKind::Scalar;
   variable.name = name;
   variable.line = line;
   variable.type = type;
   program_.variables.push_back(std::move(variable));
   if (isNamed) addName(isRow(id) ? NameKind::Record : NameKind::Scalar, std::move(name), id);
   return id;
}

void Parser::addName(NameKind kind, std::string name, VariableId variable) {
   reader_.scope = program_.names.add(kind, std::move(name), variable, reader_.scope);
}

void Parser::pushLabel(NameKind kind, const std::string& label) {
   addName(kind, label, noVariable);
}

std::string Parser::stringValue(const Token& token) const {
   const auto script = ParsedScript::parse("SELECT " + std::string(token.text));
   const auto* select = as<SelectStmt>(script.statements().at(0).node);
   const auto* constant = as<A_Const>(ListOf<ResTarget>(select->targetList).front()->val);
   return constant->val.sval.sval;
}

void Parser::expect(std::string_view what) {
   if (!reader_.next().is(what)) reader_.fail();
}

bool Parser::take(std::string_view what) {
   if (reader_.next().is(what)) return true;
   reader_.pushBack();
   return false;
}

bool Parser::isRefcursor(VariableId variable) const {
   const Variable& v = program_.variables[variable];
   return v.kind == VariableKind::Scalar && v.promise == Promise::None && v.type.type.named() == oid::refcursor;
}

} // namespace ouzel::sql::program
