#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "common/json/path_access.hpp"
#include "sql/algebra/expr.hpp"
#include "storage/version/lock_strength.hpp"

// The fields of logical operators (rel.hpp). Each struct lists its members once more, in `members`, with the role of
// the column ids in them. The walks of members.hpp and the copies of rel.cpp follow these lists. A list is a template
// of its own struct, Self, so that it is compiled only where it is used and not in each source that includes this
// header.

namespace ouzel::io {
class ExternalTable;
class LineInput;
} // namespace ouzel::io

namespace ouzel::sql {

struct FiredTriggers; // sql/algebra/fired_triggers.hpp

/// What an operator does with the column ids that a member holds.
enum class ColumnRole : uint8_t {
   Made, ///< the operator makes these columns
   Read, ///< the operator reads these columns, besides those in its expressions
   Cte,  ///< columns that a CTE's query makes and the scans of the CTE refer to
};

/// An entry of `members` with a role. An entry without one is a plain pointer: column ids in it have the role of the
/// member that holds its struct.
template <typename Struct, typename Type>
struct ColumnMember {
   Type Struct::*pointer;
   ColumnRole role;
};
constexpr auto made(auto pointer) {
   return ColumnMember{pointer, ColumnRole::Made};
}
constexpr auto reads(auto pointer) {
   return ColumnMember{pointer, ColumnRole::Read};
}
constexpr auto ofCte(auto pointer) {
   return ColumnMember{pointer, ColumnRole::Cte};
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

   template <typename Self>
   static constexpr std::tuple members{&Self::expr, &Self::descending, &Self::nullsFirst};
};

struct ComputedColumn {
   ColumnId column;
   ExprPtr expr;

   template <typename Self>
   static constexpr std::tuple members{made(&Self::column), &Self::expr};
};

struct Fold; // sql/algebra/fold.hpp

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
   std::shared_ptr<const Fold> fold; ///< of ouzel_fold(), an aggregate of a user

   template <typename Self>
   static constexpr std::tuple members{made(&Self::column), &Self::function, &Self::args,     &Self::directArgs,
                                       &Self::orderBy,      &Self::filter,   &Self::distinct, &Self::star,
                                       &Self::type,         &Self::fold};
};

/// GROUPING(...): column := bit mask over these keys.
struct GroupingCall {
   ColumnId column;
   std::vector<uint32_t> keys;

   template <typename Self>
   static constexpr std::tuple members{made(&Self::column), &Self::keys};
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

   template <typename Self>
   static constexpr std::tuple members{&Self::kind, &Self::offset};
};
struct WindowCall {
   ColumnId column;
   const catalog::FunctionInfo* function = nullptr; ///< kind 'w', or 'a' used over a window
   std::vector<ExprPtr> args;
   ExprPtr filter;
   bool star = false, distinct = false;
   SqlType type;
   std::shared_ptr<const Fold> fold; ///< as of AggregateCall

   template <typename Self>
   static constexpr std::tuple members{made(&Self::column), &Self::function, &Self::args, &Self::filter,
                                       &Self::star,         &Self::distinct, &Self::type, &Self::fold};
};
struct WindowSpec {
   std::vector<ExprPtr> partitionBy;
   std::vector<SortKey> orderBy;
   FrameMode mode = FrameMode::Range;
   FrameBound start{FrameBoundKind::UnboundedPreceding, nullptr};
   FrameBound end{FrameBoundKind::CurrentRow, nullptr};
   FrameExclusion exclusion = FrameExclusion::None;

   template <typename Self>
   static constexpr std::tuple members{&Self::partitionBy, &Self::orderBy, &Self::mode,
                                       &Self::start,       &Self::end,     &Self::exclusion};
};

struct TableParts;  // sql/algebra/table_parts.hpp
struct BoundsAbove; // sql/algebra/table_parts.hpp

