#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/algebra/columns.hpp"
#include "sql/algebra/expr.hpp"

// Logical operators: written by sql/bind, rewritten by optimizer/. Columns are ids, never positions.

namespace ouzel::catalog {
struct AggregateInfo;
}
namespace ouzel::io {
class ExternalTable;
class LineInput;
} // namespace ouzel::io

namespace ouzel::sql {

using RelPtr = std::unique_ptr<Rel>;

enum class RelKind : uint8_t {
   Get,           ///< scan of a stored table: `table`, `getColumns`
   VirtualGet,    ///< scan of a catalog or statistics table computed from the snapshot: `table.relation`, `getColumns`;
                  ///< or of files: `table.external`, whose column i is attribute i + 1
   Values,        ///< `rows` of expressions giving `columns`; one row of no columns is "no FROM"
   TableFunction, ///< set-returning `function` over args (may be correlated: under a dependent Join); gives `columns`
                  ///< (+ `ordinality`)
   Select,        ///< rows of inputs[0] for which `predicate` is true
   Map,           ///< inputs[0] plus computed columns: `computed`. Set-returning ones are ProjectSet
   ProjectSet, ///< inputs[0] plus columns of set-returning functions in the select list, `computed`, rows multiplied in
               ///< lockstep
   Join, ///< inputs[0] (left, probe) and inputs[1] (right, build): `joinKind`, `predicate`; `dependent`: the right side
         ///< reads columns of the left (LATERAL, correlated subquery), gone after unnesting
   GroupBy,  ///< `keys` (out column := expression), `aggregates`, `groupingSets`; no keys: exactly one row
   Window,   ///< inputs[0] plus columns of `windowCalls`, all over one partition/order `windowSpec`
   Distinct, ///< duplicates of inputs[0] over `columns` removed; with `sortKeys`: DISTINCT ON (`columns`) keeps the
             ///< first in order
   Sort,     ///< `sortKeys`
   Limit,    ///< `limit`, `offset` (constant-like expressions; absent: none); `withTies` needs sortKeys
   SetOp,    ///< `setOpKind`, `all`; columns[i] is fed from setOpInputs[0][i] and setOpInputs[1][i]
   CteScan,  ///< reads CTE `cte`: columns[i] is the CTE's cteColumns[i]
   With,     ///< inputs[0] = body; `ctes` evaluated at most once each, in order; visible in the body and in later ones
   RecursiveScan, ///< inside a recursive term: the working table of `cte`
   LockRows,      ///< FOR UPDATE / SHARE: `rowLocks` over inputs[0]
   Insert,
   Update,
   Delete,
   Merge, ///< DML: inputs[0] gives the rows; `dml`
};

inline bool isDml(RelKind kind) {
   return kind == RelKind::Insert || kind == RelKind::Update || kind == RelKind::Delete || kind == RelKind::Merge;
}

enum class JoinKind : uint8_t {
   Inner,
   Left,
   Right,
   Full,
   Semi,   ///< left rows with a match; gives left columns only
   Anti,   ///< left rows without a match (NOT EXISTS semantics: unknown is no match)
   Mark,   ///< all left rows plus `markColumn`: true, false or NULL as `lhs IN (right)` would be over `predicate`
   Single, ///< Left, but more than one match is error 21000 (scalar subquery)
   // In plans only, where children[0] probes and children[1] is built:
   RightSemi, ///< built rows with a match; gives build columns only
   RightAnti, ///< built rows without a match; gives build columns only
};

/// Whether a join gives no row for a probe (left) row without a match. Only then may filters and lookups made of the
/// build (right) side drop probe rows before the join.
constexpr bool joinDropsUnmatchedProbe(JoinKind kind) {
   return kind == JoinKind::Inner || kind == JoinKind::Semi || kind == JoinKind::Right || kind == JoinKind::RightSemi ||
          kind == JoinKind::RightAnti;
}

enum class SetOpKind : uint8_t { Union, Intersect, Except };

struct SortKey {
   ExprPtr expr; ///< any expression; rewrites prefer Columns
   bool descending = false;
   bool nullsFirst = false; ///< the binder has applied the default: true for descending
};

struct ComputedColumn {
   ColumnId column;
   ExprPtr expr;
};

struct AggregateCall {
   ColumnId column;                                 ///< the result
   const catalog::FunctionInfo* function = nullptr; ///< pg_proc row of kind 'a'
   std::vector<ExprPtr> args;                       ///< empty: count(*)
   std::vector<ExprPtr> directArgs;                 ///< ordered-set aggregates: percentile_cont(0.5)
   std::vector<SortKey> orderBy;
   ExprPtr filter; ///< may be null
   bool distinct = false;
   bool star = false;
   SqlType type;
};

enum class FrameMode : uint8_t { Range, Rows, Groups };
enum class FrameBoundKind : uint8_t {
   UnboundedPreceding,
   OffsetPreceding,
   CurrentRow,
   OffsetFollowing,
   UnboundedFollowing
};
enum class FrameExclusion : uint8_t { None, CurrentRow, Group, Ties };
struct FrameBound {
   FrameBoundKind kind = FrameBoundKind::UnboundedPreceding;
   ExprPtr offset; ///< Rows/Groups: int8; Range: type of PostgreSQL's in_range offset
};
struct WindowCall {
   ColumnId column;
   const catalog::FunctionInfo* function = nullptr; ///< kind 'w', or 'a' used over a window
   std::vector<ExprPtr> args;
   ExprPtr filter;
   bool star = false, distinct = false;
   SqlType type;
};
struct WindowSpec {
   std::vector<ExprPtr> partitionBy;
   std::vector<SortKey> orderBy;
   FrameMode mode = FrameMode::Range;
   FrameBound start{FrameBoundKind::UnboundedPreceding, nullptr};
   FrameBound end{FrameBoundKind::CurrentRow, nullptr};
   FrameExclusion exclusion = FrameExclusion::None;
};

struct TableRef {
   Oid relation = invalidOid;
   uint64_t storageId = 0;
   std::string schema, name, alias;                     ///< for EXPLAIN and errors
   std::shared_ptr<const io::ExternalTable> external{}; ///< files read as a table
};
struct GetColumn {
   ColumnId column;
   int16_t attribute; ///< attnum from 1; rowIdAttribute for the row id
};
/// Pseudo-attribute of Get: the row's (segment << 24 | row) as int8, for UPDATE and DELETE.
inline constexpr int16_t rowIdAttribute = -7;

enum class LockWaitPolicy : uint8_t { Wait, Skip, Error }; ///< in the order in which one overrules the other
/// Rows of `table`, whose ids are in column `rowId`, are locked until the transaction ends.
struct RowLock {
   TableRef table;
   ColumnId rowId = noColumn;
   LockWaitPolicy wait = LockWaitPolicy::Wait;
};

struct Cte {
   uint32_t id;
   std::string name;
   RelPtr query;                           ///< the non-recursive term, or the whole query
   RelPtr recursive;                       ///< the recursive term; null when not recursive
   bool unionAll = true;                   ///< recursive: UNION ALL keeps duplicates
   std::vector<ColumnId> columns;          ///< the CTE's columns: output columns of `query`
   std::vector<ColumnId> recursiveColumns; ///< the recursive term's output, in the same order
   uint32_t references = 0;
   std::optional<bool> materialized; ///< WITH x AS [NOT] MATERIALIZED
};

/// Effect of a DML operator on one row of its input.
enum class DmlAction : uint8_t { Nothing, Insert, Update, Delete };
enum class ConflictAction : uint8_t { None, Nothing, Update };
struct Dml {
   TableRef table;
   /// Insert: for each live attribute of the table in attnum order, the input column that feeds it. A Map below the
   /// operator has computed defaults, generated values and casts. Update: the same for the new values of the row.
   std::vector<GetColumn> target;
   ColumnId rowId = noColumn; ///< Update, Delete: the column with the row id
   /// Update: the attributes that may get new values; all other attributes of `target` keep their values.
   std::vector<int16_t> assigned;
   /// RETURNING: expressions over `target` (new values) or, for Delete, over inputs[0]; the statement's output.
   std::vector<ComputedColumn> returning;
   /// CHECK constraints and NOT NULL to hold for new rows: expression over the target columns, constraint name ("" for
   /// NOT NULL).
   struct Check {
      ExprPtr expr; ///< violated when false (not when NULL)
      std::string constraint;
      int16_t notNullAttribute = 0; ///< ≠ 0: NOT NULL of this attribute instead of expr
      std::string column;
   };
   std::vector<Check> checks;

