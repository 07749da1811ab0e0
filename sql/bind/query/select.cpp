#include "sql/bind/query/select.hpp"

#include <algorithm>
#include <optional>

#include "sql/algebra/build.hpp"
#include "sql/algebra/row_bound.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/expression/star.hpp"
#include "sql/bind/query/cte.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/grouping.hpp"
#include "sql/bind/query/lock_rows.hpp"
#include "sql/bind/query/set_operation.hpp"
#include "sql/bind/query/sort_group.hpp"
#include "sql/bind/query/table_function.hpp"
#include "sql/bind/query/target_list.hpp"
#include "sql/bind/query/window.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/ordering.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// SELECT and VALUES. Clauses are bound in PostgreSQL's order: FROM, select list, WHERE, HAVING, ORDER BY, GROUP BY,
// DISTINCT ON, windows. Then the operators are put over each other from the inside out:
//
//    FROM -> WHERE -> GroupBy -> HAVING -> windows -> functions of the select list -> Map of the targets
//         -> Distinct -> Sort -> LockRows -> Limit -> Map of the late targets

namespace ouzel::sql {

namespace {

BoundRel bindSelectIn(BindState& state, Scope& scope, const ::SelectStmt& select, std::span<const SqlType> assignTo,
                      bool resolveUnknowns);
BoundRel bindPlainSelect(BindState& state, Scope& scope, const ::SelectStmt& select, std::span<const SqlType> assignTo,
                         bool resolveUnknowns);
BoundRel bindValues(BindState& state, Scope& scope, const ::SelectStmt& select);
std::optional<op::Limit> bindLimit(BindState& state, Scope& scope, const ::SelectStmt& select,
                                   std::vector<SortKey> tieKeys);

RelPtr makeSort(RelPtr input, std::vector<SortKey> keys) {
   return makeRel(RelKind::Sort, op::Sort{std::move(keys)}, std::move(input));
}

std::vector<SortKey> sortKeysOf(const std::vector<OrderElement>& order, const std::vector<Target>& targets) {
   std::vector<SortKey> keys;
   for (const OrderElement& element : order) {
      const Target& target = targets[element.target];
      keys.push_back({makeColumn(target.column, target.expr->type), element.descending, element.nullsFirst});
   }
   return keys;
}

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

/// Set-returning functions of the select list that ORDER BY and DISTINCT ON do not read multiply the rows above them,
/// as in PostgreSQL. Marks the targets that read them and returns the functions; none if some would have to run below.
std::vector<TargetSrf> takeSortedSrfs(const ::SelectStmt& select, Scope& scope, std::vector<Target>& targets,
                                      const std::vector<OrderElement>& order, std::span<const uint32_t> distinctOn) {
   const bool isDistinct = select.distinctClause && !ListOf<>(select.distinctClause)[0];
   if (!select.sortClause || isDistinct || select.lockingClause || scope.srfs.empty()) return {};
   const auto readsSrf = [&](const Target& target) {
      std::vector<ColumnId> reads;
      collectColumns(*target.expr, reads);
      return std::any_of(reads.begin(), reads.end(), [&](ColumnId column) {
         return std::any_of(scope.srfs.begin(), scope.srfs.end(),
                            [column](const TargetSrf& srf) { return srf.column == column; });
      });
   };
   for (const OrderElement& element : order)
      if (readsSrf(targets[element.target])) return {};
   for (const uint32_t target : distinctOn)
      if (readsSrf(targets[target])) return {};
   for (const Target& target : targets) // a subquery's join would not keep the order
      if (readsSrf(target) && (hasSubquery(*target.expr) || target.expr->kind == ExprKind::Row)) return {};
   for (const TargetSrf& srf : scope.srfs)
      if (hasSubquery(*srf.call)) return {};
   for (Target& target : targets)
      if (readsSrf(target)) target.stage = Stage::Sorted;
   return std::move(scope.srfs);
}

/// Marks the targets that are computed only for rows that reach the result. As in PostgreSQL these are calls of
/// volatile functions that no clause orders or compares by, and without ORDER BY all that may fail.
void markLate(const ::SelectStmt& select, std::vector<Target>& targets, const std::vector<OrderElement>& order) {
   const bool isLimited = select.limitCount || select.limitOffset;
   if (select.distinctClause ? !select.sortClause || !ListOf<>(select.distinctClause)[0]
                             : !select.sortClause && !isLimited)
      return;
   for (uint32_t i = 0; i < targets.size(); ++i) {
      Target& target = targets[i];
      if (target.isHidden || target.expr->kind == ExprKind::Row) continue;
      const bool isOrdered =
          std::any_of(order.begin(), order.end(), [i](const OrderElement& element) { return element.target == i; });
      if (target.stage == Stage::Early && !hasSubquery(*target.expr) && !isOrdered &&
          (isVolatile(*target.expr) || (!select.sortClause && mayFail(*target.expr))))
         target.stage = Stage::Late;
   }
}

/// The first limit + offset rows of `rel`.
RelPtr firstRows(RelPtr rel, const op::Limit& limit) {
   if (!limit.limit) return rel;
   op::Limit both;
   both.limit = rowBound(clone(*limit.limit), clone(*limit.offset));
   return makeRel(RelKind::Limit, std::move(both), std::move(rel));
}

/// Puts the limit and the late targets above `rel`. The rows that OFFSET skips are computed as well, unless a subquery
/// tells how many these are.
RelPtr placeLimit(BindState& state, Scope& scope, RelPtr rel, std::optional<op::Limit> limit,
                  std::vector<Target>& targets) {
   const bool hasLate =
       std::any_of(targets.begin(), targets.end(), [](const Target& target) { return target.stage == Stage::Late; });
   const bool isSplit = hasLate && limit && limit->offset && !limit->withTies && !hasSubquery(*limit->offset) &&
                        !(limit->limit && hasSubquery(*limit->limit));
   if (isSplit) rel = placeTargets(state, scope, firstRows(std::move(rel), *limit), targets, Stage::Late);
   if (limit) rel = makeRel(RelKind::Limit, std::move(*limit), std::move(rel));
   return hasLate && !isSplit ? placeTargets(state, scope, std::move(rel), targets, Stage::Late) : std::move(rel);
}

} // namespace

BoundRel bindSelect(BindState& state, const ::SelectStmt& select, Scope* parent, std::span<const SqlType> assignTo,
                    bool resolveUnknowns) {
   const DepthGuard guard(state);
   if (parent && select.intoClause)
      throw SqlError(sqlstate::syntaxError, "SELECT ... INTO is not allowed here")
          .at(state.at(select.intoClause->rel->location));
   Scope scope(parent);
   declareCtes(state, scope, select.withClause);
   auto query = bindSelectIn(state, scope, select, assignTo, resolveUnknowns);
   query.rel = placeCtes(scope, std::move(query.rel));
   return query;
}

namespace {

BoundRel bindSelectIn(BindState& state, Scope& scope, const ::SelectStmt& select, std::span<const SqlType> assignTo,
                      bool resolveUnknowns) {
   if (select.valuesLists) return bindValues(state, scope, select);
   if (select.op != SETOP_NONE) return bindSetOperation(state, scope, select, resolveUnknowns);
   return bindPlainSelect(state, scope, select, assignTo, resolveUnknowns);
}

BoundRel bindPlainSelect(BindState& state, Scope& scope, const ::SelectStmt& select, std::span<const SqlType> assignTo,
                         bool resolveUnknowns) {
   for (const auto* definition : ListOf<WindowDef>(select.windowClause)) {
      for (const auto* other : scope.namedWindows)
         if (std::string_view(other->name) == definition->name)
            throw SqlError(sqlstate::windowingError,
                           "window \"" + std::string(definition->name) + "\" is already defined")
                .at(state.at(definition->location));
      scope.namedWindows.push_back(definition);
   }
   RelPtr rel = bindFrom(state, scope, select.fromClause);
   auto targets = bindTargetList(state, scope, select.targetList, Clause::Select);
   if (select.whereClause) {
      auto predicate = coerceToBoolean(state, bindExpr(state, scope, select.whereClause, Clause::Where), "WHERE");
      rel = makeSelect(std::move(rel), std::move(predicate));
   }
   ExprPtr having;
   if (select.havingClause)
      having = coerceToBoolean(state, bindExpr(state, scope, select.havingClause, Clause::Having), "HAVING");
   auto order = bindOrderBy(state, scope, select.sortClause, targets, Clause::OrderBy);
   auto grouping = bindGroupBy(state, scope, select, targets);
   const ListOf<> distinct(select.distinctClause);
   const bool isDistinctOn = !distinct.empty() && distinct[0];
   std::vector<uint32_t> distinctOn;
   if (isDistinctOn) distinctOn = bindDistinctOn(state, scope, select, targets, order);

   for (size_t i = 0; i < targets.size(); ++i) {
      ExprPtr& expr = targets[i].expr;
      const bool isAssigned = !targets[i].isHidden && i < assignTo.size();
      if (isAssigned && expr->kind == ExprKind::Row && expr->type.oid == oid::record && isRowType(assignTo[i].oid))
         expr = coerce(state, std::move(expr), assignTo[i].oid, -1, CoercionContext::Assignment);
      const bool isValue = !distinct.empty() || targets[i].isHidden || mayBeMissing(*expr);
      if (isValue) expr = rowValue(state, std::move(expr));
      if (expr->type.oid != oid::unknown) continue;
      if (isAssigned && canCoerce(oid::unknown, assignTo[i].oid, CoercionContext::Assignment)) {
         expr = coerce(state, std::move(expr), assignTo[i].oid, assignTo[i].typmod, CoercionContext::Assignment);
      } else if (resolveUnknowns || targets[i].isHidden) {
         expr = unknownToText(state, std::move(expr));
      }
   }
   if (!distinct.empty() && !isDistinctOn) {
      for (const Target& target : targets)
         if (!target.isHidden) requireEqualKey(state, *target.expr, target.position);
      for (const OrderElement& element : order)
         if (targets[element.target].isHidden)
            throw SqlError(sqlstate::invalidColumnReference,
                           "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
                .at(targets[element.target].position);
   }

   auto windows = bindWindows(state, scope);
   grouping.isGrouped |= having || !scope.aggregates.empty() || !scope.groupings.empty();
   if (grouping.isGrouped)
      rel = placeGrouping(state, scope, std::move(rel), std::move(grouping), targets, having, windows);
   if (having) rel = makeSelect(std::move(rel), std::move(having));
   for (BoundWindow& window : windows)
      rel = makeRel(RelKind::Window, op::Window{std::move(window.spec), std::move(window.calls)}, std::move(rel));
   rel = placeRowFunctions(state, std::move(rel), scope);
   std::vector<TargetSrf> sortedSrfs = takeSortedSrfs(select, scope, targets, order, distinctOn);
   rel = placeSrfs(scope, std::move(rel), std::move(scope.srfs));
   markLate(select, targets, order);
   rel = placeTargets(state, scope, std::move(rel), targets);

   if (!distinct.empty()) {
      op::Distinct fields;
      const auto add = [&columns = fields.columns](ColumnId column) {
         if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
      };
      if (isDistinctOn) {
         for (const uint32_t target : distinctOn)
            add(targets[target].column);
         fields.sortKeys = sortKeysOf(order, targets);
      } else {
         for (const Target& target : targets)
            if (!target.isHidden) add(target.column);
      }
      rel = makeRel(RelKind::Distinct, std::move(fields), std::move(rel));
   }
   if (!order.empty() && (!isDistinctOn || select.sortClause))
      rel = makeSort(std::move(rel), sortKeysOf(order, targets));
   if (!sortedSrfs.empty())
      rel = placeTargets(state, scope, placeSrfs(scope, std::move(rel), std::move(sortedSrfs)), targets, Stage::Sorted);
   if (select.lockingClause) rel = lockRows(state, scope, select, std::move(rel));
   auto limit = bindLimit(state, scope, select, sortKeysOf(order, targets));
   rel = placeLimit(state, scope, std::move(rel), std::move(limit), targets);

   BoundRel result;
   result.rel = std::move(rel);
   setOutput(state, result, targets);
   for (const Target& target : targets)
      if (!target.isHidden) result.positions.push_back(target.position);
   return result;
}

} // namespace

RelPtr placeSrfs(Scope& scope, RelPtr rel, std::vector<TargetSrf> srfs) {
   // A call that reads other calls gets a later ProjectSet than these calls. Calls that do not depend on each other
   // share a ProjectSet and advance in lockstep.
   while (!srfs.empty()) {
      std::vector<TargetSrf> now, later;
      for (TargetSrf& srf : srfs) {
         std::vector<ColumnId> reads;
         collectColumns(*srf.call, reads);
         const bool waits = std::any_of(srfs.begin(), srfs.end(), [&](const TargetSrf& other) {
            return std::find(reads.begin(), reads.end(), other.column) != reads.end();
         });
         (waits ? later : now).push_back({srf.column, clone(*srf.call)});
      }
      op::Map sets;
      for (TargetSrf& srf : now)
         sets.computed.push_back({srf.column, std::move(srf.call)});
      rel = makeRel(RelKind::ProjectSet, std::move(sets), std::move(rel));
      srfs = std::move(later);
   }
   static_cast<void>(scope);
   return rel;
}

RelPtr placeTargets(BindState& state, Scope& scope, RelPtr rel, std::vector<Target>& targets, Stage stage) {
   std::vector<ComputedColumn> computed;
   for (Target& target : targets) {
      if (target.stage != stage) continue;
      if (target.expr->kind == ExprKind::Row) {
         placeRow(state, scope, *target.expr, target.fields, computed);
         continue;
      }
      // A column of this level needs no Map. A column of an enclosing query gets a new column of this level.
      if (target.expr->kind == ExprKind::Column && state.depthOf(columnOf(*target.expr)) == scope.depth) {
         target.column = columnOf(*target.expr);
         continue;
      }
      target.column = state.addColumn(scope, target.name, target.expr->type);
      computed.push_back({target.column, std::move(target.expr)});
      target.expr = makeColumn(target.column, computed.back().expr->type);
   }
   return makeMap(std::move(rel), std::move(computed));
}

void setOutput(const BindState& state, BoundRel& query, const std::vector<Target>& targets) {
   for (const Target& target : targets) {
      if (target.isHidden) continue;
      OutputColumn output{target.name, target.column, target.expr->type};
      if (target.column != noColumn) {
         output.tableOid = state.columns[target.column].tableOid;
         output.attribute = state.columns[target.column].attribute;
      }
      query.output.push_back(std::move(output));
      query.fields.push_back(target.fields);
   }
}

namespace {

BoundRel bindValues(BindState& state, Scope& scope, const ::SelectStmt& select) {
   std::vector<std::vector<ExprPtr>> rows;
   for (const auto* list : ListOf<List>(select.valuesLists)) {
      for (const ::Node* node : ListOf<>(list))
         if (isNode(node, T_SetToDefault))
            throw SqlError(sqlstate::syntaxError, "DEFAULT is not allowed in this context")
                .at(state.at(as<SetToDefault>(node)->location));
      auto row = bindExpressionList(state, scope, list, Clause::Values);
      if (!rows.empty() && row.size() != rows[0].size())
         throw SqlError(sqlstate::syntaxError, "VALUES lists must all be the same length")
             .at(row.empty() ? 0 : startOf(*row[0]));
      rows.push_back(std::move(row));
   }
   BoundRel result;
   op::Values values;
   for (size_t i = 0; i < rows[0].size(); ++i) {
      std::vector<ExprPtr*> column;
      for (auto& row : rows)
         column.push_back(&row[i]);
      for (ExprPtr* expr : column)
         *expr = rowValue(state, std::move(*expr));
      const Oid common = selectCommonType(column, "VALUES");
      for (ExprPtr* expr : column)
         *expr = coerceToCommon(state, std::move(*expr), common, "VALUES");
      SqlType type = unite(column, common);
      if (state.hasCollations && type.collation != invalidOid) {
         std::vector<Expr*> exprs;
         for (ExprPtr* expr : column)
            exprs.push_back(expr->get());
         type.collation = commonCollation(state, exprs, true);
      }
      const std::string name = "column" + std::to_string(i + 1);
      const ColumnId id = state.addColumn(scope, name, type);
      values.columns.push_back(id);
      result.output.push_back({name, id, type});
      result.positions.push_back(startOf(*rows[0][i]));
   }
   values.rows = std::move(rows);
   result.rel = makeRel(RelKind::Values, std::move(values));
   bindOrderOverOutput(state, scope, select, result);
   return result;
}

} // namespace

void bindOrderOverOutput(BindState& state, Scope& scope, const ::SelectStmt& select, BoundRel& query) {
   const bool isSetOperation = select.op != SETOP_NONE;
   std::vector<Target> targets;
   NamespaceItem item;
   item.hasVisibleName = false;
   for (const OutputColumn& output : query.output) {
      state.adopt(scope, output.column);
      item.columns.push_back({output.name, output.column, output.type});
      Target target;
      target.expr = makeColumn(output.column, output.type);
      target.name = output.name;
      target.column = output.column;
      targets.push_back(std::move(target));
   }
   scope.items.push_back(std::move(item));
   const auto order = bindOrderBy(state, scope, select.sortClause, targets, Clause::OrderBy);
   if (isSetOperation && targets.size() > query.output.size())
      throw SqlError(sqlstate::featureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
          .at(targets[query.output.size()].position)
          .detail("Only result column names can be used, not expressions or functions.")
          .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.");
   query.rel = placeTargets(state, scope, std::move(query.rel), targets);
   if (!order.empty()) query.rel = makeSort(std::move(query.rel), sortKeysOf(order, targets));
   if (auto limit = bindLimit(state, scope, select, sortKeysOf(order, targets)))
      query.rel = makeRel(RelKind::Limit, std::move(*limit), std::move(query.rel));
   if (select.lockingClause)
      throw SqlError(sqlstate::featureNotSupported, isSetOperation
                                                        ? "FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT"
                                                        : "FOR UPDATE cannot be applied to VALUES");
}

namespace {

std::optional<op::Limit> bindLimit(BindState& state, Scope& scope, const ::SelectStmt& select,
                                   std::vector<SortKey> tieKeys) {
   if (!select.limitCount && !select.limitOffset) return std::nullopt;
   const auto bind = [&](const ::Node* node, Clause clause) -> ExprPtr {
      if (!node || (isNode(node, T_A_Const) && as<A_Const>(node)->isnull)) return nullptr;
      const std::string name(clauseName(clause));
      auto expr = coerceToType(state, bindExpr(state, scope, node, clause), oid::int8, name);
      if (state.readsLevel(*expr, scope))
         throw SqlError(sqlstate::invalidColumnReference, "argument of " + name + " must not contain variables")
             .at(positionOfColumn(*expr, [&](ColumnId column) { return state.depthOf(column) == scope.depth; }));
      return expr;
   };
   op::Limit limit;
   limit.offset = bind(select.limitOffset, Clause::Offset);
   limit.limit = bind(select.limitCount, Clause::Limit);
   if (static_cast<int>(select.limitOption) == limitOptionWithTies) {
      if (tieKeys.empty())
         throw SqlError(sqlstate::syntaxError, "WITH TIES cannot be specified without ORDER BY clause");
      if (select.limitCount && !limit.limit)
         throw SqlError(sqlstate::invalidRowCountInLimitClause,
                        "row count cannot be null in FETCH FIRST ... WITH TIES clause");
      limit.withTies = true;
      limit.sortKeys = std::move(tieKeys);
   }
   return limit;
}

} // namespace

} // namespace ouzel::sql
