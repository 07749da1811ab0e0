#pragma once
#include <optional>
#include <string>

#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/state/bound_rel.hpp"
#include "sql/program/program.hpp"

// Programs without loops as queries of one row, which take the place of a call as bodies in SQL do and are optimised
// with the statement around it (Ramachandra et al. 2017, "Froid"; Hirn & Grust 2020, "PL/SQL Without the PL"): values
// of variables are computed columns, IF is CASE, and SELECT INTO a subquery. A value is computed in just those rows in
// which the program would compute it, so that errors stay the same.

namespace ouzel::sql::program {

/// The query, with one column of the type that the program returns. `arguments`: the values of the program's inputs,
/// which are columns. Empty: the program has something that only execution can do; `why` says what: "it has a loop".
/// Names are bound with the program's variables; REQUIRES that nothing else is visible (InBody).
std::optional<BoundRel> compileProgram(BindState& state, const Program& program, std::span<const ExprPtr> arguments,
                                       std::string& why);

} // namespace ouzel::sql::program
