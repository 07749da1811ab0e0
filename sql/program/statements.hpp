#pragma once
#include <variant>

#include "sql/program/conditions.hpp"
#include "sql/program/variables.hpp"

// The statements of a program. NULL is none.

namespace ouzel::sql::program {

struct Statement;
using Body = std::vector<Statement>;

/// Where INTO, FOR and FETCH put a row.
struct Target {
   bool isRecord = false;             ///< the one variable takes the row; otherwise each takes a column
   std::vector<VariableId> variables; ///< empty: there is no target
};

struct ExceptionHandler {
   uint32_t line;
   std::vector<Condition> conditions;
   Body body;
};
struct Block {
   std::string label;                ///< empty: none
   std::vector<VariableId> declared; ///< set to their initial values whenever the block begins, in this order
   Body body;
   std::vector<ExceptionHandler> handlers;                 ///< if there are any, the body is a subtransaction
   VariableId sqlstate = noVariable, sqlerrm = noVariable; ///< set for the handlers
};

/// A part of the target behind the variable: `.field`, `[upper]` or `[lower:upper]`.
struct TargetStep {
   std::string field; ///< empty: a subscript
   bool isSlice = false;
   std::optional<SqlText> lower, upper;
};
struct Assignment {
   VariableId target;
   std::vector<TargetStep> steps;
   SqlText value;
   std::string text; ///< the whole, for CONTEXT: PL/pgSQL assignment "..."
};

struct If {
   struct Branch {
      uint32_t line;
      SqlText condition;
      Body body;
   };
   std::vector<Branch> branches; ///< IF and each ELSIF
   Body otherwise;
};
struct Case {
   std::optional<SqlText> operand;
   VariableId variable = noVariable; ///< hidden, holds the operand; the conditions read "variable IN (...)"
   std::vector<If::Branch> branches;
   bool hasElse; ///< without it and without a true branch: 20000
   Body otherwise;
};

struct Loop {
   std::string label;
   Body body;
};
struct While {
   std::string label;
   SqlText condition;
   Body body;
};
struct ForRange {
   std::string label;
   VariableId variable; ///< an integer of the loop's own
   bool isReverse;
   SqlText lower, upper;
   std::optional<SqlText> step;
   Body body;
};
struct ForQuery {
   std::string label;
   Target target;
   SqlText query;
   Body body;
};
struct ForExecute {
   std::string label;
   Target target;
   SqlText query; ///< an expression that gives it
   std::vector<SqlText> parameters;
   Body body;
};
struct ForCursor {
   std::string label;
   VariableId record; ///< of the loop's own
   VariableId cursor;
   std::optional<SqlText> arguments; ///< an expression of as many columns as the cursor has arguments, in their order
   Body body;
};
struct ForEach {
   std::string label;
   Target target;
   uint32_t slice; ///< dimensions of what the target gets; 0: elements
   SqlText array;
   Body body;
};

struct Exit {
   bool isContinue;
   std::string label; ///< empty: the innermost loop
   std::optional<SqlText> condition;
};

enum class ResultKind : uint8_t { Nothing, Expression, Variable, OutputParameters };
struct Result {
   ResultKind kind = ResultKind::Nothing;
   std::optional<SqlText> expression;
   VariableId variable = noVariable; ///< also the one output parameter of a function that has one
};
struct Return {
   Result result;
};
struct ReturnNext {
   Result result;
};
struct ReturnQuery {
   std::optional<SqlText> query;
   std::optional<SqlText> dynamicQuery; ///< after EXECUTE: an expression that gives it
   std::vector<SqlText> parameters;
};

enum class RaiseLevel : uint8_t { Debug, Log, Info, Notice, Warning, Exception };
enum class RaiseOption : uint8_t { ErrorCode, Message, Detail, Hint, Column, Constraint, DataType, Table, Schema };
struct Raise {
   RaiseLevel level = RaiseLevel::Exception;
   bool isRethrow = false;             ///< RAISE; alone
   std::string condition;              ///< a name, or an SQLSTATE; empty: none
   std::optional<std::string> message; ///< each % in it, but not %%, stands for a parameter
   std::vector<SqlText> parameters;
   std::vector<std::pair<RaiseOption, SqlText>> options;
};
struct Assert {
   SqlText condition;
   std::optional<SqlText> message;
};

struct SqlStatement {
   SqlText sql;
   bool hasInto, isStrict;
   Target target;
};
struct Perform {
   SqlText query; ///< with SELECT in place of PERFORM
};
struct Call {
   SqlText sql;
   bool isDo;
};
struct Execute {
   SqlText command; ///< an expression that gives it
   bool hasInto = false, isStrict = false;
   Target target;
   std::vector<SqlText> parameters;
};

enum class DiagnosticItem : uint8_t {
   RowCount,
   Context,
   ExceptionContext,
   ExceptionDetail,
   ExceptionHint,
   ReturnedSqlstate,
   ColumnName,
   ConstraintName,
   DataTypeName,
   MessageText,
   TableName,
   SchemaName,
};
struct GetDiagnostics {
   bool isStacked;
   std::vector<std::pair<VariableId, DiagnosticItem>> items;
};

struct OpenCursor {
   VariableId cursor;
   Scrolling scrolling = Scrolling::Unsaid;
   std::optional<SqlText> query, dynamicQuery;
   std::vector<SqlText> parameters;  ///< of the dynamic query
   std::optional<SqlText> arguments; ///< of a bound cursor: as in ForCursor
};
enum class FetchDirection : uint8_t { Forward, Backward, Absolute, Relative };
struct Fetch {
   VariableId cursor = noVariable;
   bool isMove = false;
   FetchDirection direction = FetchDirection::Forward;
   int64_t count = 1; ///< fetchAll: all rows that remain
   std::optional<SqlText> countExpression;
   Target target;

   static constexpr int64_t fetchAll = INT64_MAX;
};
struct CloseCursor {
   VariableId cursor;
};
struct EndTransaction {
   bool isCommit, isChained;
};

using StatementNode = std::variant<Block, Assignment, If, Case, Loop, While, ForRange, ForQuery, ForExecute, ForCursor,
                                   ForEach, Exit, Return, ReturnNext, ReturnQuery, Raise, Assert, SqlStatement, Perform,
                                   Call, Execute, GetDiagnostics, OpenCursor, Fetch, CloseCursor, EndTransaction>;

struct Statement {
   uint32_t line; ///< in the body, from 1
   uint32_t id;   ///< counted from 0 in a program
   StatementNode node;
};

/// "assignment", "FOR with integer loop variable": as CONTEXT lines name the statement.
std::string_view statementName(const Statement& statement);

} // namespace ouzel::sql::program
