#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "common/error/sql_error.hpp"
#include "io/s3/s3_store.hpp"
#include "io/s3/thread_spread.hpp"
#include "tests/unit/io/pattern.hpp"
#include "tests/unit/io/s3/client.hpp"
#include "tests/unit/io/s3/object_server.hpp"

// A retriever with several threads: which thread is chosen, and that results are the same as with one.

using namespace ouzel;
using namespace ouzel::io;

namespace {

RetrieverOptions several(uint32_t threads) {
   RetrieverOptions options = eager();
   options.threads = threads;
   return options;
}

} // namespace

CATCH_TEST_CASE("one thread is used until it is saturated, and again when it would do") {
   ThreadSpread spread(1, 3);
   CATCH_CHECK(spread.choose(10) == 0);
   CATCH_CHECK(spread.choose(10) == 0);
   spread.setBusy(0, 0.8);
   CATCH_CHECK(spread.choose(10) == 0);
   spread.setBusy(0, 0.95);
   CATCH_CHECK(spread.choose(10) == 1);
   CATCH_CHECK(spread.used() == 2);
   // A third thread is used only when the second is saturated, too.
   CATCH_CHECK(spread.choose(10) == 1);
   spread.setBusy(1, 0.5);
   CATCH_CHECK(spread.choose(20) == 1);
   CATCH_CHECK(spread.choose(1) == 0);
   CATCH_CHECK(spread.used() == 2);
   spread.setBusy(1, 0.95);
   CATCH_CHECK(spread.choose(5) == 2);
   CATCH_CHECK(spread.used() == 3);
   spread.setBusy(2, 0.95);
   spread.choose(1);
   CATCH_CHECK(spread.used() == 3);
   // Two threads would have a load of 0.95 each, so three are kept.
   spread.setBusy(2, 0);
   spread.choose(1);
   CATCH_CHECK(spread.used() == 3);
   spread.setBusy(0, 0.5);
   spread.setBusy(1, 0.5);
   spread.choose(1);
   CATCH_CHECK(spread.used() == 2);
   spread.choose(1);
   CATCH_CHECK(spread.used() == 2);
   spread.setBusy(0, 0);
   spread.setBusy(1, 0);
   for (int i = 0; i < 5; ++i)
      CATCH_CHECK(spread.choose(1000) == 0);
   CATCH_CHECK(spread.used() == 1);
}

CATCH_TEST_CASE("requests go to the thread with the fewest bytes before it") {
   ThreadSpread spread(3, 0);
   CATCH_CHECK(spread.choose(100) == 0);
   CATCH_CHECK(spread.choose(30) == 1);
   CATCH_CHECK(spread.choose(50) == 2);
   CATCH_CHECK(spread.choose(30) == 1);
   spread.ended(0, 100);
   CATCH_CHECK(spread.choose(10) == 0);
   CATCH_CHECK(spread.choose(45) == 0);
   CATCH_CHECK(spread.choose(10) == 2);
}

CATCH_TEST_CASE("what several threads retrieve is what was stored, with faults and cancelled reads") {
   const ObjectServer server({"--credentials", "key:secret"});
   S3Store store(S3Location::parse(server.url("p")), anybody, several(3));
   const std::string bytes = pattern(3 << 20, 7);
   CATCH_CHECK(store.put("large", bytes));
   for (int i = 0; i < 20; ++i)
      CATCH_CHECK(store.put("small/" + std::to_string(i), std::to_string(i)));
   CATCH_CHECK(store.statistics()->threads == 3);
   server.set("error=0.05&reset_body=0.02&latency_ms=2");
   const auto reader = store.open("large");
   std::atomic<int> wrong{0};
   std::vector<std::thread> callers;
   for (int caller = 0; caller < 6; ++caller)
      callers.emplace_back([&, caller] {
         for (int i = 0; i < 30; ++i) {
            const size_t size = 200'000 + 1000 * static_cast<size_t>(i), offset = 50'000 * static_cast<size_t>(caller);
            std::string target(size, '\0');
            if (i % 3 == 0) {
               const auto read = reader->readAsync(offset, size, target.data(), [](std::exception_ptr) {});
               if (i % 2 == 0) std::this_thread::yield();
               read->cancel();
               continue;
            }
            reader->read(offset, size, target.data());
            if (std::string_view(target) != std::string_view(bytes).substr(offset, size)) ++wrong;
            if (store.get("small/" + std::to_string(i % 20)) != std::to_string(i % 20)) ++wrong;
         }
      });
   for (std::thread& caller : callers)
      caller.join();
   CATCH_CHECK(wrong == 0);
   server.set("error=0&reset_body=0&latency_ms=0");
   // A cancelled request leaves its queue when its thread comes to it.
   RetrieverStatistics statistics = *store.statistics();
   for (int i = 0; i < 2000 && statistics.active + statistics.queued > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      statistics = *store.statistics();
   }
   CATCH_CHECK(statistics.of(RequestKind::Put).requests >= 21);
   CATCH_CHECK(statistics.active == 0);
   CATCH_CHECK(statistics.queued == 0);
}

CATCH_TEST_CASE("each request is answered once when a retriever of several threads ends") {
   const ObjectServer server({"--credentials", "key:secret"});
   S3Store(S3Location::parse(server.url()), anybody).put("x", std::string(100'000, 'x'));
   server.set("latency_ms=20");
   for (int round = 0; round < 10; ++round) {
      std::mutex mutex;
      int submitted = 0, answered = 0, canceled = 0;
      Retriever* asked = nullptr;
      // Every answer submits another request, also the answers that report the end.
      std::function<void(int)> ask = [&](int more) {
         {
            const std::lock_guard lock(mutex);
            ++submitted;
         }
         S3Request request;
         request.object = "x";
         request.bodySizeMax = 100'000;
         asked->submit(std::move(request), [&, more](S3Answer&& answer) {
            {
               const std::lock_guard lock(mutex);
               ++answered;
               if (answer.error) ++canceled;
            }
            if (more > 0) ask(more - 1);
         });
      };
      {
         Retriever retriever(S3Location::parse(server.url()), anybody, several(4));
         asked = &retriever;
         for (int i = 0; i < 16; ++i)
            ask(4);
         std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
      }
      CATCH_CHECK(submitted == 16 * 5);
      CATCH_CHECK(answered == submitted);
      CATCH_CHECK(canceled > 0);
   }
}
