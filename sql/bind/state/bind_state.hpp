#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "sql/bind/state/bind_context.hpp"
#include "sql/bind/state/bound_rel.hpp"
#include "sql/bind/state/scope.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::sql {

class ViewTextRecorder; // sql/bind/state/view_text.hpp

/// How a column came to be at its query level.
enum class ColumnKind : uint8_t {
   Input,     ///< from FROM, or made above everything
   Aggregate, ///< result of an aggregate function
   Grouped,   ///< a grouping key or GROUPING()
   Window,    ///< result of a window function
   Srf,       ///< result of a set-returning function of the select list
};

/// What binding one statement knows and gathers. Every function that binds takes it as its first argument. One per
/// statement, used by one thread.
struct BindState {
   explicit BindState(const BindContext& bindContext);
   BindState(const BindState&) = delete;

   // PROPERTIES
   const BindContext& context;
   const SourceText* source; ///< null while a view or a default is bound

   // STATE
   ColumnTable columns;
   std::vector<Oid> parameters;          ///< types of $1, $2, ...; invalidOid: not referred to, unknown: not yet known
   std::vector<Oid> relations;           ///< that the statement reads or writes
   std::vector<WrittenRelation> written; ///< that the statement or its WITH change
   bool hasConflictClause = false;
   std::vector<Oid> rowLocked;               ///< relations of FOR UPDATE and its like
   std::vector<catalog::RelationPtr> pinned; ///< keep NamespaceItem::relation alive
   uint32_t nextCte = 0;
   /// Innermost recursive CTE whose recursive term is being bound, and what stands between it and here.
   struct RecursionContext {
      CteBinding* cte = nullptr;
      const char* obstacle = nullptr; ///< "a subquery", "an outer join": a self-reference here is 42P19
   } recursion;
   ViewTextRecorder* recorder = nullptr;             ///< of the view whose text is made; null: none is
   const std::vector<ExprPtr>* inlineArgs = nullptr; ///< what $1... are while the body of an SQL function is bound

   /// The position of a location of the parser, counted in characters from 1; 0: unknown.
   uint32_t at(int32_t location) const { return source ? source->position(location) : 0; }
   uint32_t startOfNode(const ::Node* node) const { return at(startLocation(node)); }
   ColumnId addColumn(const Scope& scope, std::string name, const SqlType& type) {
      return addColumn(scope.depth, std::move(name), type);
   }
   ColumnId addColumn(uint32_t depth, std::string name, const SqlType& type);
   /// The query level a column belongs to, as its depth.
   uint32_t depthOf(ColumnId column) const { return owners_[static_cast<uint32_t>(column)].depth; }
   ColumnKind kindOf(ColumnId column) const { return owners_[static_cast<uint32_t>(column)].kind; }
   void setKind(ColumnId column, ColumnKind kind) { owners_[static_cast<uint32_t>(column)].kind = kind; }
   /// Makes the scope's level the owner of a derived table's column.
   void adopt(const Scope& scope, ColumnId column) {
      owners_[static_cast<uint32_t>(column)] = {scope.depth, ColumnKind::Input};
   }
   /// Does the expression, or a subquery in it, read a column of this level (and kind)?
   bool readsLevel(const Expr& expr, const Scope& scope) const;
   bool readsKind(const Expr& expr, const Scope& scope, ColumnKind kind) const;
   /// 54001 "stack depth limit exceeded" when so many levels more are too many.
   void checkNesting(size_t levels) const;
   /// 42P18 when the type of a parameter is not known.
   void checkParameters() const;

private:
   friend class DepthGuard;

   struct Owner {
      uint32_t depth;
      ColumnKind kind;
   };
   std::vector<Owner> owners_; ///< by column
   uint32_t nesting_ = 0;      ///< of expressions and queries
   uintptr_t stackFloor_ = 0;
};

/// Counts a level of nesting; throws 54001 "stack depth limit exceeded" in time.
class DepthGuard {
public:
   explicit DepthGuard(BindState& state);
   ~DepthGuard() { --state_.nesting_; }
   DepthGuard(const DepthGuard&) = delete;

private:
   BindState& state_;
};

/// While it lives, self-references of recursive CTEs are refused for this reason.
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
