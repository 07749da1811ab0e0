#pragma once
#include <random>
#include <string>

#include "common/json/jsonb_writer.hpp"
#include "common/memory/arena.hpp"
#include "common/number/decimal.hpp"

namespace ouzel::storage::test {

/// Makes documents: some keys are frequent, some rare; the types of a path vary.
class RandomDocuments {
public:
   explicit RandomDocuments(uint64_t seed) : random_(seed) {}

   std::string next() {
      put(0);
      return writer_.finish();
   }

private:
   uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
   void put(uint32_t depth) {
      switch (below(depth == 0 ? 40 : 12)) {
      case 0: return writer_.null();
      case 1: return writer_.boolean(below(2) != 0);
      case 2: return writer_.number(decimal::fromInt64(static_cast<int64_t>(random_()) >> below(64), 0));
      case 3:
         return writer_.number(
             decimal::fromInt64(static_cast<int64_t>(below(100'000)), static_cast<int32_t>(below(4))));
      case 4: return writer_.number(decimal::parse("1e" + std::to_string(below(60)), arena_));
      case 7:
         return writer_.string(below(3) == 0 ? "no date"
                                             : "19" + std::to_string(10 + below(90)) + "-0" +
                                                   std::to_string(1 + below(9)) + "-" + std::to_string(10 + below(22)));
      case 5: return writer_.string(std::string(below(40), static_cast<char>('a' + below(26))));
      case 6:
         writer_.beginArray();
         for (uint32_t i = below(4); i > 0 && depth < 4; --i)
            put(depth + 1);
         return writer_.endArray();
      default: break;
      }
      writer_.beginObject();
      for (uint32_t i = below(6); i > 0 && depth < 4; --i) {
         writer_.key(below(20) == 0 ? "rare" + std::to_string(random_() % 1'000)
                                    : std::string(1, static_cast<char>('a' + below(6))));
         put(depth + 1);
      }
      writer_.endObject();
   }

   std::mt19937_64 random_;
   json::JsonbWriter writer_;
   Arena arena_;
};

} // namespace ouzel::storage::test
