#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sql/algebra/rel.hpp"
#include "sql/parse/pg_nodes.hpp"

// The names that are visible at one level of a query, and the calls that expressions of the level leave for its
// operators. A scope lives on the stack of the function that binds its query, and `parent` is the enclosing query's
// scope:
//
//    SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.x = t.x)
//    depth 0: items {t}  <--parent--  depth 1: items {u}
//
// Name lookup begins in the innermost scope. A column of an outer scope makes the inner query correlated.

namespace ouzel::catalog {
struct Relation;
}

namespace ouzel::sql {

/// The clause that contains an expression. It decides which constructs are allowed and which word errors use.
enum class Clause : uint8_t {
   None,
   Select,
   Where,
   Having,
   Filter,
   JoinOn,
   FromSubquery,
   FromFunction,
   WindowPartition,
   WindowOrder,
   WindowFrame,
   GroupBy,
   OrderBy,
   DistinctOn,
   Limit,
   Offset,
   Values,
   InsertValues,
   UpdateSource,
   MergeWhen,
   Returning,
   Check,
   Default,
   Generated,
   AlterUsing,
   Index,
   Statistics,
   IndexPredicate,
   PartitionKey,
   PartitionBound,
   Execute,
   CallArgument,
   CopyWhere,
   Policy,
   TriggerWhen,
   Transition, ///< of an aggregate of a user
};

/// A column of a FROM item, with the name that the item gives it.
struct ScopeColumn {
   std::string name;
   ColumnId column;
   SqlType type;
   Oid tableOid = invalidOid; ///< the table or view whose column it is
   int16_t attribute = 0;
   uint32_t target = 0;               ///< ≠ 0: of a table that the statement writes, see TargetPolicies
   std::vector<ScopeColumn> fields{}; ///< of a row value, whose `column` is noColumn
   bool isHidden = false;             ///< `*` and whole rows leave it out, see SearchCycle
};

/// One name in FROM, or an unnamed join with the columns that USING has merged.
struct NamespaceItem {
   std::string alias;                           ///< empty: unnamed join
   const catalog::Relation* relation = nullptr; ///< stored or virtual table without alias renaming its rows
   bool isAliased = false;                      ///< schema-qualified references do not reach aliased tables
   std::vector<ScopeColumn> columns;
   bool hasVisibleName = true, hasVisibleColumns = true;
   bool lateralOnly = false;      ///< FROM is not complete: only LATERAL items may refer to this item
   bool lateralOk = true;         ///< false: the join type forbids references by LATERAL items
   bool isNullExtended = false;   ///< on the nullable side of an outer join
   bool isScalarFunction = false; ///< a function giving one unnamed column: `f` means that column
   Oid rowType = invalidOid;
   ColumnId tableOid = noColumn;  ///< of a table with parts: the OID of the one that a row lies in
   Rel* scan = nullptr;           ///< a stored table's Get, where its rows have places that ctid may show
   ColumnId rowId = noColumn;     ///< of the scan, once ctid is read
   bool isInserted = false;       ///< the rows are those of INSERT ... RETURNING
   ColumnId updatedId = noColumn; ///< of them: the id of the row that ON CONFLICT has updated, or NULL
};

/// A FROM entry, visible or not, for hints in errors.
struct RangeEntry {
   std::string alias;
   std::string relationName; ///< of a table, even if it has an alias
   bool isAliased = false;
   std::vector<std::string> columns;
};

/// A WITH query. declareCtes binds the queries of a WITH in order. With RECURSIVE, a reference from an earlier query
/// binds the later query first.
struct CteBinding {
   std::string name;
   uint32_t id = 0;
   const ::CommonTableExpr* node = nullptr;
   enum class State : uint8_t { Unbound, NonRecursiveTerm, RecursiveTerm, Bound } state = State::Unbound;
   std::vector<ScopeColumn> columns; ///< known from RecursiveTerm on
   Cte cte;
   uint32_t selfReferences = 0;
   std::vector<ColumnId> selfColumns; ///< of the scan in the recursive term, one for each of `columns`
};

/// A set-returning call of the select list.
struct TargetSrf {
   ColumnId column;
   ExprPtr call;
};

/// A function of several columns in the select list.
struct RowFunction {
   ExprPtr call; ///< null: `rows`
   std::vector<ScopeColumn> columns;
   RelPtr rows{}; ///< at most one, of a function whose query takes the place of the call
};

struct PendingWindowCall {
   const ::WindowDef* over;
   WindowCall call;
   uint32_t position;
};

struct PendingGrouping {
   ColumnId column;
   std::vector<ExprPtr> args;
   uint32_t position;
};

struct Scope {
   Scope* parent = nullptr;
   uint32_t depth = 0; ///< 0 outermost
   Clause clause = Clause::None;
   bool lateralActive = false;
   std::vector<NamespaceItem> items;
   std::vector<RangeEntry> entries;
   std::deque<CteBinding> ctes; ///< of this level's WITH; addresses are stable
   bool ctesAreRecursive = false;
   size_t ctesVisible = 0;            ///< without RECURSIVE: the number of leading CTEs that are visible
   std::deque<CteBinding> nestedCtes; ///< CTEs of WITH clauses inside recursive unions, moved here
   std::vector<CteBinding*> cteOrder; ///< in the order of binding: a CTE may read those before it

   // Calls in expressions of this level, which the operators of the level compute.
   std::vector<AggregateCall> aggregates;
   std::vector<PendingGrouping> groupings;
   std::vector<PendingWindowCall> windowCalls;
   std::vector<TargetSrf> srfs;
   std::vector<RowFunction> rowFunctions;
   std::vector<const ::WindowDef*> namedWindows;
   bool isRecursiveTerm = false; ///< the recursive term of a CTE: no aggregates
   /// A CASE or COALESCE around the expression being bound: its name, for refusing set-returning functions.
   const char* srfBlocker = nullptr;

   explicit Scope(Scope* outer) : parent(outer), depth(outer ? outer->depth + 1 : 0) {}
   Scope(const Scope&) = delete;
};

/// Sets the scope's clause while it lives.
class ClauseGuard {
public:
   ClauseGuard(Scope& scope, Clause clause) : scope_(scope), previous_(scope.clause) { scope.clause = clause; }
   ~ClauseGuard() { scope_.clause = previous_; }
   ClauseGuard(const ClauseGuard&) = delete;

private:
   Scope& scope_;
   Clause previous_;
};

/// The table as a FROM item over the row in `columns`, whose columns are named as the table's.
NamespaceItem itemOf(const catalog::Relation& table, const std::vector<GetColumn>& columns);
/// Adds the item to the scope's entries, which give hints in errors.
void addEntry(Scope& scope, const NamespaceItem& item);

/// The definition of this name among the first `upTo` of the WINDOW clause. Throws 42704.
const ::WindowDef& findWindow(const Scope& scope, std::string_view name, uint32_t position, size_t upTo);

/// The clause's name in errors: "WHERE", "JOIN conditions", "functions in FROM".
std::string_view clauseName(Clause clause);

} // namespace ouzel::sql
