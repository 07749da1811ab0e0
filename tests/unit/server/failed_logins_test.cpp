#include "server/failed_logins.hpp"

#include <catch2/catch.hpp>

using namespace ouzel::server;

CATCH_TEST_CASE("answers to wrong passwords are kept back for longer and longer") {
   constexpr int64_t milli = 1'000'000;
   FailedLogins logins(100);
   int64_t now = 1;
   for (const int64_t millis : {100, 200, 400, 800, 1600, 3200, 3200})
      CATCH_CHECK(logins.failed("10.0.0.1", "ada", now++) == millis * milli);
   // Others are not concerned.
   CATCH_CHECK(logins.failed("10.0.0.2", "ada", now) == 100 * milli);
   CATCH_CHECK(logins.failed("10.0.0.1", "bob", now) == 100 * milli);
   logins.succeeded("10.0.0.1", "ada");
   CATCH_CHECK(logins.failed("10.0.0.1", "ada", now) == 100 * milli);
   CATCH_CHECK(logins.failed("10.0.0.1", "ada", now + FailedLogins::forgottenAfterNanos) == 200 * milli);
   CATCH_CHECK(logins.failed("10.0.0.1", "ada", now + 3 * FailedLogins::forgottenAfterNanos) == 100 * milli);
   CATCH_CHECK(FailedLogins(0).failed("10.0.0.1", "ada", now) == 0);
}

CATCH_TEST_CASE("failed logins are remembered up to a bound, the latest ones") {
   FailedLogins logins(1);
   for (int64_t i = 0; i < static_cast<int64_t>(FailedLogins::entriesMax) + 100; ++i)
      logins.failed("10.0.0.1", "role" + std::to_string(i), i);
   CATCH_CHECK(logins.entries() == FailedLogins::entriesMax);
   CATCH_CHECK(logins.failed("10.0.0.1", "role4000", 5000) == 2'000'000);
   CATCH_CHECK(logins.failed("10.0.0.1", "role0", 5000) == 1'000'000);
   logins.failed("10.0.0.1", "late", 10 * FailedLogins::forgottenAfterNanos);
   CATCH_CHECK(logins.entries() == 1);
}
