#include "optimizer/rewrite/guards.hpp"

#include "common/thread/stack.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// A subquery with more dependent joins does not carry columns: each level doubles the operators of the plan.
constexpr size_t carriedMax = 4;

/// Rows whose copy costs little.
bool isCheap(const Rel& rel) {
   const Rel* base = &rel;
   while ((base->kind == RelKind::Select || base->kind == RelKind::Map) && !callsVolatile(*base))
      base = base->inputs[0].get();
   return base->kind == RelKind::Get || base->kind == RelKind::Values || base->kind == RelKind::CteScan;
}

/// One row if a row of `input` asks, else none. `asked`: its column, which is true.
RelPtr oneRowIfAsked(const Rel& input, ColumnId guard, ColumnId& asked, Query& query) {
   ColumnMap renamed;
   RelPtr copy = cloneRenamed(input, query, renamed);
   std::vector<ExprPtr> conjuncts;
   asked = renamed.at(guard);
   conjuncts.push_back(query.ref(asked));
   op::Limit one;
   one.limit = makeInt8(1);
   return makeRel(RelKind::Limit, std::move(one), makeSelect(std::move(copy), std::move(conjuncts)));
}

/// Comparisons and tests do not fail themselves, and joins use them as they are.
void guardExpr(ExprPtr& expr, ColumnId guard, const Query& query) {
   checkStack();
   if (!mayFail(*expr) && !isVolatile(*expr)) return;
   switch (expr->kind) {
   case ExprKind::Compare:
   case ExprKind::And:
   case ExprKind::Or:
   case ExprKind::Not:
   case ExprKind::IsTrue:
   case ExprKind::IsNotTrue:
   case ExprKind::IsFalse:
   case ExprKind::IsNotFalse:
   case ExprKind::IsNull:
   case ExprKind::IsNotNull:
      for (ExprPtr& arg : expr->args)
         guardExpr(arg, guard, query);
      return;
   default: expr = query.onlyWhere(guard, std::move(expr));
   }
}

/// Not the bounds of its frame, which must not be NULL.
void guardWindow(op::Window& window, ColumnId guard, const Query& query) {
   for (ExprPtr& key : window.spec.partitionBy)
      guardExpr(key, guard, query);
   for (SortKey& key : window.spec.orderBy)
      guardExpr(key.expr, guard, query);
   for (WindowCall& call : window.calls) {
      for (ExprPtr& arg : call.args)
         guardExpr(arg, guard, query);
      if (call.filter) guardExpr(call.filter, guard, query);
   }
}

void guardOperator(Rel& rel, ColumnId guard, const Query& query) {
   if (rel.kind == RelKind::Limit) return; // reads no columns
   if (auto* window = rel.getIf<op::Window>()) return guardWindow(*window, guard, query);
   if (rel.kind == RelKind::ProjectSet) // a set-returning call gives no rows for NULL
      forEachOwnExpr(rel, [&](ExprPtr& call) {
         for (ExprPtr& arg : call->args)
            guardExpr(arg, guard, query);
      });
   else
      forEachOwnExpr(rel, [&](ExprPtr& expr) { guardExpr(expr, guard, query); });
   auto* join = rel.getIf<op::Join>();
   if (join && join->kind == JoinKind::Single && !isAtMostOneRow(*rel.inputs[1]))
      join->predicate = conjunction(query.ref(guard), std::move(join->predicate));
}

/// Guards each operator. The term of a recursive CTE is left as it is: it does not run after a seed without rows, and a
/// NULL in it could keep it from ever ending.
void guardOperators(Rel& rel, ColumnId guard, const Query& query) {
   checkStack();
   guardOperator(rel, guard, query);
   if (auto* with = rel.getIf<op::With>())
      for (Cte& cte : with->ctes) {
         guardOperators(*cte.query, guard, query);
         if (cte.recursive) cte.query = makeSelect(std::move(cte.query), query.ref(guard));
      }
   for (RelPtr& input : rel.inputs)
      guardOperators(*input, guard, query);
}

void renameColumns(Rel& rel, const ColumnMap& renamed) {
   replaceColumns(rel, [&renamed](ColumnId column) {
      const auto it = renamed.find(column);
      return it == renamed.end() ? column : it->second;
   });
}

