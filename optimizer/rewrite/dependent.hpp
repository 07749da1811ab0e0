#pragma once
#include <vector>

#include "optimizer/query/query.hpp"

// The general way of unnesting: instead of running the right side of a dependent join once per left row, run it once
// over the domain, the set of distinct values that its correlated columns take on the left (Neumann & Kemper 2015).

namespace ouzel::optimizer {

/// Take the conjuncts that read `outer` columns out of the top of `rel`, where pulling them up does not change what
/// they mean: through filters, projections, inner joins, preserved sides.
void pullPredicates(RelPtr& rel, const ColumnSet& outer, std::vector<ExprPtr>& pulled);

/// Let the aggregates of a group without keys be NULL over no rows: those that are not (count: 0) get another column.
/// Returns what restores them: the old column := coalesce(new column, default).
std::vector<sql::ComputedColumn> emptyGroupDefaults(Rel& group, Query& query);

/// Which columns of an unnested right side hold the values of which correlated columns.
struct MappedColumn {
   ColumnId outer, inner;
   bool notNull; ///< no row has NULL in `inner`
};
class ColumnMapping {
public:
   const MappedColumn* find(ColumnId outer) const {
      for (const MappedColumn& column : columns_)
         if (column.outer == outer) return &column;
      return nullptr;
   }
   void add(ColumnId outer, ColumnId inner, bool notNull) {
      if (!find(outer)) columns_.push_back({outer, inner, notNull});
   }
   const std::vector<MappedColumn>& columns() const { return columns_; }

private:
   std::vector<MappedColumn> columns_;
};

/// One dependent join being taken apart. Refers to the join, whose left input it copies or shares (as a CTE) to make
/// domains. Where an equality with a column of the right side gives the values, no domain is made at all: the right
/// side then also has rows of values that the left does not have, which the final join drops.
class Dependence {
public:
   /// `columns`: those of the left input that the right side reads.
   Dependence(Rel& join, const std::vector<ColumnId>& columns, Query& query);

   /// Make `rel` independent. The result has, for every combination of values in the domain, the rows `rel` has for it,
   /// with these values in the columns of `mapping` (those that `rel` reads).
   RelPtr push(RelPtr rel, ColumnMapping& mapping);
   /// The same for a GroupBy without keys, but values without rows give no group.
   RelPtr pushGroup(RelPtr group, ColumnMapping& mapping);
   /// left column = mapped column for all that are mapped.
   ExprPtr joinPredicate(const ColumnMapping& mapping, const std::vector<ColumnId>& columns) const;
   /// Put what is shared above the finished join.
   RelPtr finish(RelPtr join);

private:
   std::vector<ColumnId> read(const Rel& rel) const;     ///< correlated columns read in the subtree
   std::vector<ColumnId> readHere(const Rel& rel) const; ///< in this operator's own expressions
   std::vector<ColumnId> read(const std::vector<ExprPtr>& exprs) const;
   RelPtr pushOperator(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushInput(RelPtr input, ColumnMapping& mapping);
   RelPtr pushJoin(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushOuterJoin(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushFullJoin(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushGrouping(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushLimit(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushDistinct(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushSetOp(RelPtr rel, ColumnMapping& mapping);
   RelPtr pushValues(RelPtr rel, ColumnMapping& mapping);
   void pushRecursion(Rel& with, size_t position, const std::vector<ColumnId>& needed);
   RelPtr pushWith(RelPtr rel, ColumnMapping& mapping);
   RelPtr applyPredicates(RelPtr rel, std::vector<ExprPtr> conjuncts, ColumnMapping& mapping);
   bool eliminate(ExprPtr& conjunct, RelPtr& rel, ColumnMapping& mapping);
   /// Join a domain to `rel` so that all of `needed` are mapped.
   RelPtr provide(RelPtr rel, ColumnMapping& mapping, const std::vector<ColumnId>& needed);
   RelPtr makeDomain(const std::vector<ColumnId>& columns, ColumnMapping& mapping);
   RelPtr copyLeft(ColumnMap& renamed);
   void substitute(ExprPtr& expr, const ColumnMapping& mapping) const;
   void substituteOwn(Rel& rel, const ColumnMapping& mapping) const;
   ExprPtr same(const MappedColumn& a, const MappedColumn& b) const;

   Rel& join_;
   Query& query_;
   ColumnSet outer_;
   ColumnSet notNull_; ///< of the left input
   std::unique_ptr<sql::Cte> shared_;
   ColumnMap sharedColumns_; ///< left column -> the CTE's
};

} // namespace ouzel::optimizer
