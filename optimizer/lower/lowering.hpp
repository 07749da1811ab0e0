#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/query/expr_lowering.hpp"

// Logical operators to plan nodes. The tree is consumed: expressions move into the nodes.

namespace ouzel::optimizer {

namespace plan = sql::plan;

/// A node and the most rows it can give whatever the estimates say (sums that cannot overflow depend on it).
struct Lowered {
   plan::NodePtr node;
   double rowsMax = 0;
};

/// Lowers one query. `need` everywhere: columns the parent reads; a node's output has those and no others.
class Lowering {
public:
   Lowering(Query& query, Estimator& estimator) : query_(query), estimator_(estimator), exprs_(query) {}

   std::unique_ptr<plan::Plan> run(RelPtr root, std::vector<sql::OutputColumn> output, bool readOnly);

private:
   Lowered lower(Rel& rel, const ColumnSet& need);

   // scans.cpp
   Lowered lowerGet(Rel& rel, const ColumnSet& need);
   Lowered lowerValues(Rel& rel, const ColumnSet& need);
   Lowered lowerTableFunction(Rel& rel, const ColumnSet& need);
   Lowered lowerSelect(Rel& rel, const ColumnSet& need);
   Lowered lowerMap(Rel& rel, const ColumnSet& need);
   Lowered lowerProjectSet(Rel& rel, const ColumnSet& need);
   std::vector<ExprPtr> lowerPredicates(ExprPtr predicate);

   // joins.cpp
   Lowered lowerJoin(Rel& rel, const ColumnSet& need);

   // grouping.cpp
   Lowered lowerGroupBy(Rel& rel, const ColumnSet& need);
   Lowered lowerWindow(Rel& rel, const ColumnSet& need);
   Lowered lowerDistinct(Rel& rel, const ColumnSet& need);
   Lowered lowerSort(Rel& rel, const ColumnSet& need);
   Lowered lowerLimit(Rel& rel, const ColumnSet& need);
   void lowerAggregate(sql::AggregateCall& call, double rowsMax);
   void lowerSortKeys(std::vector<sql::SortKey>& keys);
   Lowered sortBy(Lowered input, std::vector<sql::SortKey> keys);

   // sets.cpp
   Lowered lowerUnion(Rel& rel, const ColumnSet& need);
   Lowered lowerWith(Rel& rel, const ColumnSet& need);
   plan::CtePlan lowerCte(sql::Cte& cte);
   Lowered lowerRecursive(sql::Cte& cte);
   Lowered lowerCteScan(Rel& rel, const ColumnSet& need);
   Lowered lowerRecursiveScan(Rel& rel, const ColumnSet& need);

   // dml.cpp
   Lowered lowerDml(Rel& rel);
   Lowered lowerLockRows(Rel& rel, const ColumnSet& need);

   // lowering.cpp
   plan::NodePtr makeNode(plan::NodeKind kind, const Rel& rel);
   /// Pass through those input columns that are needed.
   void passThrough(plan::Node& node, const ColumnSet& need);
   /// The expression as a column: itself, or a new one in `computed`.
   ColumnId asColumn(ExprPtr expr, std::vector<sql::ComputedColumn>& computed);
   Lowered project(Lowered input, std::vector<sql::ComputedColumn> computed, const std::vector<ColumnId>& output);
   /// Project so that the columns come out in these representations; `columns` are replaced by the new ids.
   Lowered convertColumns(Lowered input, std::vector<ColumnId>& columns, const std::vector<Representation>& target);

   struct KnownCte {
      std::vector<ColumnId> columns; ///< ids by which scans name them
      std::vector<ColumnId> planned; ///< ids in the CtePlan
      double rowsMax = 0, rows = 0;
   };

   Query& query_;
   Estimator& estimator_;
   ExprLowering exprs_;
   std::unordered_map<uint32_t, KnownCte> ctes_;
   std::unordered_map<uint32_t, std::vector<ColumnId>> recursing_; ///< columns of the recursive CTEs being lowered
};

/// Number the joins' filters and hand them to the scans they reach.
uint32_t assignRuntimeFilters(plan::Node& root);
/// Choose among the scan's indexes one whose columns its predicates fix, if looking up beats reading.
void chooseIndex(plan::Node& scan, const sql::ColumnTable& columns);
/// Let joins of few rows with a large table look their keys up in an index of it.
void assignKeyLookups(plan::Node& root);
/// Fill in estimatedCost of every node.
void assignCosts(plan::Node& root);

} // namespace ouzel::optimizer
