#include "common/thread/interruption.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace ouzel;

CATCH_TEST_CASE("a wait goes on until the thread's innermost check throws") {
   std::mutex mutex;
   std::condition_variable changed;
   const auto never = [] { return false; };
   std::atomic<bool> isCancelled{false};
   const std::function<void()> check = [&] {
      if (isCancelled) throw std::runtime_error("cancelled");
   };
   const std::function<void()> other = [] { throw std::logic_error("the outer one"); };
   checkInterrupted(); // no Interruptible is set
   std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      isCancelled = true;
   });
   {
      const Interruptible outer(other);
      {
         const Interruptible inner(check);
         std::unique_lock lock(mutex);
         const auto start = std::chrono::steady_clock::now();
         CATCH_CHECK_THROWS_AS(waitInterruptibly(changed, lock, never), std::runtime_error);
         CATCH_CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
      }
      CATCH_CHECK_THROWS_AS(checkInterrupted(), std::logic_error);
   }
   checkInterrupted();
   canceller.join();
}

CATCH_TEST_CASE("a wait that is over asks nobody") {
   std::mutex mutex;
   std::condition_variable changed;
   bool isHere = false;
   const std::function<void()> check = [] {};
   const Interruptible interruptible(check);
   std::thread bringer([&] {
      const std::lock_guard lock(mutex);
      isHere = true;
      changed.notify_all();
   });
   std::unique_lock lock(mutex);
   waitInterruptibly(changed, lock, [&] { return isHere; });
   lock.unlock();
   bringer.join();
   CATCH_CHECK(isHere);
}
