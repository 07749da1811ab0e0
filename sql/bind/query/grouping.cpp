#include "sql/bind/query/grouping.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/query/direct_arguments.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/query/sort_group.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/ordering.hpp"
#include "sql/bind/type/row_value.hpp"

// GROUP BY with its grouping sets, and the GroupBy operator. Expressions above the operator are rewritten in terms of
// its keys and aggregates.

namespace ouzel::sql {

namespace {

using KeySet = std::vector<uint32_t>;
using KeySets = std::vector<KeySet>;

constexpr uint32_t groupingSetsMax = 4096;
constexpr uint32_t cubeElementsMax = 12;

void appendKey(KeySet& set, uint32_t key) {
   if (std::find(set.begin(), set.end(), key) == set.end()) set.push_back(key);
}

KeySet unite(const KeySet& a, const KeySet& b) {
   KeySet result = a;
   for (const uint32_t key : b)
      appendKey(result, key);
   return result;
}

KeySets crossProduct(const KeySets& a, const KeySets& b) {
   KeySets result;
   if (a.size() * b.size() > groupingSetsMax)
      throw SqlError(sqlstate::statementTooComplex, "too many grouping sets present (maximum 4096)");
   for (const KeySet& left : a)
      for (const KeySet& right : b)
         result.push_back(unite(left, right));
   return result;
}

} // namespace

Grouping bindGroupBy(BindState& state, Scope& scope, const ::SelectStmt& select, std::vector<Target>& targets) {
   Grouping grouping;
   const ListOf<> items(select.groupClause);
   grouping.isGrouped = !items.empty();

   const auto keyOf = [&](const ::Node* node) {
      const uint32_t index = findTargetSql92(state, scope, node, targets, Clause::GroupBy);
      Target& target = targets[index];
      target.expr = rowValue(state, unknownToText(state, std::move(target.expr)));
      if (state.readsKind(*target.expr, scope, ColumnKind::Aggregate))
         throw SqlError(sqlstate::groupingError, "aggregate functions are not allowed in GROUP BY").at(target.position);
      if (state.readsKind(*target.expr, scope, ColumnKind::Window))
         throw SqlError(sqlstate::windowingError, "window functions are not allowed in GROUP BY").at(target.position);
      requireEqualKey(state, *target.expr, state.startOfNode(node));
      const auto known = std::find(grouping.keyTargets.begin(), grouping.keyTargets.end(), index);
      if (known != grouping.keyTargets.end()) return static_cast<uint32_t>(known - grouping.keyTargets.begin());
      grouping.keyTargets.push_back(index);
      return static_cast<uint32_t>(grouping.keyTargets.size() - 1);
   };
   // An element (a, b) stands for both keys together.
   const std::function<KeySet(const ::Node*)> keysOf = [&](const ::Node* node) {
      KeySet keys;
      if (isNode(node, T_RowExpr) && as<RowExpr>(node)->row_format == COERCE_IMPLICIT_CAST) {
         for (const ::Node* part : ListOf<>(as<RowExpr>(node)->args))
            keys = unite(keys, keysOf(part));
      } else {
         keys.push_back(keyOf(node));
      }
      return keys;
   };
   const std::function<KeySets(const ::Node*)> setsOf = [&](const ::Node* node) -> KeySets {
      if (!isNode(node, T_GroupingSet)) return {keysOf(node)};
      const auto* set = as<GroupingSet>(node);
      const ListOf<> content(set->content);
      grouping.hasSets = true;
      KeySets result;
      switch (set->kind) {
      case GROUPING_SET_EMPTY: return {{}};
      case GROUPING_SET_SIMPLE: return {keysOf(content.front())};
      case GROUPING_SET_SETS:
         for (const ::Node* part : content)
            for (KeySet& keys : setsOf(part))
               result.push_back(std::move(keys));
         return result;
      case GROUPING_SET_ROLLUP: {
         KeySet keys;
         result.push_back(keys);
         for (const ::Node* part : content) {
            keys = unite(keys, keysOf(part));
            result.push_back(keys);
         }
         std::reverse(result.begin(), result.end());
         return result;
      }
      case GROUPING_SET_CUBE: {
         if (content.size() > cubeElementsMax)
            throw SqlError(sqlstate::tooManyColumns, "CUBE is limited to 12 elements").at(state.at(set->location));
         std::vector<KeySet> elements;
         for (const ::Node* part : content)
            elements.push_back(keysOf(part));
         const uint32_t all = (1u << elements.size()) - 1;
         for (uint32_t mask = all;; --mask) {
            KeySet keys;
            for (size_t i = 0; i < elements.size(); ++i)
               if (mask & (1u << (elements.size() - 1 - i))) keys = unite(keys, elements[i]);
            result.push_back(std::move(keys));
            if (mask == 0) break;
         }
         return result;
      }
      }
      return result;
   };
   KeySets sets{{}};
   for (const ::Node* item : items)
      sets = crossProduct(sets, setsOf(item));
   if (!grouping.hasSets) return grouping;
   if (select.groupDistinct) {
      std::set<std::set<uint32_t>> seen;
      std::erase_if(
          sets, [&](const KeySet& keys) { return !seen.insert(std::set<uint32_t>(keys.begin(), keys.end())).second; });
   }
   grouping.sets = std::move(sets);
   return grouping;
}

/// Rewrites expressions above a GroupBy: keys become columns of the GroupBy; other columns of the level are errors.
class GroupedRewriter {
public:
   GroupedRewriter(BindState& state, Scope& scope, op::GroupBy& group) : state_(state), scope_(scope), group_(group) {}

