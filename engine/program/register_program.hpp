#pragma once
#include <optional>
#include <string>

#include "executor/function/program/register_code.hpp"
#include "sql/bind/state/bind_state.hpp"
#include "sql/program/program.hpp"

namespace ouzel::engine {

/// A program with loops and branches over numbers, dates and booleans as code for registers, whose inputs are the
/// program's. Empty: it has something else; `why` says what. REQUIRES: its body is being bound (sql::InBody).
std::optional<executor::RegisterCode> registerCodeOf(sql::BindState& state, const sql::program::Program& program,
                                                     std::string& why);

} // namespace ouzel::engine
