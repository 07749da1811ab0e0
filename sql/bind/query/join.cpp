#include "sql/bind/query/join.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/type_rules.hpp"

// JOIN: conditions, USING and NATURAL with their merged columns, and the names that the join makes visible.

namespace ouzel::sql {

namespace {

JoinKind joinKindOf(const ::JoinExpr& node) {
   switch (node.jointype) {
   case JOIN_INNER: return JoinKind::Inner;
   case JOIN_LEFT: return JoinKind::Left;
   case JOIN_RIGHT: return JoinKind::Right;
   case JOIN_FULL: return JoinKind::Full;
   default: throwInternal("unknown join type");
   }
}

std::vector<ScopeColumn> visibleColumns(const std::vector<NamespaceItem>& items) {
   std::vector<ScopeColumn> columns;
   for (const NamespaceItem& item : items)
      if (item.hasVisibleColumns) columns.insert(columns.end(), item.columns.begin(), item.columns.end());
   return columns;
}

const ScopeColumn* findUnique(const std::vector<ScopeColumn>& columns, std::string_view name, const char* side) {
   const ScopeColumn* found = nullptr;
   for (const ScopeColumn& column : columns) {
      if (column.name != name) continue;
      if (found)
         throw SqlError(sqlstate::ambiguousColumn, "common column name \"" + std::string(name) +
                                                       "\" appears more than once in " + side + " table");
      found = &column;
   }
   return found;
}

const ScopeColumn& requireUsing(const std::vector<ScopeColumn>& columns, std::string_view name, const char* side) {
   const auto* column = findUnique(columns, name, side);
   if (!column)
      throw SqlError(sqlstate::undefinedColumn, "column \"" + std::string(name) +
                                                    "\" specified in USING clause does not exist in " + side +
                                                    " table");
   return *column;
}

/// The column names of USING, or for NATURAL the names that both sides have.
std::vector<std::string> mergedNames(const ::JoinExpr& node, const std::vector<ScopeColumn>& left,
                                     const std::vector<ScopeColumn>& right) {
   std::vector<std::string> names;
   if (node.isNatural) {
      for (const ScopeColumn& column : left)
         if (std::any_of(right.begin(), right.end(), [&](const auto& other) { return other.name == column.name; }))
            names.push_back(column.name);
      return names;
   }
   for (const ::Node* name : ListOf<>(node.usingClause)) {
      const std::string text(stringOf(name));
      if (std::find(names.begin(), names.end(), text) != names.end())
         throw SqlError(sqlstate::duplicateColumn,
                        "column name \"" + text + "\" appears more than once in USING clause");
      names.push_back(text);
   }
   return names;
}

void nullExtend(std::vector<NamespaceItem>& items) {
   for (NamespaceItem& item : items)
      item.isNullExtended = true;
}

} // namespace

/// Result of USING: join conditions, merged columns, and the columns of the join.
struct UsingMerge {
   std::vector<ExprPtr> conditions;
   std::vector<ComputedColumn> computed;     ///< merged columns that are no plain column of one side
   std::vector<ScopeColumn> merged, columns; ///< the merged columns; all columns of the join in order
};

namespace {

UsingMerge mergeUsing(BindState& state, Scope& scope, const ::JoinExpr& node, JoinKind kind,
                      const std::vector<ScopeColumn>& left, const std::vector<ScopeColumn>& right) {
   UsingMerge merge;
   const auto names = mergedNames(node, left, right);
   const auto isMerged = [&](const ScopeColumn& column) {
      return std::find(names.begin(), names.end(), column.name) != names.end();
   };
   if (state.recorder) state.recorder->enterReference(-1, 1);
   for (const std::string& name : names) {
      if (state.recorder)
         for (const auto* side : {&left, &right})
            for (const ScopeColumn& column : *side)
               if (column.name == name && state.recorder->renamesColumn(column.tableOid, column.attribute))
                  throwNotSupported("renaming a column by which a view joins with USING");
      const ScopeColumn& l = requireUsing(left, name, "left");
      const ScopeColumn& r = requireUsing(right, name, "right");
      state.readUnnamed(l);
      state.readUnnamed(r);
      auto equals = makeOperator(state, "=", makeColumn(l.column, l.type), makeColumn(r.column, r.type), 0);
      settleCollations(state, *equals);
      merge.conditions.push_back(coerceToBoolean(state, std::move(equals), "JOIN/USING"));

      ExprPtr leftExpr = makeColumn(l.column, l.type), rightExpr = makeColumn(r.column, r.type);
      ExprPtr* both[] = {&leftExpr, &rightExpr};
      const Oid common = selectCommonType(both, "JOIN/USING");
      const SqlType type = plainType(common, selectCommonTypmod(both, common));
      const auto cast = [&](ExprPtr expr) {
         expr = coerceToCommon(state, std::move(expr), common, "JOIN/USING");
         return applyTypmod(std::move(expr), type.typmod, CoercionContext::Implicit);
      };
      leftExpr = cast(std::move(leftExpr));
      rightExpr = cast(std::move(rightExpr));
      ExprPtr value;
      if (kind == JoinKind::Full) {
         value = makeTyped(ExprKind::Coalesce, type);
         value->args.push_back(std::move(leftExpr));
         value->args.push_back(std::move(rightExpr));
      } else if (kind == JoinKind::Right || (kind == JoinKind::Inner && leftExpr->kind != ExprKind::Column &&
                                             rightExpr->kind == ExprKind::Column)) {
         value = std::move(rightExpr);
      } else {
         value = std::move(leftExpr);
      }
      settleCollations(state, *value);
      ScopeColumn column{name, noColumn, value->type};
      if (value->kind == ExprKind::Column) {
         column = columnOf(*value) == l.column ? l : r;
      } else {
         column.column = state.addColumn(scope, name, value->type);
         merge.computed.push_back({column.column, std::move(value)});
      }
      merge.merged.push_back(column);
   }
   merge.columns = merge.merged;
   for (const auto* side : {&left, &right})
      for (const ScopeColumn& column : *side)
         if (!isMerged(column)) merge.columns.push_back(column);
   return merge;
}

} // namespace

FromItem bindJoin(BindState& state, Scope& scope, const ::JoinExpr& node) {
   const JoinKind kind = joinKindOf(node);
   FromItem left, right;
   {
      const ObstacleGuard obstacle(state, kind == JoinKind::Right || kind == JoinKind::Full ? "within an outer join"
                                                                                            : nullptr);
      left = bindFromItem(state, scope, node.larg);
   }
   {
      const ObstacleGuard obstacle(state,
                                   kind == JoinKind::Left || kind == JoinKind::Full ? "within an outer join" : nullptr);
      const size_t before = scope.items.size();
      for (const NamespaceItem& item : left.items) { // LATERAL on the right side sees the left side
         scope.items.push_back(item);
         scope.items.back().lateralOnly = true;
         scope.items.back().lateralOk = kind == JoinKind::Inner || kind == JoinKind::Left;
      }
      right = bindFromItem(state, scope, node.rarg);
      scope.items.resize(before);
   }
   checkNameConflicts(left.items, right.items);

   op::Join join;
   join.kind = kind;
   join.dependent = readsColumnsOf(*right.rel, *left.rel);
   FromItem result;
   const bool hasUsing = node.isNatural || node.usingClause;
   UsingMerge merge;
   if (hasUsing) {
      merge = mergeUsing(state, scope, node, kind, visibleColumns(left.items), visibleColumns(right.items));
      if (!merge.conditions.empty()) join.predicate = makeAnd(std::move(merge.conditions));
   }
   // An outer join adds NULLs to columns of its nullable side.
   const auto extend = [&](const Rel& rel, std::vector<NamespaceItem>& items) {
      nullExtend(items);
      for (const ColumnId column : outputColumns(rel))
         state.columns[column].nullable = true;
   };
   if (kind == JoinKind::Left || kind == JoinKind::Full) extend(*right.rel, right.items);
   if (kind == JoinKind::Right || kind == JoinKind::Full) extend(*left.rel, left.items);

   result.items = std::move(left.items);
   for (NamespaceItem& item : right.items)
      result.items.push_back(std::move(item));
   if (node.quals) { // ON sees the two sides and no other item of this FROM
      auto items = result.items;
      for (NamespaceItem& item : items)
         item.lateralOnly = false;
      std::swap(scope.items, items);
      join.predicate = coerceToBoolean(state, bindExpr(state, scope, node.quals, Clause::JoinOn), "JOIN/ON");
      std::swap(scope.items, items);
   }
   result.rel = makeRel(RelKind::Join, std::move(join), std::move(left.rel), std::move(right.rel));
   result.rel = makeMap(std::move(result.rel), std::move(merge.computed));

   if (!hasUsing && !node.alias) return result;
   NamespaceItem item;
   item.columns = hasUsing ? std::move(merge.columns) : visibleColumns(result.items);
   for (NamespaceItem& inner : result.items) {
      inner.hasVisibleColumns = false;
      if (node.alias) inner.hasVisibleName = false;
   }
   item.hasVisibleName = node.alias != nullptr;
   if (node.alias) {
      applyAlias(item, node.alias, "join expression");
      addEntry(scope, item);
   }
   result.items.push_back(std::move(item));
   if (node.join_using_alias) { // USING (...) AS name: an item of that name with the merged columns
      NamespaceItem named;
      named.columns = std::move(merge.merged);
      named.hasVisibleColumns = false;
      applyAlias(named, node.join_using_alias);
      std::vector<NamespaceItem> alone;
      alone.push_back(std::move(named));
      checkNameConflicts(result.items, alone);
      result.items.push_back(std::move(alone[0]));
   }
   return result;
}

} // namespace ouzel::sql