   void rewrite(ExprPtr& expr) {
      checkStack();
      for (const ComputedColumn& key : group_.keys)
         if (equal(*key.expr, *expr)) {
            const uint32_t position = expr->position;
            expr = makeColumn(key.column, key.expr->type);
            expr->position = position;
            return;
         }
      if (expr->kind == ExprKind::Column) {
         rewriteColumn(*expr);
         return;
      }
      for (ExprPtr& arg : expr->args)
         rewrite(arg);
      if (Rel* subquery = subqueryOf(*expr)) {
         if (ExprPtr* test = movedTest(*expr, *subquery)) replaceKeys(*test);
         rewriteSubquery(expr, *subquery);
      }
   }

private:
   bool isInput(ColumnId column) const {
      return state_.depthOf(column) == scope_.depth && state_.kindOf(column) == ColumnKind::Input;
   }

   void rewriteColumn(Expr& expr) {
      ColumnId& column = expr.as<scalar::Column>().column;
      if (!isInput(column)) return;
      const auto* key = keyOf(column, expr.type);
      if (!key)
         throw SqlError(sqlstate::groupingError, "column \"" + nameOf(column) +
                                                     "\" must appear in the GROUP BY clause or be used in an "
                                                     "aggregate function")
             .at(expr.position);
      column = key->column;
   }

   /// The test of x = ANY (SELECT y) for types without a comparison of their own, which is bound as true = ANY (SELECT
   /// x = y). It belongs to this level. Null: there is none.
   static ExprPtr* movedTest(const Expr& expr, Rel& query) {
      const auto& subquery = expr.as<scalar::Subquery>();
      const Value* left = expr.args.size() == 1 ? knownValue(*expr.args[0]) : nullptr;
      if (!left || expr.args[0]->type.oid != oid::boolean || query.kind != RelKind::Map) return nullptr;
      for (ComputedColumn& computed : query.as<op::Map>().computed)
         if (computed.column == subquery.columns[0]) return &computed.expr;
      return nullptr;
   }

   void replaceKeys(ExprPtr& expr) {
      checkStack();
      for (const ComputedColumn& key : group_.keys)
         if (equal(*key.expr, *expr)) {
            expr = makeColumn(key.column, key.expr->type);
            return;
         }
      for (ExprPtr& arg : expr->args)
         replaceKeys(arg);
   }

