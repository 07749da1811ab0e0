#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/program/run_routine.hpp"
#include "engine/query/command_context.hpp"

struct CallStmt;

namespace ouzel::engine {

/// A CALL as the query that it is: SELECT * FROM procedure(arguments). Valid while the statement lives. While it lives,
/// binding takes the procedure for a function.
class CallQuery {
public:
   /// `called`: learns what is called, and the query gives the arguments instead; null: it runs the procedure.
   CallQuery(SessionCore& core, const ::CallStmt& statement, sql::CalledProcedure* called = nullptr);
   ~CallQuery();
   CallQuery(const CallQuery&) = delete;
   const ::Node& node() const;

private:
   struct Nodes;
   SessionCore& core_;
   const ::FuncCall* const outer_;
   sql::CalledProcedure* const outerCalled_;
   std::unique_ptr<Nodes> nodes_;
};

/// A procedure with the arguments of a CALL, computed: a record.
struct PreparedCall {
   sql::CalledProcedure called;
   std::string arguments;
};
/// Computes the arguments of a CALL. No query is open at the return.
PreparedCall prepareCall(SessionCore& core, const sql::ParsedScript& script, const ::CallStmt& statement,
                         std::span<const BoundParameter> parameters);
/// Runs the procedure. The values of the row that it gives, in the order of its columns; empty: it gives none.
std::vector<Value> runCall(SessionCore& core, const PreparedCall& call, const RunCommand& runCommand,
                           MayEndTransactions mayEnd);

/// CALL: runs the procedure. Its output parameters are a row for the client.
std::string callProcedure(CommandContext& context, const ::CallStmt& statement, const RunCommand& runCommand);

} // namespace ouzel::engine
