#include "sql/bind/query/sort_group.hpp"

#include <algorithm>

#include "sql/bind/binder.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/names.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/ordering.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/row_value.hpp"

// Elements of ORDER BY, GROUP BY and DISTINCT ON: an output name, an ordinal, or an expression.

namespace ouzel::sql {

using catalog::BtreeStrategy;
using catalog::builtins;

namespace {

uint32_t findTargetSql99(BindState& state, Scope& scope, const ::Node* node, std::vector<Target>& targets,
                         Clause clause);

} // namespace

uint32_t findTargetSql92(BindState& state, Scope& scope, const ::Node* node, std::vector<Target>& targets,
                         Clause clause) {
   const std::string clauseText(clauseName(clause));
   if (isNode(node, T_ColumnRef) && ListOf<>(as<ColumnRef>(node)->fields).size() == 1 &&
       isNode(ListOf<>(as<ColumnRef>(node)->fields)[0], T_String)) {
      const auto name = stringOf(ListOf<>(as<ColumnRef>(node)->fields)[0]);
      const uint32_t position = state.at(as<ColumnRef>(node)->location);
      // GROUP BY prefers a column of FROM to an output name (SQL:1999); ORDER BY prefers the output name.
      const bool isInput = clause == Clause::GroupBy && findColumn(state, scope, name, position, true);
      if (!isInput) {
         std::optional<uint32_t> found;
         for (uint32_t i = 0; i < targets.size(); ++i) {
            if (targets[i].isHidden || targets[i].name != name) continue;
            if (found && !equal(*targets[*found].expr, *targets[i].expr))
               throw SqlError(sqlstate::ambiguousColumn, clauseText + " \"" + std::string(name) + "\" is ambiguous")
                   .at(position);
            if (!found) found = i;
         }
         if (found) return *found;
      }
   }
   if (isNode(node, T_A_Const)) {
      const auto* constant = as<A_Const>(node);
      const uint32_t position = state.at(constant->location);
      if (constant->isnull || constant->val.node.type != T_Integer)
         throw SqlError(sqlstate::syntaxError, "non-integer constant in " + clauseText).at(position);
      const int wanted = constant->val.ival.ival;
      int ordinal = 0;
      for (uint32_t i = 0; i < targets.size(); ++i)
         if (!targets[i].isHidden && ++ordinal == wanted) return i;
      throw SqlError(sqlstate::invalidColumnReference,
                     clauseText + " position " + std::to_string(wanted) + " is not in select list")
          .at(position);
   }
   return findTargetSql99(state, scope, node, targets, clause);
}

namespace {

uint32_t findTargetSql99(BindState& state, Scope& scope, const ::Node* node, std::vector<Target>& targets,
                         Clause clause) {
   auto expr = bindExpr(state, scope, node, clause);
   for (uint32_t i = 0; i < targets.size(); ++i)
      if (equal(*targets[i].expr, *expr)) return i;
   Target target;
   target.position = startOf(*expr);
   target.name = outputName(node, state.context.catalog);
   target.isHidden = true;
   target.expr = unknownToText(state, std::move(expr));
   targets.push_back(std::move(target));
   return static_cast<uint32_t>(targets.size() - 1);
}

} // namespace

std::vector<OrderElement> bindOrderBy(BindState& state, Scope& scope, const ::List* list, std::vector<Target>& targets,
                                      Clause clause) {
   std::vector<OrderElement> order;
   const auto add = [&](const ::SortBy& sort, const ::Node* node, bool isField) {
      const uint32_t index = isField ? findTargetSql99(state, scope, node, targets, clause)
                                     : findTargetSql92(state, scope, node, targets, clause);
      Target& target = targets[index];
      target.expr = rowValue(state, unknownToText(state, std::move(target.expr)));
      requireSortKey(state, *target.expr, state.startOfNode(node));
      OrderElement element{index, false, false};
      direction(state, sort, target.expr->type, element.descending, element.nullsFirst);
      if (isField) element.nullsFirst = element.descending; // NULLS FIRST applies to the row, which is never NULL
      const bool known =
          std::any_of(order.begin(), order.end(), [&](const OrderElement& other) { return other.target == index; });
      if (!known) order.push_back(element);
   };
   for (const auto* sort : ListOf<SortBy>(list)) {
      if (!isNode(sort->node, T_RowExpr)) {
         add(*sort, sort->node, false);
         continue;
      }
      for (const ::Node* field : ListOf<>(as<RowExpr>(sort->node)->args)) // rows are ordered field by field
         add(*sort, field, true);
   }
   return order;
}

std::vector<uint32_t> bindDistinctOn(BindState& state, Scope& scope, const ::SelectStmt& select,
                                     std::vector<Target>& targets, std::vector<OrderElement>& order) {
   std::vector<uint32_t> wanted;
   std::vector<uint32_t> positions;
   for (const ::Node* node : ListOf<>(select.distinctClause)) {
      const uint32_t index = findTargetSql92(state, scope, node, targets, Clause::DistinctOn);
      targets[index].expr = unknownToText(state, std::move(targets[index].expr));
      requireEqualKey(state, *targets[index].expr, targets[index].position);
      if (std::find(wanted.begin(), wanted.end(), index) == wanted.end()) {
         wanted.push_back(index);
         positions.push_back(state.startOfNode(node));
      }
   }
   // The leading elements of ORDER BY must be the targets of DISTINCT ON, in any order. Targets that ORDER BY lacks are
   // appended to it.
   bool skipped = false;
   for (const OrderElement& element : order) {
      const bool isWanted = std::find(wanted.begin(), wanted.end(), element.target) != wanted.end();
      if (isWanted && skipped)
         throw SqlError(sqlstate::invalidColumnReference,
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
             .at(positions[static_cast<size_t>(std::find(wanted.begin(), wanted.end(), element.target) -
                                               wanted.begin())]);
      skipped |= !isWanted;
   }
   for (size_t i = 0; i < wanted.size(); ++i) {
      const bool isOrdered = std::any_of(order.begin(), order.end(),
                                         [&](const OrderElement& element) { return element.target == wanted[i]; });
      if (isOrdered) continue;
      if (skipped)
         throw SqlError(sqlstate::invalidColumnReference,
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
             .at(positions[i]);
      requireSortKey(state, *targets[wanted[i]].expr, positions[i]);
      order.push_back({wanted[i], false, false});
   }
   return wanted;
}

} // namespace ouzel::sql
