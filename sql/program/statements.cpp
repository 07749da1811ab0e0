#include "sql/program/statements.hpp"

namespace ouzel::sql::program {

namespace {

struct Naming {
   std::string_view operator()(const Block&) const { return "statement block"; }
   std::string_view operator()(const Assignment&) const { return "assignment"; }
   std::string_view operator()(const If&) const { return "IF"; }
   std::string_view operator()(const Case&) const { return "CASE"; }
   std::string_view operator()(const Loop&) const { return "LOOP"; }
   std::string_view operator()(const While&) const { return "WHILE"; }
   std::string_view operator()(const ForRange&) const { return "FOR with integer loop variable"; }
   std::string_view operator()(const ForQuery&) const { return "FOR over SELECT rows"; }
   std::string_view operator()(const ForExecute&) const { return "FOR over EXECUTE statement"; }
   std::string_view operator()(const ForCursor&) const { return "FOR over cursor"; }
   std::string_view operator()(const ForEach&) const { return "FOREACH over array"; }
   std::string_view operator()(const Exit& exit) const { return exit.isContinue ? "CONTINUE" : "EXIT"; }
   std::string_view operator()(const Return&) const { return "RETURN"; }
   std::string_view operator()(const ReturnNext&) const { return "RETURN NEXT"; }
   std::string_view operator()(const ReturnQuery&) const { return "RETURN QUERY"; }
   std::string_view operator()(const Raise&) const { return "RAISE"; }
   std::string_view operator()(const Assert&) const { return "ASSERT"; }
   std::string_view operator()(const SqlStatement&) const { return "SQL statement"; }
   std::string_view operator()(const Perform&) const { return "PERFORM"; }
   std::string_view operator()(const Call& call) const { return call.isDo ? "DO" : "CALL"; }
   std::string_view operator()(const Execute&) const { return "EXECUTE"; }
   std::string_view operator()(const GetDiagnostics& get) const {
      return get.isStacked ? "GET STACKED DIAGNOSTICS" : "GET DIAGNOSTICS";
   }
   std::string_view operator()(const OpenCursor&) const { return "OPEN"; }
   std::string_view operator()(const Fetch& fetch) const { return fetch.isMove ? "MOVE" : "FETCH"; }
   std::string_view operator()(const CloseCursor&) const { return "CLOSE"; }
   std::string_view operator()(const EndTransaction& end) const { return end.isCommit ? "COMMIT" : "ROLLBACK"; }
};

} // namespace

std::string_view statementName(const Statement& statement) {
   return std::visit(Naming{}, statement.node);
}

} // namespace ouzel::sql::program
