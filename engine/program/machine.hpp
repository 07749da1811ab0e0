#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/program/compiled_text.hpp"
#include "engine/program/program_query.hpp"
#include "engine/program/results.hpp"
#include "engine/program/run_routine.hpp"
#include "engine/program/variables.hpp"

struct FuncCall;

namespace ouzel::engine {

/// Runs a PL/pgSQL program once, statement by statement, on the session's thread. One object for each call.
///
/// Every error that leaves a statement gets a line of context: function, line and statement. A block with handlers is
/// a subtransaction: an error that a handler takes undoes what the block has written.
class Machine {
public:
   /// `texts`: of the program. `function`: null for DO. `results` get what RETURN, RETURN NEXT and RETURN QUERY give.
   Machine(SessionCore& core, const sql::program::Program& program, CompiledTexts& texts,
           const catalog::Function* function, const RunCommand& runCommand, Results& results,
           MayEndTransactions mayEnd = MayEndTransactions::No);

   /// Sets an argument, whose value has its type.
   void setInput(size_t index, TypedValue value);
   /// Sets OLD, NEW and what TG_... tell of the call of a trigger function (machine_trigger.cpp).
   void setTrigger(const TriggerCall& call);
   /// Sets TG_EVENT and TG_TAG of the function of an event trigger (machine_trigger.cpp).
   void setEvent(std::string_view event, std::string_view tag);
   void run();

private:
   enum class Flow : uint8_t { Next, Exit, Continue, Return };
   using Statement = sql::program::Statement;
   using SqlText = sql::program::SqlText;
   using Target = sql::program::Target;
   using VariableId = sql::program::VariableId;

   // machine.cpp: control
   Flow runBody(const sql::program::Body& body);
   Flow runStatement(const Statement& statement);
   Flow run(const sql::program::Block& block);
   Flow runHandled(const sql::program::Block& block);
   Flow run(const sql::program::If& node);
   Flow run(const sql::program::Case& node);
   Flow run(const sql::program::Loop& node);
   Flow run(const sql::program::While& node);
   Flow run(const sql::program::ForRange& node);
   Flow run(const sql::program::ForQuery& node);
   Flow run(const sql::program::ForExecute& node);
   Flow run(const sql::program::ForEach& node);
   Flow run(const sql::program::Exit& node);
   Flow forRows(const std::string& label, const Target& target, RowStream& stream, const sql::program::Body& body);
   void requireLoopVariable(const sql::program::ForEach& node, Oid element) const;
   /// What becomes of a loop with this label when its body ends so; none: it goes on.
   std::optional<Flow> leavesLoop(Flow flow, const std::string& label);
   void declare(VariableId id);

