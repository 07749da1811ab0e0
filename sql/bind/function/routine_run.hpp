#pragma once
#include "sql/bind/function/routine_body.hpp"

// Functions of users that have to be run, because their bodies are more than a query.

namespace ouzel::sql {

/// Throws 0A000 `calling function f, <what>`.
[[noreturn]] void refuse(const RoutineCall& call, const std::string& what);
/// Whether an expression of the clause may have a subquery.
bool takesSubqueries(Clause clause);
/// unnest(array), a set-returning call.
ExprPtr elementsOf(ExprPtr array, const SqlType& element, uint32_t position);
/// Whether there are arrays of the type. Sets of others, of arrays and void, pass as arrays of rows of one field.
bool isElement(const SqlType& type);
/// A field of a row whose number and type are known.
ExprPtr fieldOf(ExprPtr row, size_t number, const SqlType& type);

/// As routineValue() and routineRows(). Throw 0A000 for what cannot be run.
ExprPtr runValue(BindState& state, Scope& scope, RoutineCall call);
RoutineRows runRows(BindState& state, const Scope& scope, RoutineCall& call, const RoutineResult& result);

} // namespace ouzel::sql
