#pragma once
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sql/algebra/rel.hpp"

// Runs logical algebra in the simplest way: nested loops, subqueries and dependent joins once per row. Rewrites are
// compared with its results. Supports int8 and boolean values and a few functions.

namespace ouzel::test {

using Cell = std::optional<int64_t>;
using Row = std::unordered_map<sql::ColumnId, Cell>;
using Tables = std::map<Oid, std::vector<std::vector<Cell>>>;

class Interpreter {
public:
   explicit Interpreter(const Tables& tables) : tables_(tables) {}
   std::vector<Row> run(const sql::Rel& rel, const Row& outer = {});
   Cell evaluate(const sql::Expr& expr, const Row& row);

private:
   bool holds(const sql::ExprPtr& predicate, const Row& row);
   std::vector<Row> join(const sql::Rel& rel, const Row& outer);
   std::vector<Row> groupBy(const sql::Rel& rel, const Row& outer);
   std::vector<Row> groupingSet(const sql::op::GroupBy& fields, const std::vector<uint32_t>& set,
                                const std::vector<Row>& inputs, const Row& outer);
   std::vector<Row> window(const sql::Rel& rel, const Row& outer);
   std::vector<Row> setOp(const sql::Rel& rel, const Row& outer);
   void sort(std::vector<Row>& rows, const std::vector<sql::SortKey>& keys);
   Cell subquery(const sql::Expr& expr, const Row& row);

   const Tables& tables_;
   std::map<uint32_t, std::vector<Row>> ctes_;
};

/// The rows projected to `columns` and sorted, so that equal bags give equal results.
std::vector<std::vector<Cell>> canonical(const std::vector<Row>& rows, const std::vector<sql::ColumnId>& columns);

} // namespace ouzel::test
