#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "sql/algebra/access.hpp"
#include "sql/bind/state/bind_context.hpp"
#include "sql/bind/state/bound_rel.hpp"
#include "sql/bind/state/scope.hpp"
#include "sql/bind/state/type_naming.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::catalog {
struct Function;
}

namespace ouzel::sql {

/// The level of columns that belong to none: as outer as any.
inline constexpr uint32_t noLevel = UINT32_MAX;

class ViewTextRecorder; // sql/bind/state/view_text.hpp
struct RuleBinding;     // sql/bind/dml/rule_binding.hpp

/// Origin of a column at its query level.
enum class ColumnKind : uint8_t {
   Input,     ///< from FROM, or computed above grouping and windows
   Aggregate, ///< result of an aggregate function
   Grouped,   ///< a grouping key or GROUPING()
   Window,    ///< result of a window function
   Srf,       ///< result of a set-returning function of the select list
};

/// State of binding one statement: the columns made so far, the types of parameters, the relations read and written.
/// Every function that binds takes it as its first argument. One object per statement, used by one thread. Scopes hold
/// the state of each query level.
struct BindState {
   explicit BindState(const BindContext& bindContext);
   BindState(const BindState&) = delete;

   // PROPERTIES
   const BindContext& context;
   const TypeNaming naming{context};
   const SourceText* source; ///< null while a view or a default is bound

   // STATE
   ColumnTable columns;
   std::map<uint32_t, Oid> parameterDomains; ///< by number from 0: of which domain the first use makes it
   std::vector<Oid> parameters;          ///< types of $1, $2, ...; invalidOid: not referred to, unknown: not yet known
   std::vector<Oid> relations;           ///< relations that the statement reads or writes
   std::vector<WrittenRelation> written; ///< relations that the statement or its WITH changes
   bool hasConflictClause = false;
   std::string cursor;         ///< of WHERE CURRENT OF; empty: none
   bool isForOnce = false;     ///< see BoundQuery
   bool hasCollations = false; ///< a column or COLLATE has a collation that is not the default
   std::vector<Oid> rowLocked; ///< relations of FOR UPDATE, FOR SHARE, ...
   storage::LockStrength firstLock = storage::LockStrength::Update; ///< of the first such clause
   std::vector<catalog::RelationPtr> pinned;                        ///< keep NamespaceItem::relation alive
   uint32_t nextCte = 0;
   /// Innermost recursive CTE whose recursive term is being bound, and the construct around the current place that
   /// forbids a self-reference.
   struct RecursionContext {
      CteBinding* cte = nullptr;
      const char* obstacle = nullptr; ///< "a subquery", "an outer join": a self-reference here is 42P19
   } recursion;
   AccessList access;
   std::vector<Oid> openViews;           ///< views whose text is being bound, outermost first
   std::vector<Oid> openPolicies;        ///< tables whose policies are being bound, outermost first;
                                         ///< invalidOid: the policy has no subquery
   uint32_t targets = 0;                 ///< tables with policies that the statement writes
   std::set<uint32_t> targetsRead;       ///< those of which it reads columns, too
   ViewTextRecorder* recorder = nullptr; ///< of the view whose text is made; null: no such view
   RuleBinding* rule = nullptr;          ///< what rules ask of the command that is bound next; null: nothing
   const std::vector<ExprPtr>* inlineArgs = nullptr; ///< values of $1... while the body of an SQL function is bound
   const catalog::Function* routine = nullptr;       ///< the function of a user whose body is bound; null: none
   std::vector<Oid> openRoutines;                    ///< those whose bodies are being bound, outermost first
   /// The variables of a program that becomes an expression, and how many bodies, views and policies are open while its
   /// own texts are bound: those of others do not see them.
   struct BodyVariables {
      const VariableNames* names = nullptr;
      size_t routines = 0, views = 0, policies = 0;
   } body;
   bool mayWrite = true;                          ///< the statement, or one in its WITH, changes or locks rows
   bool callsMutable = false;                     ///< functions of users that are not IMMUTABLE
   bool firesTriggers = false;                    ///< a Dml has triggers
   bool runsRoutines = false;                     ///< calls functions that have to be run
   Oid routineRole = invalidOid;                  ///< of SECURITY DEFINER in a body; invalidOid: the session's
   const catalog::SearchPath* bodyPath = nullptr; ///< of SET search_path in a body

