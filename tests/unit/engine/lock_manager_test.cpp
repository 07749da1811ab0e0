#include "engine/lock/lock_manager.hpp"

#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "common/error/sql_error.hpp"

using namespace ouzel;
using namespace ouzel::engine;

namespace {

const LockTag table = LockTag::relation(static_cast<Oid>(16384)), other = LockTag::relation(static_cast<Oid>(16385));
const LockWait forever{.deadlockMillis = 20}, never{.noWait = true};

bool waits(LockManager& locks, int32_t processId) {
   for (const auto& view : locks.list())
      if (view.processId == processId && !view.isGranted) return true;
   return false;
}

void awaitWaiting(LockManager& locks, int32_t processId) {
   while (!waits(locks, processId))
      std::this_thread::yield();
}

} // namespace

CATCH_TEST_CASE("lock modes conflict as PostgreSQL's do", "[locks]") {
   LockManager locks;
   // Compatible pairs, from the table in PostgreSQL's manual.
   const std::vector<std::vector<int>> together = {
       {}, {1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4}, {1, 2, 3}, {1, 2, 5}, {1, 2}, {1}, {}};
   for (int a = 1; a <= 8; ++a)
      for (int b = 1; b <= 8; ++b) {
         LockOwner first(1), second(2);
         CATCH_CHECK(locks.acquire(first, table, static_cast<LockMode>(a), never));
         const auto& good = together[static_cast<size_t>(a)];
         const bool expected = std::find(good.begin(), good.end(), b) != good.end();
         CATCH_CHECK(locks.acquire(second, table, static_cast<LockMode>(b), never) == expected);
         CATCH_CHECK(locks.acquire(first, table, LockMode::AccessExclusive, never) == !expected);
         locks.releaseAll(first);
         locks.releaseAll(second);
         CATCH_CHECK(locks.list().empty());
      }
}

CATCH_TEST_CASE("waiters go in the order they came", "[locks]") {
   LockManager locks;
   LockOwner holder(1);
   locks.acquire(holder, table, LockMode::AccessExclusive, never);
   std::vector<int> order;
   std::vector<std::thread> threads;
   for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
         LockOwner owner(100 + i);
         locks.acquire(owner, table, LockMode::AccessExclusive, forever);
         order.push_back(i); // the lock guards it
         locks.releaseAll(owner);
      });
      awaitWaiting(locks, 100 + i);
   }
   // A reader does not overtake a waiting exclusive request.
   LockOwner late(2);
   CATCH_CHECK(!locks.acquire(late, table, LockMode::AccessShare, never));
   CATCH_CHECK(locks.blockersOf(107).size() == 8);
   locks.releaseAll(holder);
   for (auto& thread : threads)
      thread.join();
   CATCH_CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
   CATCH_CHECK(locks.list().empty());
}