struct TableRef {
   Oid relation = invalidOid;
   uint64_t storageId = 0;
   std::string schema, name, alias;                     ///< for EXPLAIN and errors
   std::shared_ptr<const io::ExternalTable> external{}; ///< files, or a table of another server, read as a table
   /// The tables with the rows of a partitioned table, or of one from which others inherit; null: only its own.
   std::shared_ptr<const TableParts> parts{};
   std::shared_ptr<const std::vector<uint32_t>> keptParts{}; ///< those of `parts` to read; null: all
   std::string wrapper{};                                    ///< of a foreign table: that of its server
   bool hasHandler = false; ///< the wrapper has code that reads; false: it has none, or this is no foreign table
};
struct GetColumn {
   ColumnId column;
   int16_t attribute; ///< attnum from 1; rowIdAttribute, tableOidAttribute; with parts: TableParts::extra behind them

   template <typename Self>
   static constexpr std::tuple members{&Self::column, &Self::attribute};
};
/// A column that a scan gives of a jsonb attribute: what lies at a path of its documents.
struct GetPath {
   ColumnId column;
   int16_t attribute;
   json::PathAccess access;
   /// Of an integer, as it is stored; smallest > largest: not known. They hold for all rows.
   int64_t smallest = 1, largest = 0;
   double present = -1; ///< rows in which the column is not NULL, counted over all that are stored; negative: not known
   double distinct = -1; ///< values that differ, by sketches of what is stored; negative: not known

   template <typename Self>
   static constexpr std::tuple members{&Self::column,  &Self::attribute, &Self::access,  &Self::smallest,
                                       &Self::largest, &Self::present,   &Self::distinct};
};
/// Pseudo-attribute of Get: the row's (segment << 24 | row) as int8, for UPDATE and DELETE.
inline constexpr int16_t rowIdAttribute = -7;
/// Pseudo-attribute of Get: the OID of the table that the row lies in.
inline constexpr int16_t tableOidAttribute = -6;

enum class LockWaitPolicy : uint8_t { Wait, Skip, Error }; ///< in the order in which one overrules the other
/// Rows of `table`, whose ids are in column `rowId`, are locked until the transaction ends.
struct RowLock {
   TableRef table;
   ColumnId rowId = noColumn;
   LockWaitPolicy wait = LockWaitPolicy::Wait;
   ColumnId tableOid = noColumn; ///< of a table with parts: the part that a row lies in
   storage::LockStrength strength = storage::LockStrength::Update;
   /// KeyShare: for each part, or for the table, a key by which its rows are found again: attributes of the part.
   /// Empty: it has none.
   std::vector<std::vector<int16_t>> keys{};

   template <typename Self>
   static constexpr std::tuple members{&Self::table,           reads(&Self::rowId), &Self::wait,
                                       reads(&Self::tableOid), &Self::strength,     &Self::keys};
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

   template <typename Self>
   static constexpr std::tuple members{&Self::id,
                                       &Self::name,
                                       &Self::query,
                                       &Self::recursive,
                                       &Self::unionAll,
                                       ofCte(&Self::columns),
                                       ofCte(&Self::recursiveColumns),
                                       &Self::references,
                                       &Self::materialized};
};

/// Effect of a DML operator on one row of its input.
enum class DmlAction : uint8_t {
   Nothing,
   Insert,
   Update,
   Delete,
   Refuse, ///< the row fails one of storedChecks, whose error is the statement's
};
enum class ConflictAction : uint8_t { None, Nothing, Update };
struct Dml {
   TableRef table;
   /// Insert: for each live attribute of the table in attnum order, the input column that feeds it. A Map below the
   /// operator has computed defaults, generated values and casts. Update: the same for the new values of the row.
   std::vector<GetColumn> target;
   ColumnId rowId = noColumn;    ///< Update, Delete: the column with the row id
   ColumnId tableOid = noColumn; ///< the same if the table has parts: the OID of the part that the row lies in
   /// Update: the attributes that may get new values; all other attributes of `target` keep their values.
   std::vector<int16_t> assigned;
   /// Update: whether rows whose keys keep their values are locked with LockStrength::NoKeyUpdate, and the stored
   /// values of the key columns that may get others. Keys are those that foreign keys may reference.
   bool mayKeepKeys = false;
   std::vector<GetColumn> storedKeys;
   /// RETURNING: expressions over `target` (new values) or, for Delete, over inputs[0]; the statement's output.
   std::vector<ComputedColumn> returning;
   /// CHECK constraints and NOT NULL to hold for new rows: expression over the target columns, constraint name ("" for
   /// NOT NULL).
   struct Check {
      ExprPtr expr; ///< violated when false (not when NULL)
      std::string constraint;
      int16_t notNullAttribute = 0; ///< ≠ 0: NOT NULL of this attribute instead of expr
      std::string column;
      std::string policyError{}; ///< of row-level security: the message of the error
      std::string view{};        ///< of WITH CHECK OPTION: the view
      bool isVisibility = false; ///< of a stored row: whether `view` shows it

