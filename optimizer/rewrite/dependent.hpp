#pragma once
#include <vector>

#include "optimizer/query/query.hpp"

// The general way of unnesting (Neumann & Kemper 2015). A dependent join runs its right side once per left row.
// Unnesting runs the right side once, over the domain: the distinct values that the correlated columns have in the left
// side.
//
//    dependent join              join on c = d
//     /          \                /        \           d: a copy of the correlated column c
//    L(c)      R reads c         L        R over domain(d) = distinct values of c in L
//
// The domain is pushed down through R, operator by operator, to the operators that read c.

namespace ouzel::optimizer {

/// Takes conjuncts that read `outer` columns out of the top of `rel` and appends them to `pulled`. Conjuncts pass
/// operators that do not change their meaning: filters, projections, inner joins, the preserved side of outer joins.
/// `isExact`: they do not pass projections and predicates that may fail for rows that the conjuncts drop.
void pullPredicates(RelPtr& rel, const ColumnSet& outer, std::vector<ExprPtr>& pulled, bool isExact);

/// Prepares a GroupBy without keys for a left join that pads its columns with NULL. An aggregate that is not NULL over
/// no rows (count: 0) gets a new column. Returns the computations of the old columns: coalesce(new column, default).
std::vector<sql::ComputedColumn> emptyGroupDefaults(sql::op::GroupBy& group, Query& query);

/// A correlated column, and the column of the unnested right side that has its values.
struct MappedColumn {
   ColumnId outer, inner;
   bool notNull; ///< no row has NULL in `inner`
};
/// The mapped columns of a subtree of the right side: at most one per correlated column.
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

/// Unnests the right side of one dependent join; one object per join, which it refers to. A domain comes from a copy of
/// the left input or, if the left input is expensive, from a CTE that both sides scan. No domain is needed where an
/// equality gives the values: for `c = r.x` the column r.x stands for c. The right side then may also have rows for
/// values that the left side does not have; the final join drops these rows.
class Dependence {
public:
   /// `columns`: the columns of the left input that the right side reads.
   Dependence(Rel& join, const std::vector<ColumnId>& columns, Query& query);

   /// Forbids rows for values that the left side does not have: what reads them fails for such rows, or locks them.
   void requireExact() { isExact_ = true; }
   /// Makes `rel` independent. For every combination of values in the domain, the result has the rows that `rel` gives
   /// for these values, with the values in the columns of `mapping`. `mapping` has the correlated columns that `rel`
   /// reads.
   RelPtr push(RelPtr rel, ColumnMapping& mapping);
   /// `push` for a GroupBy. Values of the domain without input rows give no group, even if the GroupBy has no keys.
   RelPtr pushGroup(RelPtr rel, ColumnMapping& mapping);
   /// The conjunction of `left column = mapped column` for all of `columns` that are mapped.
   ExprPtr joinPredicate(const ColumnMapping& mapping, const std::vector<ColumnId>& columns) const;
   /// Puts a With above the finished join if the left input is shared as a CTE.
   RelPtr finish(RelPtr join);

private:
   std::vector<ColumnId> read(const Rel& rel) const; ///< correlated columns that the subtree reads
   /// The columns of a domain that has `needed`. An exact domain has all: two domains of one column each would combine
   /// values that no left row combines.
   std::vector<ColumnId> asDomain(std::vector<ColumnId> needed) const;
   std::vector<ColumnId> readHere(const Rel& rel) const; ///< correlated columns in the operator's own expressions
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
   /// Joins a domain to `rel`, so that `mapping` has all of `needed`.
   RelPtr provide(RelPtr rel, ColumnMapping& mapping, const std::vector<ColumnId>& needed);
   RelPtr makeDomain(const std::vector<ColumnId>& columns, ColumnMapping& mapping);
   RelPtr copyLeft(ColumnMap& renamed);
   void substitute(ExprPtr& expr, const ColumnMapping& mapping) const;
   void substituteOwn(Rel& rel, const ColumnMapping& mapping) const;
   ExprPtr same(const MappedColumn& a, const MappedColumn& b) const;
   ExprPtr domainValue(ColumnId column) const;

   Rel& join_;
   Query& query_;
   bool isExact_ = false;
   std::vector<ColumnId> columns_;
   ColumnSet outer_;
   ColumnSet notNull_;                ///< columns of the left input without NULLs
   std::unique_ptr<sql::Cte> shared_; ///< the left input as a CTE; null: not shared
   ColumnMap sharedColumns_;          ///< column of the left input -> column of the CTE
};

} // namespace ouzel::optimizer
