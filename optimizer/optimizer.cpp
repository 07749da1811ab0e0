#include "optimizer/optimizer.hpp"

#include "common/thread/interruption.hpp"
#include "optimizer/lower/lowering.hpp"
#include "optimizer/rewrite/constants.hpp"
#include "optimizer/rewrite/rules.hpp"
#include "sql/algebra/verify.hpp"
#include "sql/plan/verify.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

uint32_t largestCte(Rel& root) {
   uint32_t largest = 0;
   const std::function<void(Rel&)> visit = [&](Rel& rel) {
      if (const auto* with = rel.getIf<op::With>())
         for (const Cte& cte : with->ctes)
            largest = std::max(largest, cte.id);
      forEachOwnExpr(rel, [&](ExprPtr& expr) {
         forEachExpr(*expr, [&](const Expr& e) {
            if (const auto* subquery = e.getIf<scalar::Subquery>()) forEachRel(*subquery->query, visit);
            return true;
         });
      });
   };
   forEachRel(root, visit);
   return largest;
}

} // namespace

std::unique_ptr<plan::Plan> optimize(BoundQuery&& bound, const OptimizerContext& context) {
   if constexpr (hasDchecks) verify(*bound.root, bound.output, bound.columns, "binding", {});
   Query query{bound.columns, context, largestCte(*bound.root) + 1};
   RelPtr root = std::move(bound.root);
   readForeignTables(root);
   raiseConstantErrors(*root, bound.output, query);
   rewrite(root, bound.output, query);
   Estimator estimator(query);
   estimator.estimate(*root);
   auto result = Lowering(query, estimator).run(std::move(root), std::move(bound.output), bound.readOnly);
   if constexpr (hasDchecks) plan::verify(*result);
   return result;
}

void rewrite(RelPtr& root, std::vector<OutputColumn>& output, Query& query) {
   const OptimizerSettings& settings = query.context.settings;
   TreeForm form;
   const auto done = [&](const char* step) {
      checkInterrupted();
      if constexpr (hasDchecks) verify(*root, output, query.columns, step, form);
   };
   if (settings.enabled) {
      inlineCtes(root, query);
      done("inlineCtes");
      liftCasts(root, query);
      done("liftCasts");
      simplify(root, query);
      done("simplify");
      readPaths(root, query);
      done("readPaths");
   }
   removeSubqueries(root, query);
   form.hasSubqueries = false;
   done("removeSubqueries");
   keepOrders(*root);
   done("keepOrders");
   encodeGroups(root, query);
   done("encodeGroups");
   unnest(root, query);
   form.hasDependence = false;
   done("unnest");
   replaceSetOperations(root, query);
   form.hasDifferences = false;
   done("replaceSetOperations");
   encodeOrders(root, query);
   done("encodeOrders");
   if (!settings.enabled) return;
   encodeEqualities(root, query);
   done("encodeEqualities");
   removeAliases(root, query, output);
   done("removeAliases");
   simplify(root, query);
   done("simplify");
   tidy(root, query);
   done("tidy");
   pushDown(root, query);
   done("pushDown");
   if (inlineExpandingCtes(root, query)) {
      removeAliases(root, query, output);
      pushDown(root, query);
      done("inlineExpandingCtes");
   }
   prunePartitions(root);
   done("prunePartitions");
   requireHandlersOfParts(*root);
   removeAliases(root, query, output);
   done("removeAliases");
   pruneColumns(root, output, query);
   done("pruneColumns");
   dropDeterminedKeys(root, query);
   done("dropDeterminedKeys");
   if (settings.joinOrder) liftSingleRows(root, query);
   done("liftSingleRows");
   if (settings.joinOrder) limitGroups(root, query);
   done("limitGroups");
   if (settings.joinOrder) orderExtremes(root, query);
   done("orderExtremes");
   if (settings.joinOrder) lateAverages(root, query);
   done("lateAverages");
   if (settings.joinOrder) groupEarly(root, query);
   done("groupEarly");
   if (settings.joinOrder) rollUp(root, query);
   done("rollUp");
   if (settings.joinOrder) distinctFirst(root, query);
   done("distinctFirst");
   if (settings.joinOrder) orderJoins(root, query);
   done("orderJoins");
   if (settings.shareSubexpressions) shareSubplans(root, query);
   done("shareSubplans");
   if (settings.joinOrder) numberKeys(root, query);
   done("numberKeys");
   if (settings.narrowNumerics) splitSums(root, query);
   done("splitSums");
   if (settings.shareSubexpressions) liftAddends(root, query);
   done("liftAddends");
   pruneColumns(root, output, query);
   done("pruneColumns");
   if (settings.shareSubexpressions) shareSubexpressions(root, query);
   done("shareSubexpressions");
}

} // namespace ouzel::optimizer
