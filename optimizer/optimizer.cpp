#include "optimizer/optimizer.hpp"

#include "optimizer/lower/lowering.hpp"
#include "optimizer/rewrite/rules.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

uint32_t largestCte(Rel& root) {
   uint32_t largest = 0;
   const std::function<void(Rel&)> visit = [&](Rel& rel) {
      for (const Cte& cte : rel.ctes)
         largest = std::max(largest, cte.id);
      forEachOwnExpr(rel, [&](ExprPtr& expr) {
         forEachExpr(*expr, [&](const Expr& e) {
            if (e.subquery) forEachRel(*e.subquery, visit);
            return true;
         });
      });
   };
   forEachRel(root, visit);
   return largest;
}

} // namespace

std::unique_ptr<plan::Plan> optimize(BoundQuery&& bound, const OptimizerContext& context) {
   Query query{bound.columns, context, largestCte(*bound.root) + 1};
   RelPtr root = std::move(bound.root);
   rewrite(root, bound.output, query);
   Estimator estimator(query);
   estimator.estimate(*root);
   return Lowering(query, estimator).run(std::move(root), std::move(bound.output), bound.readOnly);
}

void rewrite(RelPtr& root, std::vector<OutputColumn>& output, Query& query) {
   const OptimizerSettings& settings = query.context.settings;
   if (!settings.enabled) {
      removeSubqueries(root, query);
      unnest(root, query);
      replaceSetOperations(root, query);
      return;
   }
   inlineCtes(root, query);
   liftCasts(root, query);
   simplify(root, query);
   removeSubqueries(root, query);
   unnest(root, query);
   replaceSetOperations(root, query);
   removeAliases(root, query, output);
   simplify(root, query);
   tidy(root, query);
   pushDown(root, query);
   removeAliases(root, query, output);
   pruneColumns(root, output, query);
   if (settings.joinOrder) orderJoins(root, query);
   if (settings.shareSubexpressions) shareSubplans(root, query);
   if (settings.narrowNumerics) splitSums(root, query);
   pruneColumns(root, output, query);
   if (settings.shareSubexpressions) shareSubexpressions(root, query);
}

} // namespace ouzel::optimizer
