#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/query/expr_lowering.hpp"

// Turns logical operators into plan nodes. Lowering consumes the tree: expressions move into the nodes.

namespace ouzel::optimizer {

namespace plan = sql::plan;

/// A node, and an upper bound of its rows that does not depend on estimates. The bound proves that sums cannot
/// overflow.
struct Lowered {
   plan::NodePtr node;
   double rowsMax = 0;
};

/// Lowers one query; one object per query. `need` has the columns that the parent reads; a node's output has these
/// columns and no others.
class Lowering {
public:
   Lowering(Query& query, Estimator& estimator) : query_(query), estimator_(estimator), exprs_(query) {}

   std::unique_ptr<plan::Plan> run(RelPtr root, std::vector<sql::OutputColumn> output, bool readOnly);

private:
   Lowered lower(Rel& rel, const ColumnSet& need);
   Lowered lowerOperator(Rel& rel, const ColumnSet& need);

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
   double partitionsOf(const Rel& input, const sql::WindowSpec& spec);
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
   plan::NodePtr makeNode(plan::Operator op, const Rel& rel);
   /// Adds the needed columns of the node's child to its output.
   void passThrough(plan::Node& node, const ColumnSet& need);
   /// The column of an expression: the column itself, or a new column that is added to `computed`.
   ColumnId asColumn(ExprPtr expr, std::vector<sql::ComputedColumn>& computed);
   Lowered project(Lowered input, std::vector<sql::ComputedColumn> computed, const std::vector<ColumnId>& output);
   /// Puts a Project over `input` that converts `columns` to the representations `target`; sets `columns` to the new
   /// ids.
   Lowered convertColumns(Lowered input, std::vector<ColumnId>& columns, const std::vector<Representation>& target);

   struct KnownCte {
      std::vector<ColumnId> columns; ///< the ids that scans of the CTE use
      std::vector<ColumnId> planned; ///< the ids in the CtePlan, in the same order
      double rowsMax = 0, rows = 0;
   };

   Query& query_;
   Estimator& estimator_;
   ExprLowering exprs_;
   std::unordered_map<uint32_t, KnownCte> ctes_;
   std::unordered_map<uint32_t, std::vector<ColumnId>> recursing_; ///< columns of the recursive CTEs being lowered
};

/// Numbers the runtime filters of joins and assigns them to scans. Gives the number of filters.
uint32_t assignRuntimeFilters(plan::Node& root);
/// Chooses an index of the scan if the scan's predicates fix all columns of the index and lookups are cheaper than a
/// scan. `rows` is the estimate of rows that the scan gives.
void chooseIndex(plan::TableScan& scan, double rows, const sql::ColumnTable& columns);
/// Makes joins of few build rows with a large table look up their keys in an index of the table.
void assignKeyLookups(plan::Node& root);
/// Lets windows keep only the rows of a partition that a filter on their rank wants.
void assignPartitionLimits(plan::Node& root);
/// Sets estimatedCost of every node.
void assignCosts(plan::Node& root);

} // namespace ouzel::optimizer
