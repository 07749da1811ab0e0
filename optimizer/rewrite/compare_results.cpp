#include "optimizer/rewrite/compare_results.hpp"

#include "catalog/builtin/builtin.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool isDecimalQuotient(const Expr& expr) {
   const catalog::FunctionInfo* function = functionOf(expr);
   return function && function->source == "numeric_div";
}

std::vector<ExprPtr*> resultsOf(Expr& cases) {
   std::vector<ExprPtr*> results;
   for (size_t i = 0; i < cases.args.size(); ++i)
      if (i % 2 == 1 || i + 1 == cases.args.size()) results.push_back(&cases.args[i]);
   return results;
}

/// Constants, but for one quotient.
bool pays(const std::vector<ExprPtr*>& results, const SqlType& type) {
   uint32_t quotients = 0;
   for (const ExprPtr* result : results) {
      if ((*result)->type.oid != type.oid || (*result)->type.collation != type.collation) return false;
      if ((*result)->kind == ExprKind::Constant) continue;
      if (!isDecimalQuotient(**result) || ++quotients > 1) return false;
   }
   return true;
}

} // namespace

std::vector<ExprPtr*> compareResults(ExprPtr& expr) {
   const CompareOp op = expr->as<scalar::Compare>().op;
   if (isNullSafe(op) || expr->args[0]->kind != ExprKind::Case || expr->args[1]->kind != ExprKind::Constant) return {};
   std::vector<ExprPtr*> results = resultsOf(*expr->args[0]);
   if (!pays(results, expr->args[0]->type)) return {};
   const ExprPtr bound = std::move(expr->args[1]);
   ExprPtr cases = std::move(expr->args[0]);
   for (ExprPtr* result : results)
      *result = makeCompare(op, std::move(*result), clone(*bound));
   cases->type = expr->type;
   cases->repr = expr->repr;
   expr = std::move(cases);
   return results;
}

} // namespace ouzel::optimizer
