#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/command_context.hpp"
#include "sql/parse/parser.hpp"

// Functions of users that cannot become a part of the statement that calls them: their statements run one after the
// other, inside the statement and its transaction, on the session's thread.

namespace ouzel::engine {

struct TriggerCall; // engine/core/trigger_call.hpp

/// Runs a statement that is no query. What it tells goes to the sink; null: nowhere.
using RunCommand = std::function<void(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                                      std::span<const BoundParameter> parameters, ResultSink* sink)>;

/// Whether a program may COMMIT and ROLLBACK: one that the client has called outside a block, with nothing around it
/// that is under way.
enum class MayEndTransactions : bool { No, Yes };
/// Whether the programs that the command calls may.
MayEndTransactions mayEndTransactions(const CommandContext& context);

/// The rows that a function gives. `args`: a row with the arguments and, for a function that returns records of any
/// kind, a row of NULLs whose types its columns are to have, if these are known: see
/// executor::SessionFunctions::runRoutine(). Throws what its statements throw.
std::vector<std::string> runRoutine(SessionCore& core, Oid routine, std::string_view args, const RunCommand& runCommand,
                                    MayEndTransactions mayEnd = MayEndTransactions::No);
/// Calls the function of a trigger. The row that a row trigger returns, as a record of the table's live columns; none:
/// it returns NULL.
std::optional<std::string> runTrigger(SessionCore& core, const TriggerCall& call, const RunCommand& runCommand);

/// Calls the function of an event trigger.
void runEventTrigger(SessionCore& core, Oid function, std::string_view event, std::string_view tag,
                     const RunCommand& runCommand);

} // namespace ouzel::engine
