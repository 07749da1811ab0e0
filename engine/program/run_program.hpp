#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalog/object/function.hpp"
#include "engine/core/program_cache.hpp"
#include "engine/program/run_routine.hpp"
#include "engine/query/command_context.hpp"

struct DoStmt;

namespace ouzel::engine {

/// Throws for what is wrong with a new function in PL/pgSQL. `checksBody`: with its body, too, whose types and tables
/// have to be there.
void checkProgram(CommandContext& context, const catalog::FunctionDefinition& function, bool checksBody);
/// The parsed body of a function in PL/pgSQL, for arguments of these types.
const ProgramCache::Loaded& loadProgram(SessionCore& core, const catalog::FunctionPtr& function,
                                        const std::vector<Oid>& types);
/// The rows that a function in PL/pgSQL gives: see runRoutine(). `expected`: see Results.
std::vector<std::string> runProgram(SessionCore& core, const catalog::FunctionPtr& function,
                                    std::span<const BoundParameter> args,
                                    const std::optional<std::vector<SqlType>>& expected, const RunCommand& runCommand,
                                    MayEndTransactions mayEnd);
/// The row that a trigger function in PL/pgSQL returns, as a record of the table's live columns; none: NULL.
std::optional<std::string> runTriggerProgram(SessionCore& core, const catalog::FunctionPtr& function,
                                             const TriggerCall& call, const RunCommand& runCommand);
void runEventProgram(SessionCore& core, const catalog::FunctionPtr& function, std::string_view event,
                     std::string_view tag, const RunCommand& runCommand);
/// DO.
std::string runDo(CommandContext& context, const ::DoStmt& statement, const RunCommand& runCommand,
                  MayEndTransactions mayEnd);

} // namespace ouzel::engine