   /// MERGE and ON CONFLICT: an int4 column that holds, for each row, the number of the clause that applies;
   /// actions[number] is that clause's action. noColumn: every row gets the action of the operator's kind.
   ColumnId clause = noColumn;
   std::vector<DmlAction> actions;
   /// ON CONFLICT: the row proposed for insertion. It must satisfy `proposedChecks` even if it is not inserted.
   /// `checks` then apply to updated rows only.
   std::vector<GetColumn> proposed;
   std::vector<Check> proposedChecks;
   /// ON CONFLICT: a key that is unique among the rows that the statement inserts. A second row with the key is skipped
   /// (Nothing) or is an error (Update).
   struct ConflictKey {
      std::vector<int16_t> attributes;
      bool nullsNotDistinct = false;
   };
   std::vector<ConflictKey> conflictKeys;
   ConflictAction conflict = ConflictAction::None;
   bool isMain = true; ///< false for a statement in WITH: its rows do not count for the command tag
   /// COPY FROM: the rows' input, which takes errors of rows that break a constraint, and the int8 column with the line
   /// that each row began on. Null and noColumn for all else.
   std::shared_ptr<const io::LineInput> input;
   ColumnId inputLine = noColumn;
};

/// One logical operator; owns its inputs and expressions. `kind` decides which members are used, as listed at RelKind;
/// all other members keep their defaults.
struct Rel {
   RelKind kind;
   std::vector<RelPtr> inputs;

