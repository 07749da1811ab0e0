#include "executor/expression/conjunct_order.hpp"

#include <algorithm>

namespace ouzel::executor {

/// In the first batches each term comes first once: behind a term that leaves few rows, the fixed costs of a batch
/// would make it look dear for ever.
void ConjunctOrder::prepareBatch() {
   const uint32_t batch = batches_++;
   if (terms_.size() < 2 || isFixed_) return;
   if (batch < terms_.size()) {
      const auto next = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.number == batch; });
      if (next->isTotal) std::rotate(terms_.begin(), next, next + 1);
   } else if ((batch - terms_.size()) % revisedEvery == 0) {
      revise();
   }
}

/// Time per row dropped (Hellerstein and Stonebraker 1993, "Predicate Migration"): terms with a smaller rank should run
/// earlier.
double ConjunctOrder::rankOf(const Term& term) {
   if (term.rowsIn == 0) return 0;
   const double cost = static_cast<double>(term.cycles) / static_cast<double>(term.rowsIn);
   const double dropped = 1.0 - static_cast<double>(term.rowsOut) / static_cast<double>(term.rowsIn);
   return cost / std::max(dropped, 0.001);
}

void ConjunctOrder::revise() {
   const auto isWrittenFirst = [](const Term& a, const Term& b) { return a.number < b.number; };
   std::sort(terms_.begin(), terms_.end(), isWrittenFirst);
   double highest = 0;
   for (Term& term : terms_) {
      term.rank = rankOf(term);
      if (!term.isTotal) term.rank = std::max(term.rank, highest);
      highest = std::max(highest, term.rank);
      // Older measurements count less.
      term.rowsIn /= 2;
      term.rowsOut /= 2;
      term.cycles /= 2;
   }
   std::stable_sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.rank < b.rank; });
}

} // namespace ouzel::executor
