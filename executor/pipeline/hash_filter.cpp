#include "executor/pipeline/hash_filter.hpp"

#include <algorithm>
#include <bit>

#include "common/error/check.hpp"

namespace ouzel::executor {

uint64_t HashFilter::wordsFor(uint64_t hashes) {
   return std::bit_ceil(std::max<uint64_t>(hashes / hashesPerWord, 1));
}

HashFilter::HashFilter(uint64_t words, Reservation& memory)
   : memory_(words * sizeof(uint64_t), memory), words_(memory_.as<uint64_t>()), count_(words) {
   DCHECK(std::has_single_bit(words));
   DCHECK(words <= wordsMax);
}

namespace {

/// The share of hashes that pass, on average over the words that have bits.
template <typename WordAt>
double passingOf(uint64_t count, WordAt&& wordAt) {
   double sum = 0;
   uint64_t used = 0;
   for (uint64_t w = 0; w < count; ++w) {
      const double set = std::popcount(wordAt(w)) / 64.0;
      sum += set * set * set * set; // four bits decide
      used += set > 0;
   }
   return used == 0 ? 0 : sum / static_cast<double>(used);
}

constexpr double passingShareOfSmaller = 0.01;

} // namespace

double HashFilter::passingShare() const {
   return passingOf(count_, [this](uint64_t w) { return words_[w]; });
}

void HashFilter::shrink() {
   const auto united = [this](uint64_t w) { return words_[2 * w] | words_[2 * w + 1]; };
   while (count_ > 1 && passingOf(count_ / 2, united) <= passingShareOfSmaller) {
      count_ /= 2;
      for (uint64_t w = 0; w < count_; ++w)
         words_[w] = united(w);
   }
}

} // namespace ouzel::executor