      template <typename Self>
      static constexpr std::tuple members{&Self::expr,        &Self::constraint, &Self::notNullAttribute, &Self::column,
                                          &Self::policyError, &Self::view,       &Self::isVisibility};
   };
   std::vector<Check> checks;
   /// Constraints that only one part of the table has, over the same columns.
   struct PartCheck {
      uint32_t part; ///< index into table.parts
      Check check;

      template <typename Self>
      static constexpr std::tuple members{&Self::part, &Self::check};
   };
   std::vector<PartCheck> partChecks;
   /// Expressions of partition keys over the same columns, by the numbers that stand for them.
   struct PartKey {
      int16_t attribute;
      ExprPtr expr;

      template <typename Self>
      static constexpr std::tuple members{&Self::attribute, &Self::expr};
   };
   std::vector<PartKey> partKeys;
   std::shared_ptr<const BoundsAbove> bounds; ///< of a partition that the statement names: its rows stay within them

   /// MERGE and ON CONFLICT: an int4 column that holds, for each row, the number of the clause that applies;
   /// actions[number] is that clause's action. noColumn: every row gets the action of the operator's kind.
   ColumnId clause = noColumn;
   std::vector<DmlAction> actions;
   /// ON CONFLICT: the row proposed for insertion. It must satisfy `proposedChecks` even if it is not inserted.
   /// `checks` then apply to updated rows only.
   std::vector<GetColumn> proposed;
   std::vector<Check> proposedChecks;
   /// What stored rows have to pass, over columns of the input: those that MERGE changes or deletes, and those that ON
   /// CONFLICT refuses to change, for the error.
   std::vector<Check> storedChecks;
   /// ON CONFLICT: a key that is unique among the rows that the statement inserts. A second row with the key is skipped
   /// (Nothing) or is an error (Update).
   struct ConflictKey {
      std::vector<int16_t> attributes; ///< of `target`; empty: the key is `columns`
      bool nullsNotDistinct = false;
      /// Of an index that computes its key: columns of the input, and a boolean one that is true for the rows that the
      /// index has (noColumn: all rows).
      std::vector<ColumnId> columns{};
      ColumnId guard = noColumn;

      template <typename Self>
      static constexpr std::tuple members{&Self::attributes, &Self::nullsNotDistinct, reads(&Self::columns),
                                          reads(&Self::guard)};
   };
   std::vector<ConflictKey> conflictKeys;
   ConflictAction conflict = ConflictAction::None;
   bool isMain = true; ///< false for a statement in WITH: its rows do not count for the command tag
   /// COPY FROM: the rows' input, which takes errors of rows that break a constraint, and the int8 column with the line
   /// that each row began on. Null and noColumn for all else.
   std::shared_ptr<const io::LineInput> input;
   ColumnId inputLine = noColumn;
   /// What the triggers of the target need of each row that was written: computed over the columns of the input.
   std::vector<ComputedColumn> events;
   std::shared_ptr<const FiredTriggers> triggers; ///< null: none fires
   /// The OID of the part in which BEFORE INSERT triggers have seen the row, which they may not change (of UPDATE for
   /// rows that move, else NULL), and for INSERT the name of the last of them. noColumn: there are none, or no parts.
   ColumnId seenPart = noColumn;
   std::string seenBy;
   bool isInstead = false; ///< INSTEAD OF triggers have done the work: rows are counted and returned

