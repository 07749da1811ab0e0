#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sql/algebra/rel.hpp"

// The physical plan: written by optimizer/lower, read by executor/, no behaviour. Read-only once built; running state
// lives in executor objects. Expressions here contain no Parameter, OuterColumn, Aggregate, WindowCall or Subquery, and
// every node's `repr` is set; ColumnTable::repr says how each column flows.

namespace ouzel::sql::plan {

struct Node;
using NodePtr = std::unique_ptr<Node>;

enum class NodeKind : uint8_t {
   TableScan,     ///< `table`, `scanColumns`, `predicates`, `runtimeFilters`
   VirtualScan,   ///< `table.relation` or `table.external`, `scanColumns`; then `predicates`
   Values,        ///< `rows`; columns are `output`
   TableFunction, ///< `function` over constant `args`, or per row of children[0] when there is a child (lateral); gives
                  ///< `columns`
   ProjectSet,    ///< children[0] plus `computed` set-returning calls
   Filter,        ///< `predicates` over children[0], in order of evaluation
   Project,       ///< children[0] plus `computed`
   HashJoin,      ///< children[0] probes, children[1] is built: `joinKind`, `joinKeys`, `predicates` (residual)
   NestedLoopJoin, ///< blocked: children[1] is materialised; `joinKind`, `predicates`
   Aggregate,      ///< `keys`, `aggregates`, `groupingSets`, `groupingCalls`; without aggregates it is DISTINCT
   Sort,           ///< `sortKeys`
   TopN,           ///< `sortKeys`, `limit`, `offset` (both known constants)
   Limit,          ///< `limit`, `offset` expressions without columns; `withTies` compares `sortKeys` (input is sorted)
   Window,         ///< children[0] plus `windowCalls` over `windowSpec`
   DistinctOn,     ///< children[0] is sorted; keeps the first row of each group of `columns`
   Append,         ///< UNION ALL: output[i] is fed from appendInputs[child][i]
   Materialize,    ///< With: runs `ctes[i]` once each when first read; children[0] is the body
   CteScan,        ///< reads materialised CTE `cte`: output[i] is its column cteColumns[i]
   RecursiveUnion, ///< children[0] base, children[1] step reading RecursiveScan of `cte`; `unionAll`; output[i] is fed
                   ///< from appendInputs[0/1][i]
   RecursiveScan,  ///< the working table of `cte`; output[i] is its column number cteSlots[i]
   LockRows,       ///< `rowLocks` over children[0]; rows that go meanwhile are left out
   Insert,
   Update,
   Delete,
   Merge, ///< sinks: `dml`; output (RETURNING) are dml->returning's columns
};

/// lhs of the probe side, rhs of the build side: same type and representation.
struct JoinKey {
   ExprPtr probe, build;
   bool nullsEqual = false; ///< IS NOT DISTINCT FROM
};

struct ScanColumn {
   ColumnId column;
   int16_t attribute; ///< or sql::rowIdAttribute
};

/// A join's knowledge of its build keys, handed to scans on the probe side before they start: min/max, exact bitmap or
/// Bloom.
struct RuntimeFilterUse {
   uint32_t filter; ///< id, unique in the plan
   ColumnId column; ///< scanned column that the join compares for equality
};
struct RuntimeFilterSource {
   uint32_t filter;
   uint32_t key; ///< index into joinKeys
};

/// An index of a scanned table.
struct IndexUse {
   std::vector<int16_t> attributes;
   bool isUnique = false;
};

struct CtePlan {
   uint32_t id;
   std::string name;
   NodePtr plan;
   std::vector<ColumnId> columns; ///< order of the materialised columns
};

struct Node {
   NodeKind kind;
   std::vector<NodePtr> children;
   /// The batch layout this node produces. Passed-through columns keep their ids.
   std::vector<ColumnId> output;
   double estimatedRows = 0;
   double estimatedCost = 0; ///< arbitrary unit (about ns/100), for EXPLAIN

   TableRef table;
   std::vector<ScanColumn> scanColumns;
   std::vector<ExprPtr> predicates;
   std::vector<RuntimeFilterUse> runtimeFilters;
   std::vector<IndexUse> indexes; ///< TableScan: of the table
   double tableRows = 0;          ///< TableScan: of the table, deleted ones included
   /// TableScan: columns of an index that `predicates` fix (= or IN) to few rows.
   std::vector<int16_t> lookupAttributes;
   /// ≠ 0: the HashJoin tells the TableScan of its probe side which keys to look up, if they are few: the join keys
   /// `keyLookupKeys`, which stand for the scan's `keyLookupAttributes`.
   uint32_t keyLookup = 0;
   std::vector<int16_t> keyLookupAttributes;
   std::vector<uint32_t> keyLookupKeys;
   std::vector<std::vector<ExprPtr>> rows;
   const catalog::FunctionInfo* function = nullptr;
   std::vector<ExprPtr> args;
   std::vector<ColumnId> columns;
   ColumnId ordinality = noColumn;
   std::vector<ComputedColumn> computed;
   JoinKind joinKind = JoinKind::Inner;
   std::vector<JoinKey> joinKeys;
   ColumnId markColumn = noColumn;
   /// Anti/Mark over exactly one joinKey and no residual predicates, with NOT IN semantics: Mark gives NULL (Anti drops
   /// the row) when there is no match but the probe key is NULL and the build side not empty, or a build key is NULL.
   /// Without nullAware a NULL key matches nothing, and residual predicates are three-valued in Mark joins: true if any
   /// pair gives true, else NULL if any gives NULL, else false. (NestedLoopJoin: the same over `predicates`.) In all
   /// other joins a pair matches when the predicates are true.
   bool nullAware = false;
   std::vector<RuntimeFilterSource> runtimeFilterSources;
   std::vector<ComputedColumn> keys;
   std::vector<AggregateCall> aggregates;
   std::vector<std::vector<uint32_t>> groupingSets;
   std::vector<Rel::GroupingCall> groupingCalls;
   std::vector<SortKey> sortKeys;
   ExprPtr limit, offset;
   bool withTies = false;
   WindowSpec windowSpec;
   std::vector<WindowCall> windowCalls;
   std::vector<std::vector<ColumnId>> appendInputs;
   uint32_t cte = 0;
   std::vector<ColumnId> cteColumns;
   std::vector<uint32_t> cteSlots;
   bool unionAll = true;
   std::vector<CtePlan> ctes;
   std::unique_ptr<Dml> dml;
   std::vector<RowLock> rowLocks;

   explicit Node(NodeKind k) : kind(k) {}
};

/// A plan ready to run, with the columns it speaks of and what the client sees.
struct Plan {
   NodePtr root;
   std::vector<OutputColumn> output; ///< order of the result; may repeat or reorder root->output
   ColumnTable columns;
   uint32_t runtimeFilterCount = 0;
   bool readOnly = true;
   bool boundToSnapshot = false; ///< bounds of the planning snapshot's data were used: do not run it under another
};

/// Name as EXPLAIN prints it: "Hash Join", "Table Scan on lineitem".
std::string nodeName(const Node& node);
/// Indented text for tests and debugging.
std::string toString(const Plan& plan);

} // namespace ouzel::sql::plan
