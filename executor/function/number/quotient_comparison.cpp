#include "sql/algebra/expr.hpp"

// a / b op c for three decimals, where c has one value for all rows of a call: most quotients need not be computed.

#include "common/number/decimal_quotient.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

namespace ouzel::executor {

namespace {

using sql::CompareOp;

template <CompareOp op>
bool holds(int order) {
   switch (op) {
   case CompareOp::Eq: return order == 0;
   case CompareOp::Ne: return order != 0;
   case CompareOp::Lt: return order < 0;
   case CompareOp::Le: return order <= 0;
   case CompareOp::Gt: return order > 0;
   default: return order >= 0;
   }
}

template <CompareOp op>
void compareQuotients(const KernelCall& call, ResultVector& result) {
   if (call.rows.count() == 0) return;
   const detail::Argument<DecimalView> dividends(call.args[0]), divisors(call.args[1]);
   const decimal::QuotientBound bound(call.args[2].value<StringView>(0));
   auto* out = result.values<uint8_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      out[row] = holds<op>(bound.compare(dividends.get(row), divisors.get(row))) ? 1 : 0;
   });
}

template <CompareOp op>
void add(std::string_view name) {
   registerKernel(name, "nnn", {compareQuotients<op>, true, false});
}

} // namespace

void registerQuotientComparisons() {
   add<CompareOp::Eq>("ouzel_quotient_eq");
   add<CompareOp::Ne>("ouzel_quotient_ne");
   add<CompareOp::Lt>("ouzel_quotient_lt");
   add<CompareOp::Le>("ouzel_quotient_le");
   add<CompareOp::Gt>("ouzel_quotient_gt");
   add<CompareOp::Ge>("ouzel_quotient_ge");
}

} // namespace ouzel::executor
