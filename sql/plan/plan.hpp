#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sql/algebra/rel.hpp"

// The physical plan: optimizer/lower writes it, executor/ reads it. A plan has no behaviour and is read-only once
// built, so threads may share it; objects of the executor hold the running state. Expressions in a plan contain no
// Parameter, OuterColumn, Aggregate, WindowCall or Subquery. Every expression has its `repr`; ColumnInfo::repr is the
// representation in which batches carry a column.

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
   LockRows,       ///< `rowLocks` over children[0]; rows that other transactions delete meanwhile are left out
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

/// Use of a runtime filter by a scan. A join describes its build keys (min/max, exact bitmap or Bloom filter) and hands
/// the filter to scans on its probe side before they start.
struct RuntimeFilterUse {
   uint32_t filter; ///< id, unique in the plan
   ColumnId column; ///< scanned column that the join compares for equality
};
/// A runtime filter that a join makes.
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
   /// The layout of the batches that this node gives. Columns that pass through keep their ids.
   std::vector<ColumnId> output;
   double estimatedRows = 0;
   double estimatedCost = 0; ///< arbitrary unit (about ns/100), for EXPLAIN

   TableRef table;
   std::vector<ScanColumn> scanColumns;
   std::vector<ExprPtr> predicates;
   std::vector<RuntimeFilterUse> runtimeFilters;
   std::vector<IndexUse> indexes; ///< TableScan: of the table
   double tableRows = 0;          ///< TableScan: of the table, deleted ones included
   /// TableScan: columns of an index that `predicates` compare with constants or parameters (= or IN): few rows match.
   std::vector<int16_t> lookupAttributes;
   /// ≠ 0: the id of a key lookup, unique in the plan. If the build side has few keys, the HashJoin hands them to the
   /// TableScan of its probe side, which looks them up in an index. The join's `keyLookupKeys` are indexes into
   /// joinKeys; they correspond one by one to the scan's `keyLookupAttributes`.
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

/// A plan ready to run, with its columns and the client's result columns. Owns its nodes.
struct Plan {
   NodePtr root;
   std::vector<OutputColumn> output; ///< order of the result; may repeat or reorder root->output
   ColumnTable columns;
   uint32_t runtimeFilterCount = 0;
   bool readOnly = true;
   bool boundToSnapshot = false; ///< relies on bounds of the planning snapshot's data: run it under that snapshot only
};

/// Name as EXPLAIN prints it: "Hash Join", "Table Scan on lineitem".
std::string nodeName(const Node& node);
/// Indented text for tests and debugging.
std::string toString(const Plan& plan);

} // namespace ouzel::sql::plan
