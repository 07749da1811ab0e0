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

void HashFilter::shrinkFor(uint64_t hashes) {
   const uint64_t wanted = wordsFor(hashes);
   while (count_ > wanted) {
      count_ /= 2;
      for (uint64_t w = 0; w < count_; ++w)
         words_[w] = words_[2 * w] | words_[2 * w + 1];
   }
}

} // namespace ouzel::executor
