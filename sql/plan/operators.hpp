#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "sql/algebra/rel.hpp"
#include "sql/plan/computed_index.hpp"

// The operators of a plan: one struct for each kind, with the fields that the kind needs and no others. The list
// `fields` of a struct names them for code that treats all operators alike; see forEachField().

namespace ouzel::sql::plan {

struct Node;
using NodePtr = std::unique_ptr<Node>;

/// One field of an operator's struct.
template <class Struct, class Type>
struct Field {
   const char* name; ///< for debugging output
   Type Struct::*member;
   bool isMade = false; ///< its column ids are of columns that the operator makes, not of columns that it reads
};
template <class Struct, class Type>
constexpr Field<Struct, Type> field(const char* name, Type Struct::*member) {
   return {name, member};
}
template <class Struct, class Type>
constexpr Field<Struct, Type> made(const char* name, Type Struct::*member) {
   return {name, member, true};
}

struct ScanColumn {
   ColumnId column;
   int16_t attribute; ///< or sql::rowIdAttribute
};

struct ScanPath {
   ColumnId column;
   int16_t attribute; ///< of type jsonb
   json::PathAccess access;
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
   uint32_t key; ///< index into the join's keys
};

/// An index of a scanned table.
struct IndexUse {
   std::vector<int16_t> attributes; ///< of the key; 0: an expression
   bool isUnique = false;
   ComputedIndexPtr computed{}; ///< null: the key is the columns, of all rows
};

/// What all scans have in common.
struct Scan {
   TableRef table;
   std::vector<ScanColumn> columns;
   std::vector<ScanPath> paths; ///< only of a TableScan
   std::vector<ExprPtr> predicates;
   std::vector<RuntimeFilterUse> runtimeFilters;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("table", &Self::table), made("columns", &Self::columns),
                                             made("paths", &Self::paths), field("predicates", &Self::predicates),
                                             field("runtimeFilters", &Self::runtimeFilters));
};

/// Rows of a stored table for which `predicates` are true.
struct TableScan : Scan {
   std::vector<IndexUse> indexes; ///< of the table
   double tableRows = 0;          ///< of the table, deleted ones included
   bool seesWith = false;         ///< as of op::Get
   /// Columns of an index that `predicates` compare with constants or parameters (= or IN): few rows match.
   std::vector<int16_t> lookupAttributes;
   /// ≠ 0: the id of a key lookup, unique in the plan. If the build side has few keys, the HashJoin hands them to the
   /// TableScan of its probe side, which looks them up in an index. The join's `keyLookupKeys` are indexes into its
   /// keys; they correspond one by one to the scan's `keyLookupAttributes`.
   uint32_t keyLookup = 0;
   std::vector<int16_t> keyLookupAttributes;
   /// The index of either lookup, if it computes its key; its predicate follows from `predicates`. `lookupValues`: the
   /// constants and parameters that predicates allow, by key column, instead of `lookupAttributes`.
   ComputedIndexPtr lookupIndex;
   std::vector<std::vector<ExprPtr>> lookupValues;

   /// Whether the scan reads only rows that it finds by an index.
   bool looksUp() const { return !lookupAttributes.empty() || !lookupValues.empty() || keyLookup != 0; }

   template <typename Self>
   static constexpr auto fields = std::tuple_cat(
       Scan::fields<Self>,
       std::tuple(field("indexes", &Self::indexes), field("tableRows", &Self::tableRows),
                  field("seesWith", &Self::seesWith), field("lookupAttributes", &Self::lookupAttributes),
                  field("keyLookup", &Self::keyLookup), field("keyLookupAttributes", &Self::keyLookupAttributes),
                  field("lookupIndex", &Self::lookupIndex), field("lookupValues", &Self::lookupValues)));
};

/// Rows of `table.relation`, which is computed from the snapshot, or of `table.external`.
struct VirtualScan : Scan {
   uint64_t rowsMax = 0; ///< that the plan takes of a table of another server; 0: all

   template <typename Self>
   static constexpr auto fields = std::tuple_cat(Scan::fields<Self>, std::tuple(field("rowsMax", &Self::rowsMax)));
};

/// Rows of constant expressions; their columns are the node's `output`.
struct Values {
   std::vector<std::vector<ExprPtr>> rows;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("rows", &Self::rows));
};

/// A set-returning function over constant `args`, or per row of children[0] when there is a child (lateral).
struct TableFunction {
   const catalog::FunctionInfo* function = nullptr;
   std::vector<ExprPtr> args;
   std::vector<ColumnId> columns;  ///< results of the function by position, also those without readers
   ColumnId ordinality = noColumn; ///< WITH ORDINALITY: the row's number

