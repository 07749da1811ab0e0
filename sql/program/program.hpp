#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sql/program/statements.hpp"

// A PL/pgSQL function, procedure, trigger function or DO block as a tree that nothing has been executed of yet. It does
// not change after it is made, so that sessions may share it: whoever executes it keeps values and compiled texts in
// arrays beside it, by the ids of variables, texts and statements.

namespace ouzel::sql::program {

enum class ProgramKind : uint8_t { Function, Procedure, Trigger, EventTrigger, DoBlock };
/// What a name means in a text that is both a variable and a column: #variable_conflict.
enum class VariableConflict : uint8_t { Error, UseVariable, UseColumn };

struct Program {
   std::string name;
   std::string signature; ///< for the context of errors: "f(integer)"
   ProgramKind kind = ProgramKind::Function;
   bool returnsSet = false;
   DeclaredType returnType;

   std::vector<Variable> variables;
   Names names;
   /// Variables of the IN, INOUT and VARIADIC arguments, in the order of a call.
   std::vector<VariableId> inputs;
   /// Variables of the OUT, INOUT and TABLE arguments. A RETURN without an expression gives their values.
   std::vector<VariableId> outputs;
   VariableId found = noVariable;
   VariableId newRow = noVariable, oldRow = noVariable; ///< of a trigger on a table
   Statement block{};                                   ///< a Block

   /// Whether control may reach the end of the block, which is then a RETURN with `endResult`: 2F005 otherwise.
   bool mayReachEnd = false;
   Result endResult;

   std::optional<VariableConflict> variableConflict; ///< none: the setting plpgsql.variable_conflict
   std::optional<bool> printsStrictParameters;       ///< none: the setting plpgsql.print_strict_params
   bool usesTransactions = false;                    ///< has CALL, DO, COMMIT or ROLLBACK
   uint32_t textCount = 0, statementCount = 0;
};

} // namespace ouzel::sql::program
