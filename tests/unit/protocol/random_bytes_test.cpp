#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel;
using namespace ouzel::protocol;
using namespace ouzel::protocol::test;

// A quick version of tests/fuzz/protocol_fuzz.cpp: the session answers or closes for any bytes.

CATCH_TEST_CASE("random bytes and damaged conversations never break the session") {
   const uint64_t seed = 20240607;
   std::mt19937_64 rng(seed);
   const std::string good = query("rows 3; fail") + parse("s", "echo") + bind("p", "s", {"x"}, {0}) +
                            describe('P', "p") + execute("p", 1) + syncMessage() + query("copyin") +
                            message('d', "1\n") + message('c', "") + parse("", "rows 9") + bind("", "") +
                            execute("", 2) + syncMessage();
   for (int round = 0; round < 2000; ++round) {
      CATCH_INFO("seed " << seed << " round " << round);
      Conversation c;
      std::string bytes;
      if (round % 2 == 0) {
         c.connect();
         bytes = good;
         for (uint64_t damage = rng() % 6; damage > 0; --damage) {
            const size_t at = rng() % bytes.size();
            if (rng() % 3 == 0)
               bytes.erase(at, rng() % 4);
            else
               bytes[at] = static_cast<char>(rng() % 3 == 0 ? rng() : rng() % 8);
            if (bytes.empty()) break;
         }
      } else {
         if (round % 4 == 1) c.doorkeeper.rule.method = AuthenticationMethod::ScramSha256;
         if (round % 8 < 4) bytes = startupPacket({{"user", "u"}, {"options", "-c a=b"}});
         for (uint64_t count = rng() % 200; count > 0; --count)
            bytes += static_cast<char>(rng());
      }
      c.say(bytes);
   }
}