CATCH_TEST_CASE("a cycle of waits is found", "[locks]") {
   LockManager locks;
   LockOwner a(1, 5), b(2, 5); // in database 5
   locks.acquire(a, table, LockMode::RowExclusive, never);
   locks.acquire(b, other, LockMode::RowExclusive, never);
   std::thread thread([&] {
      locks.acquire(b, table, LockMode::Share, {.deadlockMillis = 60'000});
      locks.releaseAll(b);
   });
   awaitWaiting(locks, 2);
   try {
      locks.acquire(a, other, LockMode::Share, forever);
      CATCH_FAIL("no deadlock");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::tRDeadlockDetected);
      CATCH_CHECK(error.detailText() ==
                  "Process 1 waits for ShareLock on relation 16385 of database 5; blocked by process 2.\n"
                  "Process 2 waits for ShareLock on relation 16384 of database 5; blocked by process 1.");
   }
   locks.releaseAll(a);
   thread.join();
   CATCH_CHECK(locks.list().empty());
}

CATCH_TEST_CASE("one waiter of a cycle gives up, also if all search at once", "[locks]") {
   // The report for the log takes time, in which the one that gives up is still in the queue.
   LockManager locks([](int32_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return std::string("LOCK");
   });
   constexpr int rounds = 20;
   std::atomic<int> deadlocks{0};
   std::barrier begins(2), bothHold(2), ends(2);
   const auto run = [&](int32_t processId, const LockTag& first, const LockTag& second) {
      LockOwner owner(processId);
      for (int i = 0; i < rounds; ++i) {
         begins.arrive_and_wait();
         locks.acquire(owner, first, LockMode::Exclusive, never);
         bothHold.arrive_and_wait();
         try {
            locks.acquire(owner, second, LockMode::Exclusive, {.deadlockMillis = 2});
         } catch (const SqlError&) {
            deadlocks.fetch_add(1);
         }
         locks.releaseAll(owner);
         ends.arrive_and_wait();
      }
   };
   std::thread thread([&] { run(1, table, other); });
   run(2, other, table);
   thread.join();
   CATCH_CHECK(deadlocks.load() == rounds);
   CATCH_CHECK(locks.list().empty());
}

CATCH_TEST_CASE("a cycle over mere queueing is no deadlock", "[locks]") {
   // b waits behind c's queued request for the table, and c waits for b by way of a. That is no deadlock: b may go
   // first.
   LockManager locks;
   LockOwner a(1), b(2), c(3);
   locks.acquire(a, table, LockMode::AccessShare, never);
   locks.acquire(b, other, LockMode::AccessExclusive, never);
   std::thread waiter([&] {
      locks.acquire(c, table, LockMode::AccessExclusive, forever); // waits for a
      locks.releaseAll(c);
   });
   awaitWaiting(locks, 3);
   std::thread second([&] {
      locks.acquire(a, other, LockMode::AccessShare, {.deadlockMillis = 60'000}); // waits for b
      locks.releaseAll(a);
   });
   awaitWaiting(locks, 1);
   locks.acquire(b, table, LockMode::AccessShare, forever); // behind c, which waits for a, which waits for b
   locks.releaseAll(b);
   second.join();
   waiter.join();
   CATCH_CHECK(locks.list().empty());
}

CATCH_TEST_CASE("waiting ends by time and by interruption", "[locks]") {
   LockManager locks;
   LockOwner a(1), b(2);
   locks.acquire(a, table, LockMode::AccessExclusive, never);
   try {
      locks.acquire(b, table, LockMode::AccessShare, {.millisMax = 20});
      CATCH_FAIL("it cannot be had");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::lockNotAvailable);
   }
   std::atomic<bool> stop{false};
   const std::function<void()> interrupted = [&] {
      if (stop.load()) throw SqlError(sqlstate::queryCanceled, "stop");
   };
   std::thread thread([&] {
      awaitWaiting(locks, 2);
      stop.store(true);
      b.interrupt();
   });
   const auto start = std::chrono::steady_clock::now();
   CATCH_CHECK_THROWS_AS(
       locks.acquire(b, table, LockMode::AccessShare, {.deadlockMillis = 60'000, .interrupted = &interrupted}),
       SqlError);
   CATCH_CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
   thread.join();
   locks.releaseAll(a);
   CATCH_CHECK(locks.list().empty());
}

CATCH_TEST_CASE("locks are given back to a position, session locks stay", "[locks]") {
   LockManager locks;
   LockOwner a(1), b(2);
   const LockTag advisory{LockKind::Advisory, 1, 42};
   locks.acquire(a, table, LockMode::RowExclusive, never);
   const size_t position = a.position();
   locks.acquire(a, other, LockMode::AccessExclusive, never);
   locks.acquire(a, table, LockMode::AccessExclusive, never);
   locks.acquireSession(a, advisory, LockMode::Exclusive, never);
   locks.acquireSession(a, advisory, LockMode::Exclusive, never);
   locks.acquire(a, advisory, LockMode::Exclusive, never);
   locks.releaseTo(a, position);
   CATCH_CHECK(locks.acquire(b, other, LockMode::AccessExclusive, never));
   CATCH_CHECK(locks.acquire(b, table, LockMode::RowExclusive, never));
   CATCH_CHECK(!locks.acquire(b, table, LockMode::Share, never));
   locks.releaseAll(a);
   locks.releaseAll(b);
   CATCH_CHECK(!locks.acquire(b, advisory, LockMode::Share, never));
   CATCH_CHECK(locks.releaseSession(a, advisory, LockMode::Exclusive));
   CATCH_CHECK(!locks.acquire(b, advisory, LockMode::Share, never));
   CATCH_CHECK(locks.releaseSession(a, advisory, LockMode::Exclusive));
   CATCH_CHECK(!locks.releaseSession(a, advisory, LockMode::Exclusive));
   CATCH_CHECK(locks.acquire(b, advisory, LockMode::Share, never));
   locks.releaseAll(b);
   CATCH_CHECK(locks.list().empty());
}

CATCH_TEST_CASE("many threads exclude each other and nobody is forgotten", "[locks]") {
   LockManager locks;
   constexpr int threadCount = 8, rounds = 2000, things = 5;
   int64_t counters[things] = {};
   std::atomic<int64_t> done{0}, others{0};
   std::vector<std::thread> threads;
   for (int t = 0; t < threadCount; ++t)
      threads.emplace_back([&, t] {
         LockOwner owner(t + 1);
         std::mt19937 rng(static_cast<unsigned>(t));
         for (int i = 0; i < rounds; ++i) {
            try {
               const uint64_t first = rng() % things, second = rng() % things;
               const LockTag one = LockTag::key(static_cast<Oid>(1), first),
                             two = LockTag::key(static_cast<Oid>(1), second);
               locks.acquire(owner, one, LockMode::Exclusive, {.deadlockMillis = 1});
               ++counters[first];
               done.fetch_add(1);
               locks.acquire(owner, two, LockMode::Exclusive, {.deadlockMillis = 1});
               ++counters[second];
               done.fetch_add(1);
            } catch (const SqlError& error) {
               if (error.state() != sqlstate::tRDeadlockDetected) others.fetch_add(1);
            }
            locks.releaseAll(owner);
         }
      });
   for (auto& thread : threads)
      thread.join();
   int64_t sum = 0;
   for (const int64_t counter : counters)
      sum += counter;
   CATCH_CHECK(sum == done.load());
   CATCH_CHECK(others.load() == 0);
   CATCH_CHECK(locks.list().empty());
}

CATCH_TEST_CASE("the cost of locks", "[.][locks-cost]") {
   LockManager locks;
   LockOwner owner(1);
   for (const uint64_t count : {1, 5, 10'000}) {
      const uint64_t rounds = 2'000'000 / count;
      const auto start = std::chrono::steady_clock::now();
      for (uint64_t r = 0; r < rounds; ++r) {
         for (uint64_t i = 0; i < count; ++i)
            locks.acquire(owner, LockTag::key(static_cast<Oid>(1), i * 0x9e3779b97f4a7c15), LockMode::Exclusive, never);
         locks.releaseAll(owner);
      }
      const std::chrono::duration<double, std::nano> nanos = std::chrono::steady_clock::now() - start;
      std::printf("%6lu keys at a time: %.0f ns each\n", static_cast<unsigned long>(count),
                  nanos.count() / static_cast<double>(rounds * count));
   }
}