/// Lets a subquery read NULL from the rows of `input` that do not ask for it, so that these rows are one for it.
void hideColumns(Rel& subquery, RelPtr& input, ColumnId guard, Query& query) {
   const std::vector<ColumnId> columns = intersection(freeColumns(subquery), ColumnSet(outputColumns(*input)));
   ColumnMap guarded;
   std::vector<ComputedColumn> computed;
   for (const ColumnId column : columns) {
      const ColumnId copy = query.copyColumn(column);
      query.columns[copy].nullable = true;
      guarded.emplace(column, copy);
      computed.push_back({copy, query.onlyWhere(guard, query.ref(column))});
   }
   input = makeMap(std::move(input), std::move(computed));
   renameColumns(subquery, guarded);
}

/// Guards a subquery that reads nothing from outside: it computes nothing if no row of `input` asks. A subquery of
/// another form, or beside an expensive input, is computed in any case.
void guardWhole(Rel& subquery, const Rel& input, ColumnId guard, Query& query) {
   if (!freeColumns(input).empty() || !isCheap(input)) return;
   std::vector<Rel*> chain{&subquery};
   while (chain.back()->inputs.size() == 1 && hasEffects(*chain.back()->inputs[0]))
      chain.push_back(chain.back()->inputs[0].get());
   Rel& last = *chain.back();
   const bool isOneByOne = last.kind == RelKind::Map || last.kind == RelKind::Select || last.kind == RelKind::GroupBy ||
                           last.kind == RelKind::Sort || last.kind == RelKind::Window;
   if (!isOneByOne) return;
   size_t above = 0; // operators over a row that there is in any case: an aggregate without GROUP BY
   for (size_t i = 0; i < chain.size(); ++i)
      if (isExactlyOneRow(*chain[i])) above = i;
   if (isAtMostOneRow(*last.inputs[0])) {
      above = chain.size();
   } else {
      ColumnId asked = noColumn;
      RelPtr one = oneRowIfAsked(input, guard, asked, query);
      last.inputs[0] = makeJoin(JoinKind::Inner, std::move(last.inputs[0]), std::move(one), nullptr);
      // Predicates that ask do not move below the join. Groups do not show the column.
      for (size_t i = chain.size(); i-- > above;) {
         guardOperator(*chain[i], asked, query);
         if (chain[i]->kind == RelKind::GroupBy) break;
      }
   }
   for (size_t i = 0; i < above; ++i)
      guardOperator(*chain[i], guard, query);
}

} // namespace

void guardSubquery(Rel& subquery, RelPtr& input, ColumnId guard, Query& query) {
   if (!hasEffects(subquery)) return;
   const Rel* base = &subquery;
   while (base->kind == RelKind::Map || base->kind == RelKind::Select)
      base = base->inputs[0].get();
   if (!isUnit(*base)) {
      if (freeColumns(subquery).empty() && !isAtMostOneRow(*input)) {
         guardWhole(subquery, *input, guard, query);
         return;
      }
      hideColumns(subquery, input, guard, query);
   }
   guardOperators(subquery, guard, query);
}

void carryOuter(Rel& subquery, RelPtr& input, Query& query) {
   if (isExactlyOneRow(*input) || !hasEffects(subquery)) return;
   size_t joins = 0;
   forEachRel(subquery, [&joins](const Rel& rel) {
      const auto* join = rel.getIf<op::Join>();
      joins += join && join->dependent;
   });
   if (joins > carriedMax) return;
   const ColumnSet own(outputColumns(*input));
   ColumnMap carried;
   std::vector<ComputedColumn> computed;
   for (const ColumnId column : freeColumns(subquery)) {
      if (own.contains(column) || carried.contains(column)) continue;
      const ColumnId copy = query.copyColumn(column);
      query.columns[copy].nullable = true;
      carried.emplace(column, copy);
      computed.push_back({copy, query.ref(column)});
   }
   if (carried.empty()) return;
   input = makeMap(std::move(input), std::move(computed));
   renameColumns(subquery, carried);
}

} // namespace ouzel::optimizer
