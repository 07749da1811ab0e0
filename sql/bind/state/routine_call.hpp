#pragma once
#include <optional>
#include <span>

#include "catalog/object/function.hpp"
#include "sql/bind/state/bind_state.hpp"

// Calls of functions that users wrote in SQL. As in PostgreSQL's planner, the query of the body takes the place of the
// call: in an expression a subquery, or an expression if the body is one, in FROM a derived table. So it is optimised
// as a part of the statement that calls it.

namespace ouzel::sql {

/// A call whose arguments are in the order of the parameters and have their types. A call with fewer arguments, or
/// those of another type, cannot be.
struct RoutineCall {
   catalog::FunctionPtr function;
   std::vector<ExprPtr> args;
   std::vector<Oid> declared; ///< types of the parameters, polymorphic ones resolved
   uint32_t position = 0;
};

/// Calls a function, built-in or of a user, with bound arguments; an array is given for a variadic parameter.
/// Implemented in expression/function_call.cpp.
ExprPtr callFunction(BindState& state, Scope& scope, const catalog::FunctionInfo& function, std::vector<ExprPtr> args,
                     uint32_t position);

/// The bodies of functions contain expressions and queries; the functions below are implemented in
/// function/routine.cpp. A call as a value: of a scalar type, or a row. For a function that returns a set: the
/// set-returning call of unnest() that gives its elements. Throws 0A000 for functions that need to be run.
ExprPtr routineValue(BindState& state, Scope& scope, RoutineCall call);
/// A record that the function has returned as a Row of its output parameters, so that they can be asked for.
/// `declared`: as in RoutineCall. Gives back the record of a function that has no output parameters.
ExprPtr fieldsOfRoutine(BindState& state, const catalog::Function& function, const std::vector<Oid>& declared,
                        ExprPtr record);

/// Whether an extension's function runs queries or tells of the server, which the session has to do. The others are
/// calls of kernels.
inline bool isRunBySession(const catalog::FunctionInfo& function) {
   return function.source.starts_with("tablefunc/") || function.source.starts_with("pg_stat_statements/") ||
          function.source.starts_with("postgres_fdw/");
}
/// Notes that the statement calls a function that is not built in, and where. `call`: null if the binder made it.
void noteRoutine(BindState& state, const ::FuncCall* call, const catalog::FunctionInfo& function);
/// Notes that the statement calls a built-in function, if not everybody may.
void noteBuiltin(BindState& state, const catalog::FunctionInfo& function);

/// The rows of a call in FROM. Empty: the function returns one value of a scalar type, which routineValue() gives.
struct RoutineRows {
   RelPtr rel;
   std::vector<OutputColumn> columns;
   bool isScalar = false;    ///< the column is the value itself, not a column of a row
   Oid rowType = invalidOid; ///< of the rows, if they are of a named type
};
/// `definitions`: of the columns of a function that returns record; null: none are given.
std::optional<RoutineRows> routineRows(BindState& state, const Scope& scope, RoutineCall& call,
                                       const ::List* definitions);

/// The arguments of a CALL as the only value of one row, a record; `called` learns what is called.
RoutineRows argumentsOf(BindState& state, const Scope& scope, RoutineCall call, CalledProcedure& called);

/// The value of a name in the body of a function that is no column: a parameter, or its field. Null: there is none of
/// the name.
ExprPtr parameterNamed(BindState& state, const ::ColumnRef& ref);

} // namespace ouzel::sql
