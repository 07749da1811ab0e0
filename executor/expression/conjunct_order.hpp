#pragma once
#include <cstdint>
#include <vector>
#include <x86intrin.h>

#include "common/value/batch.hpp"

namespace ouzel::executor {

/// The conjuncts of a predicate in the order in which one worker evaluates them: those first that drop the most rows
/// for their time, as measured. A conjunct that can fail never gets a row that one written before it would have
/// dropped. With a volatile conjunct all stay as they were written.
class ConjunctOrder {
public:
   /// Append a conjunct. `isTotal`: it cannot fail and has no effect.
   void add(bool isTotal, bool isVolatile) {
      terms_.push_back({static_cast<uint32_t>(terms_.size()), isTotal});
      isFixed_ |= isVolatile;
   }

   /// The rows of a batch that pass all conjuncts: filter(number, rows) gives those that pass the conjunct that was
   /// added as `number`. Ends as soon as no row is left.
   template <typename Filter>
   Selection apply(Selection rows, Filter&& filter) {
      prepareBatch();
      for (Term& term : terms_) {
         const uint32_t before = rows.count();
         if (before == 0) break;
         const uint64_t start = __rdtsc();
         rows = filter(term.number, rows);
         term.cycles += __rdtsc() - start;
         term.rowsIn += before;
         term.rowsOut += rows.count();
      }
      return rows;
   }

private:
   static constexpr uint32_t revisedEvery = 32; ///< batches

   struct Term {
      uint32_t number = 0;
      bool isTotal = false;
      uint64_t rowsIn = 0, rowsOut = 0, cycles = 0;
      double rank = 0;
   };

   void prepareBatch();
   void revise();
   static double rankOf(const Term& term);

   std::vector<Term> terms_;
   uint32_t batches_ = 0;
   bool isFixed_ = false;
};

} // namespace ouzel::executor
