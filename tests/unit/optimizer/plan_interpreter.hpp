#pragma once
#include "sql/plan/plan.hpp"
#include "tests/unit/optimizer/interpreter.hpp"

namespace ouzel::test {

/// Runs plans in the simplest way, as plan.hpp defines them. Rows have exactly the columns of each node's output.
class PlanInterpreter {
public:
   explicit PlanInterpreter(const Tables& tables) : tables_(tables), exprs_(tables) {}
   std::vector<Row> run(const sql::plan::Node& node);

private:
   std::vector<Row> join(const sql::plan::Node& node);
   std::vector<Row> aggregate(const sql::plan::Node& node);
   bool holds(const std::vector<sql::ExprPtr>& predicates, const Row& row);

   const Tables& tables_;
   Interpreter exprs_;
   std::map<uint32_t, std::vector<Row>> ctes_;
};

} // namespace ouzel::test