   template <typename Self>
   static constexpr std::tuple members{&Self::table,
                                       reads(&Self::target),
                                       reads(&Self::rowId),
                                       reads(&Self::tableOid),
                                       &Self::assigned,
                                       &Self::mayKeepKeys,
                                       reads(&Self::storedKeys),
                                       &Self::returning,
                                       &Self::checks,
                                       &Self::partChecks,
                                       &Self::partKeys,
                                       &Self::bounds,
                                       reads(&Self::clause),
                                       &Self::actions,
                                       reads(&Self::proposed),
                                       &Self::proposedChecks,
                                       &Self::storedChecks,
                                       &Self::conflictKeys,
                                       &Self::conflict,
                                       &Self::isMain,
                                       &Self::input,
                                       reads(&Self::inputLine),
                                       &Self::events,
                                       &Self::triggers,
                                       reads(&Self::seenPart),
                                       &Self::seenBy,
                                       &Self::isInstead};
};

/// The fields of each kind of operator. `inputs` are those of the Rel.
namespace op {

/// Scan of a stored table. VirtualGet: scan of a catalog or statistics table computed from the snapshot,
/// `table.relation`; or of files, `table.external`, whose column i is attribute i + 1.
struct Get {
   TableRef table;
   std::vector<GetColumn> columns;
   std::vector<GetPath> paths; ///< not of a VirtualGet
   ExprPtr predicate;          ///< of the rows to give; null: true
   /// Rows as the statements in its own statement's WITH have left them, not as the statement's snapshot has them:
   /// those that an INSERT ... ON CONFLICT meets.
   bool seesWith = false;

   template <typename Self>
   static constexpr std::tuple members{&Self::table, made(&Self::columns), made(&Self::paths), &Self::predicate,
                                       &Self::seesWith};
};

/// Rows of expressions; one row of no columns is "no FROM".
struct Values {
   std::vector<ColumnId> columns;
   std::vector<std::vector<ExprPtr>> rows;

   template <typename Self>
   static constexpr std::tuple members{made(&Self::columns), &Self::rows};
};

/// Set-returning function. Its arguments may be correlated (under a dependent Join) or read columns of an input.
struct TableFunction {
   const catalog::FunctionInfo* function = nullptr;
   std::vector<ExprPtr> args;
   std::vector<ColumnId> columns;
   ColumnId ordinality = noColumn; ///< WITH ORDINALITY: the number of the row

   template <typename Self>
   static constexpr std::tuple members{&Self::function, &Self::args, made(&Self::columns), made(&Self::ordinality)};
};

/// Rows of inputs[0] for which `predicate` is true.
struct Select {
   ExprPtr predicate; ///< null: true

   template <typename Self>
   static constexpr std::tuple members{&Self::predicate};
};

/// inputs[0] plus computed columns. ProjectSet: the columns are set-returning functions of the select list, whose rows
/// advance in lockstep.
struct Map {
   std::vector<ComputedColumn> computed;

   template <typename Self>
   static constexpr std::tuple members{&Self::computed};
};

/// Join of inputs[0] (left, probe) and inputs[1] (right, build).
struct Join {
   JoinKind kind = JoinKind::Inner;
   ExprPtr predicate; ///< null: true
   /// The right side reads columns of the left (LATERAL, correlated subquery). No join is after unnesting.
   bool dependent = false;
   ColumnId markColumn = noColumn; ///< of a Mark join

   template <typename Self>
   static constexpr std::tuple members{&Self::kind, &Self::predicate, &Self::dependent, made(&Self::markColumn)};
};

/// Groups of inputs[0] with aggregates. Without keys: exactly one row.
struct GroupBy {
   std::vector<ComputedColumn> keys;
   std::vector<AggregateCall> aggregates;
   /// Indexes into `keys`; empty: one set of all keys. A key absent from a set is NULL in its rows.
   std::vector<std::vector<uint32_t>> groupingSets;
   std::vector<GroupingCall> groupingCalls;