   // machine_sql.cpp: expressions, queries, assignments
   Flow run(const sql::program::Assignment& node);
   Flow run(const sql::program::Return& node);
   Flow run(const sql::program::ReturnNext& node);
   Flow run(const sql::program::ReturnQuery& node);
   Flow run(const sql::program::SqlStatement& node);
   Flow run(const sql::program::Perform& node);
   Flow run(const sql::program::Execute& node);
   /// The text with what it has to be executed.
   ProgramQuery queryOf(const SqlText& text, std::span<const SqlType> types = {});
   /// The code of an expression whose value of the type needs registers only; null: it has to be executed otherwise.
   ScalarCode* scalarCode(const SqlText& text, const SqlType& type) const {
      const CompiledText* compiled = texts_.find(text.id);
      return compiled && text.form == sql::program::SqlForm::Expression ? compiled->scalar(core_, variables_, type)
                                                                        : nullptr;
   }
   /// The same, compiled now if it can be.
   ScalarCode* preparedScalar(const SqlText& text, const SqlType& type);
   QueryRows query(const SqlText& text, std::span<const SqlType> types = {}, uint64_t rowsMax = 0,
                   const sql::PartTarget* part = nullptr);
   QueryRows dynamicQuery(const SqlText& command, const std::vector<SqlText>& parameters,
                          std::span<const SqlType> types = {});
   /// What EXECUTE runs, and the values of USING.
   struct DynamicText {
      std::string sql;
      std::vector<BoundParameter> parameters;
   };
   DynamicText dynamicText(const SqlText& command, const std::vector<SqlText>& parameters);
   /// The same, to be read in pieces.
   std::unique_ptr<RowStream> open(const SqlText& text, std::span<const SqlType> types);
   std::unique_ptr<RowStream> open(const ProgramQuery& query, const std::string& text);
   std::unique_ptr<RowStream> openDynamic(const SqlText& command, const std::vector<SqlText>& parameters,
                                          std::span<const SqlType> types);
   /// The value of an expression; none for `type`: as it is.
   /// `part`: the value becomes this part, and the result is the whole.
   TypedValue evaluate(const SqlText& text, std::optional<SqlType> type, const sql::PartTarget* part = nullptr);
   std::vector<TypedValue> evaluateRow(const SqlText& text);
   bool isTrue(const SqlText& condition);
   int64_t integer(const SqlText& text, const char* what);
   void assign(VariableId id, const SqlText& value);
   TypedValue casted(TypedValue value, const SqlType& type);
   /// Casts a value to the variable's type.
   void assignValue(VariableId id, TypedValue value);
   void assignPart(const sql::program::Assignment& node);
   /// Assigns to an element of an array in place. False: it has to be done otherwise; nothing has happened.
   bool assignElement(const sql::program::Assignment& node);
   /// Puts a row in the target, or NULLs if there is none.
   void assignRow(const Target& target, const QueryRows& rows, size_t row);
   /// Puts a value in the target: a row field by field.
   void assignFields(const Target& target, TypedValue value);
   std::vector<SqlType> typesOf(const Target& target) const;
   void into(const Target& target, const QueryRows& rows, bool isStrict, bool writes);
   /// The values of a result; none: a row that is NULL. `isCast`: a value that is no row has the function's type.
   std::optional<std::vector<TypedValue>> valuesOf(const sql::program::Result& result, bool isCast);
   /// Keeps what the program returns when it ends.
   void keepReturned(const sql::program::Result& result);
   /// The program has ended: casts what was returned, and gives it.
   void giveReturned();
   bool returnsRow() const;
   void setFound(bool found, uint64_t rows);

   // machine_report.cpp: messages and diagnostics
   Flow run(const sql::program::Raise& node);
   Flow run(const sql::program::Assert& node);
   Flow run(const sql::program::GetDiagnostics& node);
   /// The value as its type's output function writes it; nothing: NULL.
   std::optional<std::string> output(const SqlText& text);

   // machine_call.cpp
   Flow run(const sql::program::Call& node);
   Flow run(const sql::program::EndTransaction& node);
   void runCalled(const ProgramQuery& query, const CompiledText& text);
   /// The variables that take the output parameters, in their order.
   std::vector<ParameterSource> callTargets(const ProgramQuery& query, const ::FuncCall& call,
                                            const catalog::Function& procedure);
   std::optional<ParameterSource> writableVariable(const ProgramQuery& query, const ::Node* argument);

   // machine_cursor.cpp
   Flow run(const sql::program::OpenCursor& node);
   Flow run(const sql::program::Fetch& node);
   Flow run(const sql::program::CloseCursor& node);
   Flow run(const sql::program::ForCursor& node);
   Flow forFetched(const sql::program::ForCursor& node, const std::string& cursor);
   /// The name that the variable has; throws 22004 if it has none.
   std::string cursorNamed(VariableId id) const;
   void requireUnused(VariableId id) const;
   void openBound(VariableId id, const std::optional<SqlText>& arguments);
   void openCursor(VariableId id, const ProgramQuery& query, const std::string& text,
                   sql::program::Scrolling scrolling);
   std::string contextLine() const;

   SessionCore& core_;
   const sql::program::Program& program_;
   CompiledTexts& texts_;
   const catalog::Function* const function_;
   const RunCommand& runCommand_;
   Results& results_;
   const MayEndTransactions mayEnd_;
   Variables variables_;
   const Statement* current_ = nullptr;      ///< that runs, or has failed
   const char* phase_ = nullptr;             ///< what the program does apart from its statements; null: it runs them
   uint32_t phaseLine_ = 0;                  ///< 0: none
   const std::string* assignment_ = nullptr; ///< text of the one that runs
   std::string exitLabel_;
   uint64_t rowCount_ = 0;
   bool mayBeHandled_ = false; ///< the body of a block with handlers runs
   struct Returned {
      std::vector<TypedValue> values;
      bool isCast; ///< has the function's type if it is no row
   };
   std::optional<Returned> returned_;     ///< by RETURN; none: nothing, or a row that is NULL
   std::vector<const SqlError*> handled_; ///< errors whose handlers run, outermost first
};

} // namespace ouzel::engine
