#include "io/spill/spill_tally.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/unit/io/spill_support.hpp"

using namespace ouzel::io;
using namespace ouzel::io::test;

// Who is charged for requests and waits.

namespace {

constexpr uint32_t pageCount = 160; // 10 MiB

std::vector<SpilledPage> writePages(SpillSpace& space, SpillTally* tally) {
   const SpillTallyScope scope(tally);
   const auto content = pageOf(1, 65536);
   std::vector<SpilledPage> pages;
   for (uint32_t i = 0; i < pageCount; ++i)
      pages.push_back(writePage(space, content));
   return pages;
}

void readPages(SpillSpace& space, const std::vector<SpilledPage>& pages, SpillTally* tally) {
   const SpillTallyScope scope(tally);
   SpillReader reader(space);
   for (const SpilledPage& page : pages)
      reader.add(page);
   while (!reader.isEmpty())
      readPage(reader);
}

} // namespace

CATCH_TEST_CASE("requests and waits count for the scope of the thread, and for the device", "[spill]") {
   SpillDirectories directories;
   SpillManager manager(directories.options);
   manager.setRates(50 << 20, 20 << 20);
   SpillSpace space(manager, atLevel(0));
   SpillTally writer, reader, outer;
   const SpillTallyScope scope(&outer);
   const std::vector<SpilledPage> pages = writePages(space, &writer);
   readPages(space, pages, &reader);
   const SpillManager::Device device = manager.devices()[0];
   // 10 MiB at 50 MiB/s take 200 ms, of which 2 MiB are still in flight at the end; at 20 MiB/s 500 ms. The threads'
   // own work, which a busy machine and sanitizers make slow, is no wait.
   CATCH_CHECK(writer.writeWaitNanos > 100'000'000);
   CATCH_CHECK(reader.readWaitNanos > 50'000'000);
   CATCH_CHECK(reader.writeWaitNanos > 0); // the last pages were still being written
   CATCH_CHECK(writer.readWaitNanos == 0);
   // The reader submits the open area.
   CATCH_CHECK(writer.writeRequests >= pageCount / 4);
   CATCH_CHECK(reader.writeRequests <= 1);
   CATCH_CHECK(writer.readRequests == 0);
   CATCH_CHECK(reader.readRequests == pageCount);
   CATCH_CHECK(outer.writeRequests + outer.readRequests + outer.writeWaitNanos + outer.readWaitNanos == 0);
   CATCH_CHECK(device.writeRequests == writer.writeRequests + reader.writeRequests);
   CATCH_CHECK(device.readRequests == reader.readRequests);
   CATCH_CHECK(device.writeWaitNanos == writer.writeWaitNanos + reader.writeWaitNanos);
   CATCH_CHECK(device.readWaitNanos == reader.readWaitNanos);
   CATCH_CHECK(SpillTallyScope::current() == &outer);
   // A scope of nobody hides the outer one.
   readPages(space, writePages(space, nullptr), nullptr);
   CATCH_CHECK(outer.writeRequests + outer.readRequests == 0);
   CATCH_CHECK(manager.devices()[0].readRequests == 2 * pageCount);
   manager.setRates(0, 0);
}

CATCH_TEST_CASE("the reads that measure a device are nobody's", "[spill]") {
   SpillDirectories directories;
   SpillManager manager(directories.options);
   SpillSpace space(manager);
   SpillTally tally;
   for (int i = 0; i < 8; ++i)
      writePages(space, &tally);
   CATCH_CHECK(manager.devices()[0].readRequests > 0);
   CATCH_CHECK(tally.readRequests == 0);
   CATCH_CHECK(tally.writeRequests > 0);
}

CATCH_TEST_CASE("threads count for one tally", "[spill]") {
   SpillDirectories directories(2);
   SpillManager manager(directories.options);
   SpillSpace space(manager, atLevel(0));
   SpillTally tally;
   std::vector<std::thread> threads;
   for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] { readPages(space, writePages(space, &tally), &tally); });
   for (std::thread& thread : threads)
      thread.join();
   uint64_t writes = 0, writeWait = 0, readWait = 0;
   for (const SpillManager::Device& device : manager.devices()) {
      writes += device.writeRequests;
      writeWait += device.writeWaitNanos;
      readWait += device.readWaitNanos;
   }
   CATCH_CHECK(tally.readRequests == 3 * pageCount);
   CATCH_CHECK(tally.writeRequests == writes);
   CATCH_CHECK(tally.writeWaitNanos == writeWait);
   CATCH_CHECK(tally.readWaitNanos == readWait);
}