   TableRef table;
   std::vector<GetColumn> getColumns;
   std::vector<ColumnId> columns;
   std::vector<std::vector<ExprPtr>> rows;
   const catalog::FunctionInfo* function = nullptr;
   std::vector<ExprPtr> args;
   ColumnId ordinality = noColumn;
   ExprPtr predicate; ///< null: true
   std::vector<ComputedColumn> computed;
   JoinKind joinKind = JoinKind::Inner;
   bool dependent = false;
   ColumnId markColumn = noColumn;
   std::vector<ComputedColumn> keys;
   std::vector<AggregateCall> aggregates;
   /// Indexes into `keys`; empty: one set of all keys. A key absent from a set is NULL in its rows.
   std::vector<std::vector<uint32_t>> groupingSets;
   /// GROUPING(...) results: column := bit mask over these keys.
   struct GroupingCall {
      ColumnId column;
      std::vector<uint32_t> keys;
   };
   std::vector<GroupingCall> groupingCalls;
   WindowSpec windowSpec;
   std::vector<WindowCall> windowCalls;
   std::vector<SortKey> sortKeys;
   ExprPtr limit, offset;
   bool withTies = false;
   SetOpKind setOpKind = SetOpKind::Union;
   bool all = false;
   std::vector<ColumnId> setOpInputs[2];
   uint32_t cte = 0;
   std::vector<ColumnId> cteColumns;
   std::vector<Cte> ctes;
   std::unique_ptr<Dml> dml;
   std::vector<RowLock> rowLocks;

   explicit Rel(RelKind k) : kind(k) {}
};

/// Columns the operator gives to its parent, in no particular order.
std::vector<ColumnId> outputColumns(const Rel& rel);
/// Call `visit` for every expression directly in this operator (not in its inputs).
void forEachOwnExpr(Rel& rel, const std::function<void(ExprPtr&)>& visit);
void forEachOwnExpr(const Rel& rel, const std::function<void(const Expr&)>& visit);
/// Columns read in the subtree (expressions and nested subqueries) but not produced in it: free for correlation.
std::vector<ColumnId> freeColumns(const Rel& rel);
RelPtr clone(const Rel& rel); ///< same column ids
/// Indented text for tests and debugging.
std::string toString(const Rel& rel, const ColumnTable& columns);
std::string toString(const Expr& expr, const ColumnTable& columns);

/// One column of a result as RowDescription shows it.
struct OutputColumn {
   std::string name;
   ColumnId column;
   SqlType type;
   Oid tableOid = invalidOid;
   int16_t attribute = 0;
};

/// A relation that a statement, or a statement in its WITH, changes.
struct WrittenRelation {
   Oid relation = invalidOid;
   bool makesRows = false;        ///< inserts or updates
   std::vector<int16_t> assigned; ///< only these attributes get new values; empty: all
};

enum class StatementKind : uint8_t { Select, Insert, Update, Delete, Merge };

/// A bound query: the binder's result and the optimizer's input. `output` is empty for DML without RETURNING.
struct BoundQuery {
   RelPtr root;
   std::vector<OutputColumn> output;
   ColumnTable columns;
   std::vector<SqlType> parameters;            ///< types of $1..$n
   std::vector<Oid> relations;                 ///< objects the plan depends on (plan cache, locks)
   std::vector<Oid> rowLocked;                 ///< the relations whose rows LockRows locks
   StatementKind kind = StatementKind::Select; ///< of the main statement
   std::vector<WrittenRelation> written;       ///< each relation once
   /// True with ON CONFLICT. If the final check then finds a unique violation and another transaction has committed
   /// since the snapshot, the engine runs the statement again on a fresh snapshot instead of raising the error.
   bool hasConflictClause = false;
   bool writes(Oid relation) const {
      for (const WrittenRelation& one : written)
         if (one.relation == relation) return true;
      return false;
   }
   bool readOnly = true;
};

} // namespace ouzel::sql
