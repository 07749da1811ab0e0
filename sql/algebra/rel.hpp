#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/error/check.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/access.hpp"
#include "sql/algebra/columns.hpp"
#include "sql/algebra/operators.hpp"

// Logical operators: written by sql/bind, rewritten by optimizer/. Columns are ids, never positions.

namespace ouzel::sql {

/// Kinds of operators. The fields of a kind are in the struct of its name in operators.hpp; kinds that share a struct
/// say so.
enum class RelKind : uint8_t {
   Get,
   VirtualGet, ///< op::Get
   Values,
   TableFunction,
   Select,
   Map,
   ProjectSet, ///< op::Map
   Join,
   GroupBy,
   Window,
   Distinct,
   Sort,
   Limit,
   SetOp,
   CteScan,
   With,
   RecursiveScan, ///< op::CteScan
   LockRows,
   Barrier,
   Insert, ///< op::Write, as for the next three
   Update,
   Delete,
   Merge,
};

inline bool isDml(RelKind kind) {
   return kind == RelKind::Insert || kind == RelKind::Update || kind == RelKind::Delete || kind == RelKind::Merge;
}
const char* nameOf(RelKind kind);

/// One logical operator; owns its inputs and expressions. An operator keeps its kind: a rewrite that wants another kind
/// makes another operator.
struct Rel {
   const RelKind kind;
   std::vector<RelPtr> inputs;
   op::Fields fields; ///< those of `kind`

   explicit Rel(RelKind k); ///< with empty fields
   Rel(RelKind k, op::Fields&& f);
   ~Rel();

   /// The fields of an operator that is known to have these: `rel.as<op::Join>().predicate`.
   template <typename Op>
   Op& as() {
      DCHECK(std::holds_alternative<Op>(fields));
      return *std::get_if<Op>(&fields);
   }
   template <typename Op>
   const Op& as() const {
      DCHECK(std::holds_alternative<Op>(fields));
      return *std::get_if<Op>(&fields);
   }
   /// The fields if the operator has these, else null.
   template <typename Op>
   Op* getIf() {
      return std::get_if<Op>(&fields);
   }
   template <typename Op>
   const Op* getIf() const {
      return std::get_if<Op>(&fields);
   }
};

RelPtr makeRel(RelKind kind, op::Fields&& fields);
RelPtr makeRel(RelKind kind, op::Fields&& fields, RelPtr input);
RelPtr makeRel(RelKind kind, op::Fields&& fields, RelPtr left, RelPtr right);

/// Columns the operator gives to its parent, in no particular order.
std::vector<ColumnId> outputColumns(const Rel& rel);
/// True if a function of the operator itself is volatile; its inputs do not count.
bool callsVolatile(const Rel& rel);
/// The predicate, perhaps null, of a scan, Select or Join; null pointer for other operators.
ExprPtr* predicateOf(Rel& rel);
/// Calls `visit` for every operator directly below: the inputs, then the queries of CTEs. R: Rel or const Rel.
template <typename R, typename Visit>
void forEachChild(R& rel, Visit&& visit) {
   checkStack(); // `visit` goes deeper
   for (auto& input : rel.inputs)
      visit(input);
   auto* with = rel.template getIf<op::With>();
   if (!with) return;
   for (auto& cte : with->ctes) {
      visit(cte.query);
      if (cte.recursive) visit(cte.recursive);
   }
}
/// Calls `visit` for every column id in this operator's fields, not those in its expressions.
void forEachOwnColumn(Rel& rel, const std::function<void(ColumnId&, ColumnRole)>& visit);
void forEachOwnColumn(const Rel& rel, const std::function<void(ColumnId, ColumnRole)>& visit);
/// Call `visit` for every expression directly in this operator (not in its inputs).
void forEachOwnExpr(Rel& rel, const std::function<void(ExprPtr&)>& visit);
void forEachOwnExpr(const Rel& rel, const std::function<void(const Expr&)>& visit);
/// Columns read in the subtree (expressions and nested subqueries) but not produced in it: free for correlation.
std::vector<ColumnId> freeColumns(const Rel& rel);
/// Replaces columns that expressions of the subtree read. No operator may read them by their ids.
void substituteColumns(Rel& rel, const std::function<const Expr*(ColumnId)>& replacement);
RelPtr clone(const Rel& rel); ///< same column ids
/// Indented text for tests, debugging and EXPLAIN.
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
/// Where the rows of a cursor tell of a table's rows that they are made of. Numbers are of columns behind the result's.
struct RowPlace {
   Oid table = invalidOid;
   uint32_t rowId = 0;
   std::optional<uint32_t> tableOid{}; ///< of the part in which the row lies; none: the table has no parts
   bool isLocked = false;              ///< by FOR UPDATE and its kin
};

struct BoundQuery {
   RelPtr root;
   std::vector<OutputColumn> output;
   std::vector<RowPlace> places; ///< of a cursor's query
   uint32_t hiddenColumns = 0;   ///< the last ones of `output`, which `places` tell of
   std::string cursor;           ///< of WHERE CURRENT OF, which changes the row it is on; empty: none
   bool isForOnce = false;       ///< no plan of it may be kept
   ColumnTable columns;
   std::vector<SqlType> parameters;    ///< types of $1..$n; their values are of the base types of domains
   std::vector<Oid> relations;         ///< objects the plan depends on (plan cache, locks)
   std::vector<RelationAccess> access; ///< what it does with relations, views included
   std::vector<Oid> rowLocked;         ///< the relations whose rows LockRows locks
   storage::LockStrength firstLock = storage::LockStrength::Update; ///< of the first clause that locks rows
   StatementKind kind = StatementKind::Select;                      ///< of the main statement
   std::vector<WrittenRelation> written;                            ///< each relation once
   /// True with ON CONFLICT. If the final check then finds a unique violation and another transaction has committed
   /// since the snapshot, the engine runs the statement again on a fresh snapshot instead of raising the error.
   bool hasConflictClause = false;
   bool writes(Oid relation) const {
      for (const WrittenRelation& one : written)
         if (one.relation == relation) return true;
      return false;
   }
   bool readOnly = true;
   bool runsRoutines = false;  ///< as plan::Plan has it
   bool firesTriggers = false; ///< some Dml has them
   /// Commands that rules of the written relation add, to be run before and after this one.
   std::vector<BoundQuery> before, after;
   bool isReplaced = false; ///< by rules: it does nothing itself
   bool hasRules() const { return isReplaced || !before.empty() || !after.empty(); }
};

} // namespace ouzel::sql
