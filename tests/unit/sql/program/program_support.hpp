#pragma once
#include <string>
#include <vector>

#include "sql/bind/state/bind_context.hpp"
#include "sql/program/parse_program.hpp"

namespace ouzel::sql::program {

/// The program of a CREATE FUNCTION, CREATE PROCEDURE or DO in PL/pgSQL.
Program parseDefinition(std::string_view statement, const BindContext& context);

/// Its statements as text, one a line, indented; variables and SQL texts stand for themselves.
std::string describe(const Program& program);

} // namespace ouzel::sql::program