   template <typename Self>
   static constexpr std::tuple members{&Self::keys, &Self::aggregates, &Self::groupingSets, &Self::groupingCalls};
};

/// inputs[0] plus columns of window functions, all over one partition and order.
struct Window {
   WindowSpec spec;
   std::vector<WindowCall> calls;

   template <typename Self>
   static constexpr std::tuple members{&Self::spec, &Self::calls};
};

/// Duplicates of inputs[0] over `columns` removed.
struct Distinct {
   std::vector<ColumnId> columns;
   std::vector<SortKey> sortKeys; ///< not empty: DISTINCT ON (`columns`), which keeps the first row in this order

   template <typename Self>
   static constexpr std::tuple members{reads(&Self::columns), &Self::sortKeys};
};

struct Sort {
   std::vector<SortKey> keys; ///< the order of the rows; not empty

   template <typename Self>
   static constexpr std::tuple members{&Self::keys};
};

/// `limit` rows of inputs[0] after the first `offset`: constant-like, or columns of inputs[1]'s only row; null: none.
struct Limit {
   ExprPtr limit, offset;
   bool withTies = false;
   std::vector<SortKey> sortKeys; ///< the order in which rows tie, for `withTies`

   template <typename Self>
   static constexpr std::tuple members{&Self::limit, &Self::offset, &Self::withTies, &Self::sortKeys};
};

/// UNION, INTERSECT, EXCEPT: columns[i] is fed from inputColumns[0][i] (of inputs[0]) and inputColumns[1][i].
struct SetOp {
   SetOpKind kind = SetOpKind::Union;
   bool all = false;
   std::vector<ColumnId> columns;
   std::array<std::vector<ColumnId>, 2> inputColumns;

   template <typename Self>
   static constexpr std::tuple members{&Self::kind, &Self::all, made(&Self::columns), reads(&Self::inputColumns)};
};

/// Reads CTE `cte`: columns[i] is the CTE's cteColumns[i]. RecursiveScan: inside a recursive term, the working table of
/// the CTE.
struct CteScan {
   uint32_t cte = 0;
   std::vector<ColumnId> columns;
   std::vector<ColumnId> cteColumns;

   template <typename Self>
   static constexpr std::tuple members{&Self::cte, made(&Self::columns), ofCte(&Self::cteColumns)};
};

/// inputs[0] is the body. CTEs are evaluated at most once each, in order; each is visible in the body and in later
/// ones.
struct With {
   std::vector<Cte> ctes;

   template <typename Self>
   static constexpr std::tuple members{&Self::ctes};
};

/// FOR UPDATE / SHARE over inputs[0].
struct LockRows {
   std::vector<RowLock> locks;

   template <typename Self>
   static constexpr std::tuple members{&Self::locks};
};

/// Rows of inputs[0]. What is above must not find out anything about rows that the input leaves out: only leakproof
/// predicates pass, and joins do not move across. Above row-level security and security_barrier views.
struct Barrier {
   Oid relation = invalidOid; ///< whose policies the input keeps; invalidOid: a view's
   Oid role = invalidOid;     ///< for whom

   template <typename Self>
   static constexpr std::tuple members{&Self::relation, &Self::role};
};

/// INSERT, UPDATE, DELETE, MERGE: inputs[0] gives the rows.
struct Write {
   std::unique_ptr<Dml> dml;

   template <typename Self>
   static constexpr std::tuple members{&Self::dml};
};

using AnyOf = std::variant<Get, Values, TableFunction, Select, Map, Join, GroupBy, Window, Distinct, Sort, Limit, SetOp,
                           CteScan, With, LockRows, Barrier, Write>;

/// The fields of one operator. What a variant does with each of its alternatives is compiled once, in rel.cpp.
struct Fields : AnyOf {
   using AnyOf::AnyOf;
   Fields(Fields&& other) noexcept;
   ~Fields();
};

} // namespace op

} // namespace ouzel::sql
