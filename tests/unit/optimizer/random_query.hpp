#pragma once
#include <cstdint>

#include "sql/algebra/rel.hpp"

namespace ouzel::test {

/// Makes random queries over tables 1..3 with three int8 columns each, with all operators and kinds of joins, and
/// nested correlated subqueries. Results are deterministic: queries with a limit sort by all columns.
class RandomQuery {
public:
   explicit RandomQuery(uint64_t seed) : state_(seed * 2 + 1) {}

   sql::BoundQuery make(uint32_t depth);
   /// Makes a query of joins only, of `relations` tables and of the kinds that can be reordered.
   sql::BoundQuery makeJoins(uint32_t relations, bool outerJoins);
   /// Makes a query that groups such inner joins.
   sql::BoundQuery makeGroupedJoins(uint32_t relations);

private:
   using Columns = std::vector<sql::ColumnId>;
   uint32_t chance(uint32_t below);
   sql::ColumnId column(const char* name, bool nullable = true);
   sql::ExprPtr value(const Columns& scope);
   sql::ExprPtr predicate(const Columns& scope, const Columns& outer, uint32_t depth);
   sql::ExprPtr test(const Columns& scope, const Columns& outer, uint32_t depth);
   sql::ExprPtr subquery(const Columns& scope, uint32_t depth, bool isScalar);
   sql::RelPtr table(Columns& out);
   sql::RelPtr relation(Columns& out, const Columns& outer, uint32_t depth);
   sql::RelPtr group(Columns& out, const Columns& outer, uint32_t depth, bool isStatic);
   void addAggregates(sql::op::GroupBy& group, Columns& out, const Columns& in, const Columns& outer);
   sql::RelPtr limited(Columns& out, const Columns& outer, uint32_t depth, int64_t limit);

   uint64_t state_;
   sql::BoundQuery query_;
};

} // namespace ouzel::test