   /// In subqueries, as in PostgreSQL, only plain columns are recognised as keys, no larger expressions.
   void rewriteSubquery(ExprPtr& expr, const Rel& subquery) {
      for (const ColumnId column : freeColumns(subquery)) {
         if (!isInput(column)) continue;
         if (!keyOf(column, state_.columns[column].type))
            throw SqlError(sqlstate::groupingError,
                           "subquery uses ungrouped column \"" + nameOf(column) + "\" from outer query")
                .at(positionOfColumn(*expr, [&](ColumnId other) { return other == column; }));
      }
      std::vector<std::pair<ColumnId, ExprPtr>> replacements;
      for (const ComputedColumn& key : group_.keys)
         if (const auto* reference = key.expr->getIf<scalar::Column>())
            replacements.emplace_back(reference->column, makeColumn(key.column, key.expr->type));
      substituteColumns(expr, [&](ColumnId column) -> const Expr* {
         for (const auto& [from, to] : replacements)
            if (from == column) return to.get();
         return nullptr;
      });
   }

   /// The key for this column. Adds the column as a key if the primary key of its table is among the keys.
   const ComputedColumn* keyOf(ColumnId column, const SqlType& type) {
      for (const ComputedColumn& key : group_.keys)
         if (columnOf(*key.expr) == column) return &key;
      if (!dependsOnKeys(column)) return nullptr;
      const ColumnId added = state_.addColumn(scope_, state_.columns[column].name, type);
      state_.setKind(added, ColumnKind::Grouped);
      for (auto& set : group_.groupingSets)
         set.push_back(static_cast<uint32_t>(group_.keys.size()));
      group_.keys.push_back({added, makeColumn(column, type)});
      return &group_.keys.back();
   }

   bool dependsOnKeys(ColumnId column) const {
      for (const NamespaceItem& item : scope_.items) {
         const bool isHere =
             item.rowId == column || std::any_of(item.columns.begin(), item.columns.end(),
                                                 [&](const ScopeColumn& other) { return other.column == column; });
         if (!isHere || !item.relation) continue;
         const auto* primary = item.relation->primaryKey();
         if (!primary) continue;
         const bool areKeys = std::all_of(primary->columns.begin(), primary->columns.end(), [&](int16_t attribute) {
            return std::any_of(item.columns.begin(), item.columns.end(), [&](const ScopeColumn& other) {
               return other.attribute == attribute && isCommonKey(other.column);
            });
         });
         if (areKeys && state_.recorder) state_.recorder->readRelation(primary->index);
         return areKeys;
      }
      return false;
   }

   /// A key that is in every grouping set.
   bool isCommonKey(ColumnId column) const {
      for (uint32_t i = 0; i < group_.keys.size(); ++i) {
         const ComputedColumn& key = group_.keys[i];
         if (columnOf(*key.expr) != column) continue;
         return std::all_of(group_.groupingSets.begin(), group_.groupingSets.end(),
                            [&](const auto& set) { return std::find(set.begin(), set.end(), i) != set.end(); });
      }
      return false;
   }

   std::string nameOf(ColumnId column) const {
      for (const NamespaceItem& item : scope_.items)
         for (const ScopeColumn& other : item.columns)
            if (other.column == column) return item.alias.empty() ? other.name : item.alias + "." + other.name;
      for (const NamespaceItem& item : scope_.items)
         if (item.rowId == column) return item.alias + ".ctid";
      return state_.columns[column].name;
   }