   /// The variables of a program that names may mean here; null: there are none.
   const VariableNames* variables() const {
      const bool isOwn = body.routines == openRoutines.size() && body.views == openViews.size() &&
                         body.policies == openPolicies.size();
      return isOwn ? (body.names ? body.names : context.variables) : nullptr;
   }
   /// Position in characters from 1 of a byte offset from the parser; 0: unknown.
   uint32_t at(int32_t location) const { return source ? source->position(location) : 0; }
   uint32_t startOfNode(const ::Node* node) const { return at(startLocation(node)); }
   ColumnId addColumn(const Scope& scope, std::string name, const SqlType& type) {
      return addColumn(scope.depth, std::move(name), type);
   }
   ColumnId addColumn(uint32_t depth, std::string name, const SqlType& type);
   /// Notes that a column or an expression has the collation.
   void noteCollation(Oid collation);
   /// The query level a column belongs to, as its depth.
   uint32_t depthOf(ColumnId column) const { return owners_[static_cast<uint32_t>(column)].depth; }
   ColumnKind kindOf(ColumnId column) const { return owners_[static_cast<uint32_t>(column)].kind; }
   void setKind(ColumnId column, ColumnKind kind) { owners_[static_cast<uint32_t>(column)].kind = kind; }
   /// Makes the scope's level the owner of a derived table's column.
   void adopt(const Scope& scope, ColumnId column) {
      owners_[static_cast<uint32_t>(column)] = {scope.depth, ColumnKind::Input};
   }
   /// True if the expression, or a subquery in it, reads a column of this level (and of this kind).
   bool readsLevel(const Expr& expr, const Scope& scope) const;
   bool readsKind(const Expr& expr, const Scope& scope, ColumnKind kind) const;
   /// Notes that the statement names a column of a relation; of other columns it does nothing.
   void readColumn(const ScopeColumn& column);
   /// The same of a column that the statement reads without naming it.
   void readUnnamed(const ScopeColumn& column);
   /// How names of relations are looked up here: what a view's query or a policy names was allowed when it was made.
   const catalog::SearchPath& path() {
      if (bodyPath) return *bodyPath;
      return openViews.empty() && openPolicies.empty() ? context.searchPath : uncheckedPath();
   }
   /// The search path of somebody who may use all schemas.
   const catalog::SearchPath& uncheckedPath();
   /// Throws 54001 "stack depth limit exceeded" if `levels` more levels of nesting are too many.
   void checkNesting(size_t levels) const;
   /// Parameters as operands of IS NULL before their types were known, by number from 0, each with its position.
   std::vector<std::pair<uint32_t, uint32_t>> untypedTests;
   /// Throws 42P18 if the type of a parameter is not known, 42P08 if a test of it came before.
   void checkParameters() const;

private:
   friend class DepthGuard;

   struct Owner {
      uint32_t depth;
      ColumnKind kind;
   };
   std::vector<Owner> owners_; ///< by column
   std::optional<catalog::SearchPath> unchecked_;
   uint32_t nesting_ = 0; ///< of expressions and queries
};

/// Counts one level of nesting while it lives. Throws 54001 "stack depth limit exceeded" before the stack overflows.
class DepthGuard {
public:
   explicit DepthGuard(BindState& state);
   ~DepthGuard() { --state_.nesting_; }
   DepthGuard(const DepthGuard&) = delete;

private:
   BindState& state_;
};

/// While it lives, a self-reference of a recursive CTE is an error that names `obstacle`. An outer obstacle, or null
/// for `obstacle`, changes nothing.
class ObstacleGuard {
public:
   ObstacleGuard(BindState& state, const char* obstacle) : state_(state), previous_(state.recursion.obstacle) {
      if (obstacle && !previous_) state.recursion.obstacle = obstacle;
   }
   ~ObstacleGuard() { state_.recursion.obstacle = previous_; }
   ObstacleGuard(const ObstacleGuard&) = delete;

private:
   BindState& state_;
   const char* previous_;
};

} // namespace ouzel::sql
