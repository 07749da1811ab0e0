#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sql/algebra/rel.hpp"
#include "sql/parse/pg_nodes.hpp"

// What names mean at one level of a query. Scopes live on the binder's stack and chain outwards through `parent`.

namespace ouzel::catalog {
struct Relation;
}

namespace ouzel::sql {

/// The clause an expression is bound for: decides what may stand in it and how errors call it.
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
   PartitionBound,
   Execute,
   CallArgument,
   CopyWhere,
};

/// A column as a FROM item shows it.
struct ScopeColumn {
   std::string name;
   ColumnId column;
   SqlType type;
   Oid tableOid = invalidOid; ///< the table or view whose column it is
   int16_t attribute = 0;
   std::vector<ScopeColumn> fields{}; ///< of a row value, which is no column itself
};

/// One name in FROM, or an unnamed join whose columns are what USING made of them.
struct NamespaceItem {
   std::string alias;                           ///< empty: unnamed join
   const catalog::Relation* relation = nullptr; ///< stored or virtual table without alias renaming its rows
   bool isAliased = false;                      ///< schema-qualified references do not reach aliased tables
   std::vector<ScopeColumn> columns;
   bool hasVisibleName = true, hasVisibleColumns = true;
   bool lateralOnly = false;      ///< still in the making: only LATERAL items may look
   bool lateralOk = true;         ///< false: the join type forbids it
   bool isNullExtended = false;   ///< on the nullable side of an outer join
   bool isScalarFunction = false; ///< a function giving one unnamed column: `f` means that column
   Oid rowType = invalidOid;
};

/// Any FROM entry, visible or not, for hints in errors.
struct RangeEntry {
   std::string alias;
   std::string relationName; ///< of a table, whatever its alias
   bool isAliased = false;
   std::vector<std::string> columns;
};

/// A WITH query. Bound when first referred to or when its turn comes.
struct CteBinding {
   std::string name;
   uint32_t id = 0;
   const ::CommonTableExpr* node = nullptr;
   enum class State : uint8_t { Unbound, NonRecursiveTerm, RecursiveTerm, Bound } state = State::Unbound;
   std::vector<ScopeColumn> columns; ///< known from RecursiveTerm on
   Cte cte;
   uint32_t selfReferences = 0;
};

/// A set-returning call of the select list.
struct TargetSrf {
   ColumnId column;
   ExprPtr call;
};

/// A function of several columns in the select list.
struct RowFunction {
   ExprPtr call;
   std::vector<ScopeColumn> columns;
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
   size_t ctesVisible = 0;            ///< without RECURSIVE only the first so many can be seen
   std::deque<CteBinding> nestedCtes; ///< moved here from within recursive unions
   std::vector<CteBinding*> cteOrder; ///< as they became bound: later ones may read earlier ones

   // What expressions of this level leave behind for its operators.
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

/// Sets the clause for as long as it lives.
class ClauseGuard {
public:
   ClauseGuard(Scope& scope, Clause clause) : scope_(scope), previous_(scope.clause) { scope.clause = clause; }
   ~ClauseGuard() { scope_.clause = previous_; }
   ClauseGuard(const ClauseGuard&) = delete;

private:
   Scope& scope_;
   Clause previous_;
};

/// The window that WINDOW defines under this name, among the first `upTo`. Throws 42704.
const ::WindowDef& findWindow(const Scope& scope, std::string_view name, uint32_t position, size_t upTo);

/// "WHERE", "JOIN conditions", "functions in FROM": how errors call a clause.
std::string_view clauseName(Clause clause);

} // namespace ouzel::sql