   BindState& state_;
   Scope& scope_;
   op::GroupBy& group_;
};

RelPtr placeGrouping(BindState& state, Scope& scope, RelPtr rel, Grouping grouping, std::vector<Target>& targets,
                     ExprPtr& having, std::vector<BoundWindow>& windows) {
   // A set-returning function in a grouping key runs before grouping; all other set-returning functions run after it.
   std::vector<TargetSrf> before, after;
   for (TargetSrf& srf : scope.srfs) {
      const bool isKey = std::any_of(grouping.keyTargets.begin(), grouping.keyTargets.end(), [&](uint32_t target) {
         std::vector<ColumnId> reads;
         collectColumns(*targets[target].expr, reads);
         return std::find(reads.begin(), reads.end(), srf.column) != reads.end();
      });
      (isKey ? before : after).push_back(std::move(srf));
   }
   for (const TargetSrf& srf : before)
      state.setKind(srf.column, ColumnKind::Input);
   rel = placeSrfs(scope, std::move(rel), std::move(before));
   scope.srfs = std::move(after);

   op::GroupBy group;
   for (const uint32_t target : grouping.keyTargets) {
      const Expr& expr = *targets[target].expr;
      std::string name = targets[target].name;
      const auto* reference = expr.getIf<scalar::Column>();
      if (reference) name = state.columns[reference->column].name;
      const ColumnId column = state.addColumn(scope, std::move(name), expr.type);
      state.setKind(column, ColumnKind::Grouped);
      if (reference) { // RowDescription names the table of a key column
         const Oid tableOid = state.columns[reference->column].tableOid;
         const int16_t attribute = state.columns[reference->column].attribute;
         const bool nullable = state.columns[reference->column].nullable || grouping.hasSets;
         state.columns[column].tableOid = tableOid;
         state.columns[column].attribute = attribute;
         state.columns[column].nullable = nullable;
      }
      group.keys.push_back({column, clone(expr)});
   }
   group.groupingSets = std::move(grouping.sets);

   GroupedRewriter rewriter(state, scope, group);
   for (uint32_t i = 0; i < targets.size(); ++i) {
      // A target that is a key itself is not replaced by an equal key: GROUP BY x, ROLLUP (y) over a AS x, a AS y.
      const auto key = std::find(grouping.keyTargets.begin(), grouping.keyTargets.end(), i);
      if (key == grouping.keyTargets.end()) {
         rewriter.rewrite(targets[i].expr);
         continue;
      }
      ExprPtr& expr = targets[i].expr;
      const uint32_t position = expr->position;
      expr = makeColumn(group.keys[static_cast<size_t>(key - grouping.keyTargets.begin())].column, expr->type);
      expr->position = position;
   }
   if (having) rewriter.rewrite(having);
   for (BoundWindow& window : windows) {
      for (ExprPtr& expr : window.spec.partitionBy)
         rewriter.rewrite(expr);
      for (SortKey& key : window.spec.orderBy)
         rewriter.rewrite(key.expr);
      for (FrameBound* bound : {&window.spec.start, &window.spec.end})
         if (bound->offset) rewriter.rewrite(bound->offset);
      for (WindowCall& call : window.calls) {
         for (ExprPtr& arg : call.args)
            rewriter.rewrite(arg);
         if (call.filter) rewriter.rewrite(call.filter);
      }
   }
   for (TargetSrf& srf : scope.srfs)
      rewriter.rewrite(srf.call);
   for (RowFunction& function : scope.rowFunctions)
      for (ExprPtr& arg : function.call->args)
         rewriter.rewrite(arg);
   // Direct arguments have one value per group, so they are evaluated below the GroupBy like all arguments.
   for (const AggregateCall& call : scope.aggregates)
      for (const ExprPtr& arg : call.directArgs) {
         ExprPtr checked = clone(*arg);
         try {
            rewriter.rewrite(checked);
         } catch (SqlError& error) {
            if (error.state() != sqlstate::groupingError) throw;
            throw SqlError(error).detail("Direct arguments of an ordered-set aggregate must use only grouped columns.");
         }
      }

   for (PendingGrouping& pending : scope.groupings) {
      GroupingCall call;
      call.column = pending.column;
      for (const ExprPtr& arg : pending.args) {
         const auto key = std::find_if(group.keys.begin(), group.keys.end(),
                                       [&](const ComputedColumn& other) { return equal(*other.expr, *arg); });
         if (key == group.keys.end())
            throw SqlError(sqlstate::groupingError,
                           "arguments to GROUPING must be grouping expressions of the associated query level")
                .at(arg->position);
         call.keys.push_back(static_cast<uint32_t>(key - group.keys.begin()));
      }
      group.groupingCalls.push_back(std::move(call));
   }
   group.aggregates = std::move(scope.aggregates);
   std::vector<ComputedColumn> chosen = splitDirectArguments(state, scope, group);
   return makeMap(makeRel(RelKind::GroupBy, std::move(group), std::move(rel)), std::move(chosen));
}

} // namespace ouzel::sql