   template <typename Self>
   static constexpr auto fields = std::tuple(field("function", &Self::function), field("args", &Self::args),
                                             made("columns", &Self::columns), made("ordinality", &Self::ordinality));
};

/// Rows of children[0] for which `predicates` are true.
struct Filter {
   std::vector<ExprPtr> predicates; ///< in order of evaluation

   template <typename Self>
   static constexpr auto fields = std::tuple(field("predicates", &Self::predicates));
};

/// children[0] plus computed columns.
struct Computing {
   std::vector<ComputedColumn> computed;

   template <typename Self>
   static constexpr auto fields = std::tuple(made("computed", &Self::computed));
};
struct Project : Computing {};
/// The computed columns are of set-returning calls, whose rows come in lockstep.
struct ProjectSet : Computing {};

/// What all joins have in common: children[0] probes, children[1] is built.
struct Join {
   JoinKind kind = JoinKind::Inner;
   /// A pair matches when these are true (HashJoin: and the keys are equal). In Mark joins they are three-valued: the
   /// mark is true if any pair gives true, else NULL if any gives NULL, else false.
   std::vector<ExprPtr> predicates;
   ColumnId markColumn = noColumn; ///< of Mark joins

   template <typename Self>
   static constexpr auto fields = std::tuple(field("kind", &Self::kind), field("predicates", &Self::predicates),
                                             made("markColumn", &Self::markColumn));
};

/// lhs of the probe side, rhs of the build side: same type and representation.
struct JoinKey {
   ExprPtr probe, build;
   bool nullsEqual = false; ///< IS NOT DISTINCT FROM

   template <typename Self>
   static constexpr std::tuple members{&Self::probe, &Self::build, &Self::nullsEqual};
};

struct HashJoin : Join {
   std::vector<JoinKey> keys; ///< at least one
   /// Anti/Mark over exactly one key and no predicates, with NOT IN semantics: Mark gives NULL (Anti drops the row)
   /// when there is no match but the probe key is NULL and the build side not empty, or a build key is NULL. Without
   /// nullAware a NULL key matches nothing.
   bool nullAware = false;
   std::vector<RuntimeFilterSource> runtimeFilterSources;
   uint32_t keyLookup = 0; ///< as of TableScan
   std::vector<uint32_t> keyLookupKeys;

   template <typename Self>
   static constexpr auto fields = std::tuple_cat(Join::fields<Self>,
                                                 std::tuple(field("keys", &Self::keys),
                                                            field("nullAware", &Self::nullAware),
                                                            field("runtimeFilterSources", &Self::runtimeFilterSources),
                                                            field("keyLookup", &Self::keyLookup),
                                                            field("keyLookupKeys", &Self::keyLookupKeys)));
};

/// Compares blocks of the probe side with the materialised build side.
struct NestedLoopJoin : Join {};

/// GROUP BY. Without aggregates it is DISTINCT; without keys it gives one row.
struct Aggregate {
   std::vector<ComputedColumn> keys;
   std::vector<AggregateCall> aggregates;
   std::vector<std::vector<uint32_t>> groupingSets; ///< of indexes into `keys`; none: one set of all keys
   std::vector<GroupingCall> groupingCalls;
   int64_t groupsWanted = 0; ///< without aggregates and grouping sets: any so many groups will do; 0: all are wanted
   bool keysAreNeverNull = false; ///< no key's expression gives NULL for any row

   template <typename Self>
   static constexpr auto fields = std::tuple(made("keys", &Self::keys), made("aggregates", &Self::aggregates),
                                             field("groupingSets", &Self::groupingSets),
                                             made("groupingCalls", &Self::groupingCalls),
                                             field("groupsWanted", &Self::groupsWanted),
                                             field("keysAreNeverNull", &Self::keysAreNeverNull));
};

struct Sort {
   std::vector<SortKey> keys; ///< columns

   template <typename Self>
   static constexpr auto fields = std::tuple(field("keys", &Self::keys));
};

/// Sort and Limit in one, with bounds that are known constants.
struct TopN {
   std::vector<SortKey> keys;
   ExprPtr limit, offset; ///< `offset` may be null

   template <typename Self>
   static constexpr auto fields = std::tuple(field("keys", &Self::keys), field("limit", &Self::limit),
                                             field("offset", &Self::offset));
};

/// The first rows of children[0]. children[1], if it is there, gives one row with bounds.
struct Limit {
   ExprPtr limit, offset;     ///< expressions without columns, or columns of children[1]; null: none
   bool withTies = false;     ///< also rows that are equal in `keys` to the last one
   std::vector<SortKey> keys; ///< WITH TIES: the order of children[0]

   template <typename Self>
   static constexpr auto fields = std::tuple(field("limit", &Self::limit), field("offset", &Self::offset),
                                             field("withTies", &Self::withTies), field("keys", &Self::keys));
};

