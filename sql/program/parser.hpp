#pragma once
#include <initializer_list>

#include "sql/program/parse_program.hpp"
#include "sql/program/token_reader.hpp"

// The grammar of PL/pgSQL by recursive descent. Functions named parse... begin behind the keyword that led to them and
// end behind the last token of their construct.

namespace ouzel::sql::program {

class Parser {
public:
   Parser(const ProgramSource& source, const TypeSource& types)
      : source_(source), types_(types), reader_(source.body, program_) {}

   Program run();
   /// The line that reports of errors without position name.
   uint32_t latestLine() const { return reader_.latestLine(); }

private:
   /// Where an SQL text ends and what it must be.
   struct Reading {
      std::initializer_list<std::string_view> until;
      std::string_view expected; ///< what errors name in place of `until`
      SqlForm form = SqlForm::Expression;
      bool isChecked = true;
   };
   struct ForVariable {
      std::string name;
      uint32_t offset, line;
      Target target; ///< empty: no variable has the name
   };
   struct LoopBody {
      Body body;
      std::string endLabel;
      uint32_t endLabelOffset;
   };

   // parser_signature.cpp: what the body finds declared
   void addSignature();
   void addArguments();
   VariableId addArgument(const ProgramArgument& argument, size_t number);
   void addTriggerVariables();
   void addEventVariables();
   void setEndResult();

   // parser.cpp: blocks and labels
   void parseOptions();
   Statement parseBlock(const std::string& label);
   void parseHandlers(Block& block);
   std::vector<Condition> parseConditions();
   Body parseStatements();
   bool parseStatement(Body& body);
   bool parseKeywordStatement(const Token& first, Body& body);
   void parseLabeled(Body& body);
   std::string takeLabel();
   std::string optionalEndLabel(uint32_t& offset);
   void checkLabels(const std::string& begin, const std::string& end, uint32_t endOffset);

   // parser_declare.cpp
   std::vector<VariableId> parseDeclarations();
   void parseDeclaration();
   void parseAlias(const std::string& name);
   void parseCursor(const std::string& name, uint32_t line);
   void parseVariable(const std::string& name, uint32_t line);
   std::string declaredName();
   void parseCursorArguments(BoundCursor& cursor);
   DeclaredType parseType();
   std::optional<DeclaredType> parseReferredType(const std::vector<std::string>& names);
   Oid parseCollation(uint32_t& offset);
   DeclaredType typeOfText(uint32_t begin, uint32_t end);

   // parser_control.cpp: IF, CASE, LOOP, WHILE, EXIT
   Statement parseIf();
   Statement parseCase();
   Statement parseLoop(const std::string& label);
   Statement parseWhile(const std::string& label);
   Statement parseExit(bool isContinue);
   LoopBody parseLoopBody();
   void hideOperand(Case& node, uint32_t line);

   // parser_for.cpp
   Statement parseFor(const std::string& label);
   Statement parseForEach(const std::string& label);
   ForVariable parseForVariable();
   StatementNode parseForControl(const ForVariable& variable);
   StatementNode parseForExecute(const ForVariable& variable);
   StatementNode parseForCursor(const ForVariable& variable, VariableId cursor);
   StatementNode parseForRange(const ForVariable& variable, SqlText lower, bool isReverse);
   Target rowTarget(const ForVariable& variable, SqlState unknown);

   // parser_sql.cpp: SQL texts and statements of them
   SqlText readSql(const Reading& reading);
   SqlText readExpression(std::initializer_list<std::string_view> until, std::string_view expected);
   SqlText readStatementText();
   SqlText makeText(std::string text, SqlForm form, uint32_t offset);
   void checkSql(std::string_view text, SqlForm form, uint32_t offset) const;
   std::vector<SqlText> readList(std::initializer_list<std::string_view> untilOrComma, std::string_view expected);
   void parseSqlStatement(const Token& first, Body& body);
   Statement parsePerform();
   Statement parseCall(bool isDo);
   Statement parseExecute();

   // parser_assign.cpp
   Statement parseAssignment();
   std::vector<TargetStep> parseTargetSteps(const SqlText& whole, size_t nameCount, uint32_t& valueBegin);
   TargetStep subscript(const SqlText& whole, std::initializer_list<uint32_t> bounds);

   // parser_target.cpp: variables that are written
   void checkAssignable(VariableId variable, uint32_t offset) const;
   Target parseInto(bool* isStrict);
   Target parseScalarList(VariableId first, uint32_t offset);
   Target singleTarget(VariableId variable, uint32_t offset);
   bool isRow(VariableId variable) const { return program_.variables[variable].kind == VariableKind::Record; }

   // parser_return.cpp
   Statement parseReturn();
   Statement parseReturnNext(uint32_t offset);
   Statement parseReturnQuery(uint32_t offset);
   Result returnedValue();
   Result outputResult() const;

   // parser_report.cpp: RAISE, ASSERT, GET DIAGNOSTICS
   Statement parseRaise();
   void parseRaiseMessage(Raise& raise);
   void parseRaiseCondition(Raise& raise);
   void parseRaiseOptions(Raise& raise);
   Statement parseAssert();
   Statement parseGetDiagnostics();
   DiagnosticItem diagnosticItem();
   VariableId diagnosticTarget();
   std::string sqlstateLiteral();

   // parser_cursor.cpp
   VariableId parseCursorVariable();
   Statement parseOpen();
   Statement parseFetch(bool isMove);
   void parseDirection(Fetch& fetch, bool& isManyRows);
   std::optional<SqlText> parseArguments(VariableId cursor, std::string_view until);
   size_t argumentNumber(const Variable& cursor, size_t number);
   Statement parseClose();
   Statement parseEndTransaction(bool isCommit);

   Statement statement(uint32_t offset, StatementNode node);
   VariableId addVariable(std::string name, uint32_t line, DeclaredType type, bool isNamed = true);
   void addName(NameKind kind, std::string name, VariableId variable);
   void pushLabel(NameKind kind, const std::string& label);
   void popLabel() { reader_.scope = program_.names.outer(reader_.scope); }
   bool isLabelToken(const Token& token) const;
   std::string stringValue(const Token& token) const;
   /// Reads the next token, which must be this one.
   void expect(std::string_view what);
   /// Takes the next token if it is this one.
   bool take(std::string_view what);
   bool isRefcursor(VariableId variable) const;

   const ProgramSource& source_;
   const TypeSource& types_;
   Program program_;
   TokenReader reader_;
   uint32_t rowCount_ = 0; ///< lists of variables, which PostgreSQL numbers among the variables
};

} // namespace ouzel::sql::program
