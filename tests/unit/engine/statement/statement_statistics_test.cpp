#include "engine/statement/statement_statistics.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

namespace ouzel::engine {
namespace {

StatementKey keyOf(uint64_t queryId, Oid role = 10) {
   return {.role = role, .database = 5, .queryId = queryId};
}

StatementUse lasting(int64_t millis, uint64_t rows = 0) {
   StatementUse use;
   use.nanos = millis * 1'000'000;
   use.rows = rows;
   return use;
}

bool isNear(double a, double b) {
   return std::abs(a - b) < 1e-9;
}

int64_t callsOf(const StatementStatistics& statistics, uint64_t queryId) {
   for (const auto& entry : statistics.list())
      if (entry.key.queryId == queryId) return entry.calls.count();
   return 0;
}

CATCH_TEST_CASE("durations are summed up") {
   DurationSummary summary;
   CATCH_CHECK(summary.deviation() == 0);
   for (const double millis : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0})
      summary.add(millis);
   CATCH_CHECK(summary.count() == 8);
   CATCH_CHECK(summary.total() == 40);
   CATCH_CHECK(summary.min() == 2);
   CATCH_CHECK(summary.max() == 9);
   CATCH_CHECK(isNear(summary.mean(), 5.0));
   CATCH_CHECK(isNear(summary.deviation(), 2.0));
}

CATCH_TEST_CASE("runs of a statement are counted together") {
   MemoryLedger ledger(size_t{1} << 20);
   StatementStatistics statistics(ledger, 100);
   int texts = 0;
   const auto text = [&] {
      ++texts;
      return std::string("select $1");
   };
   StatementUse use = lasting(5, 3);
   use.preparationNanos = 2'000'000;
   use.planNanos = 1'000'000;
   use.plans = 1;
   use.pagesHit = 7;
   statistics.add(keyOf(1), use, text);
   statistics.add(keyOf(1), use, text);
   statistics.add(keyOf(1, 11), use, text);
   CATCH_CHECK(texts == 2);
   const auto entries = statistics.list();
   CATCH_REQUIRE(entries.size() == 2);
   const auto& first = entries[entries[0].key.role == 10 ? 0 : 1];
   CATCH_CHECK(*first.text == "select $1");
   CATCH_CHECK(first.calls.count() == 2);
   CATCH_CHECK(isNear(first.calls.total(), 6.0));
   CATCH_CHECK(isNear(first.plans.total(), 2.0));
   CATCH_CHECK(first.rows == 6);
   CATCH_CHECK(first.pagesHit == 14);
}

CATCH_TEST_CASE("the statements that were run least give way") {
   MemoryLedger ledger(size_t{16} << 20);
   StatementStatistics statistics(ledger, 100);
   for (int i = 0; i < 20; ++i)
      statistics.add(keyOf(1), lasting(1), [] { return std::string("often"); });
   for (uint64_t id = 2; id < 1000; ++id) {
      statistics.add(keyOf(id), lasting(1), [] { return std::string("once"); });
      CATCH_REQUIRE(statistics.list().size() <= 100);
   }
   CATCH_CHECK(callsOf(statistics, 1) == 20);
   CATCH_CHECK(callsOf(statistics, 999) == 1);
   CATCH_CHECK(statistics.info().evictions > 0);
}

CATCH_TEST_CASE("entries are charged, and refused without memory") {
   MemoryLedger ledger(64 << 10);
   {
      StatementStatistics statistics(ledger, 1000);
      for (uint64_t id = 1; id <= 20; ++id)
         statistics.add(keyOf(id), lasting(1), [] { return std::string(10'000, 'x'); });
      CATCH_CHECK(statistics.list().size() < 8);
      CATCH_CHECK(ledger.used() > 10'000);
      statistics.reset(invalidOid, invalidOid, 0);
      CATCH_CHECK(ledger.used() == 0);
      statistics.add(keyOf(1), lasting(1), [] { return std::string("x"); });
   }
   CATCH_CHECK(ledger.used() == 0);
}

CATCH_TEST_CASE("a reset forgets what it names") {
   MemoryLedger ledger(size_t{1} << 20);
   StatementStatistics statistics(ledger, 100);
   const auto text = [] { return std::string("x"); };
   for (const Oid role : {10u, 11u})
      for (const uint64_t id : {1u, 2u})
         statistics.add(keyOf(id, role), lasting(1), text);
   statistics.reset(invalidOid, 6, 0);
   CATCH_CHECK(statistics.list().size() == 4);
   statistics.reset(10, 5, 2);
   CATCH_CHECK(statistics.list().size() == 3);
   statistics.reset(11, invalidOid, 0);
   CATCH_CHECK(statistics.list().size() == 1);
   statistics.reset(invalidOid, invalidOid, 0);
   CATCH_CHECK(statistics.list().empty());
}

CATCH_TEST_CASE("a long text is cut between characters") {
   MemoryLedger ledger(size_t{1} << 20);
   StatementStatistics statistics(ledger, 100);
   std::string text = "x";
   while (text.size() < 2 * StatementStatistics::textBytesMax)
      text += "\xc3\xa4";
   statistics.add(keyOf(1), lasting(1), [&] { return text; });
   CATCH_CHECK(statistics.list().at(0).text->size() == StatementStatistics::textBytesMax - 1);
}

CATCH_TEST_CASE("sessions count at once") {
   MemoryLedger ledger(size_t{16} << 20);
   StatementStatistics statistics(ledger, 50);
   std::vector<std::thread> threads;
   for (uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
         for (uint64_t i = 0; i < 2000; ++i) {
            statistics.add(keyOf(1), lasting(1), [] { return std::string("shared"); });
            statistics.add(keyOf(2 + t * 2000 + i), lasting(1), [] { return std::string("own"); });
            if (i % 500 == 0) statistics.list();
         }
      });
   for (std::thread& thread : threads)
      thread.join();
   CATCH_CHECK(callsOf(statistics, 1) == 8000);
   CATCH_CHECK(statistics.list().size() <= 50);
}

} // namespace
} // namespace ouzel::engine