/// children[0] plus window calls, all over one partition and order.
struct Window {
   WindowSpec spec;
   std::vector<WindowCall> calls;
   int64_t rowsWanted = 0; ///< rows with a higher result of call number `ranking` may be left out; 0: all are wanted
   uint32_t ranking = 0;   ///< of rank() or row_number(); other calls are rankings, too
   double partitions = 1;  ///< estimated

   template <typename Self>
   static constexpr auto fields = std::tuple(field("spec", &Self::spec), made("calls", &Self::calls),
                                             field("rowsWanted", &Self::rowsWanted), field("ranking", &Self::ranking),
                                             field("partitions", &Self::partitions));
};

/// The first row of each group of rows that are equal in `columns`; children[0] is sorted.
struct DistinctOn {
   std::vector<ColumnId> columns;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("columns", &Self::columns));
};

/// UNION ALL: the node's output[i] is fed from column inputs[child][i].
struct Append {
   std::vector<std::vector<ColumnId>> inputs;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("inputs", &Self::inputs));
};

struct CtePlan {
   uint32_t id;
   std::string name;
   NodePtr plan;
   std::vector<ColumnId> columns; ///< order of the materialised columns
};

/// WITH: runs each CTE once, when it is first read; children[0] is the body.
struct Materialize {
   std::vector<CtePlan> ctes;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("ctes", &Self::ctes));
};

/// Reads a materialised CTE: the node's output[i] is the CTE's columns[i].
struct CteScan {
   uint32_t cte = 0;
   std::vector<ColumnId> columns;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("cte", &Self::cte), field("columns", &Self::columns));
};

/// WITH RECURSIVE: children[0] is the base, children[1] the step, which reads RecursiveScan of `cte`. The node's
/// output[i] is fed from column inputs[child][i].
struct RecursiveUnion {
   uint32_t cte = 0;
   bool all = true; ///< UNION ALL keeps duplicates
   std::vector<std::vector<ColumnId>> inputs;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("cte", &Self::cte), field("all", &Self::all),
                                             field("inputs", &Self::inputs));
};

/// Reads the working table of `cte`: the node's output[i] is the table's column number slots[i].
struct RecursiveScan {
   uint32_t cte = 0;
   std::vector<uint32_t> slots;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("cte", &Self::cte), field("slots", &Self::slots));
};

/// Locks rows of children[0]; rows that other transactions delete meanwhile are left out.
struct LockRows {
   std::vector<RowLock> locks;

   template <typename Self>
   static constexpr auto fields = std::tuple(field("locks", &Self::locks));
};

/// What all writes have in common. The node's `output` (RETURNING) are the columns of dml->returning.
struct Write {
   std::unique_ptr<Dml> dml; ///< not null

   template <typename Self>
   static constexpr auto fields = std::tuple(made("dml", &Self::dml));
};
struct Insert : Write {};
struct Update : Write {};
struct Delete : Write {};
struct Merge : Write {};

/// Calls `visit(field, value)` for each field of an operator's struct.
template <class Struct, class Visit>
void forEachField(const Struct& op, const Visit& visit) {
   std::apply([&](const auto&... field) { (visit(field, op.*field.member), ...); }, Struct::template fields<Struct>);
}

using AnyOf = std::variant<TableScan, VirtualScan, Values, TableFunction, ProjectSet, Filter, Project, HashJoin,
                           NestedLoopJoin, Aggregate, Sort, TopN, Limit, Window, DistinctOn, Append, Materialize,
                           CteScan, RecursiveUnion, RecursiveScan, LockRows, Insert, Update, Delete, Merge>;

/// One operator of any kind. What a variant does with each of its alternatives is compiled once, in plan.cpp.
struct Operator : AnyOf {
   using AnyOf::AnyOf;
   Operator(Operator&& other) noexcept;
   ~Operator();
};

/// Which operator a node holds, in the order of `Operator`.
enum class NodeKind : uint8_t {
   TableScan,
   VirtualScan,
   Values,
   TableFunction,
   ProjectSet,
   Filter,
   Project,
   HashJoin,
   NestedLoopJoin,
   Aggregate,
   Sort,
   TopN,
   Limit,
   Window,
   DistinctOn,
   Append,
   Materialize,
   CteScan,
   RecursiveUnion,
   RecursiveScan,
   LockRows,
   Insert,
   Update,
   Delete,
   Merge,
};
static_assert(std::is_same_v<std::variant_alternative_t<static_cast<size_t>(NodeKind::Append), AnyOf>, Append>);
static_assert(std::variant_size_v<AnyOf> == static_cast<size_t>(NodeKind::Merge) + 1);

} // namespace ouzel::sql::plan
