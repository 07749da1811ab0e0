#include "io/spill/spill.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <random>
#include <thread>
#include <unistd.h>

#include "common/error/sql_error.hpp"
#include "io/spill/spill_state.hpp"
#include "tests/unit/io/spill_support.hpp"

using namespace ouzel;
using namespace ouzel::io;
using namespace ouzel::io::test;

namespace {

/// The descriptor of this process's single temporary file below `directory`.
int spillDescriptor(const std::string& directory) {
   for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
      if (target.starts_with(directory + "/")) return std::stoi(entry.path().filename().string());
   }
   return -1;
}

} // namespace

CATCH_TEST_CASE("areas that end between borders of the device, in places used again", "[spill]") {
   SpillDirectories directories;
   SpillManager manager(directories.options);
   SpillSpace space(manager, atLevel(0));
   std::mt19937 random(7);
   struct Kept {
      SpilledPage page;
      uint64_t number;
      size_t bytes;
   };
   std::vector<Kept> kept;
   for (uint64_t number = 0; number < 3000; ++number) {
      // Sizes near those of blocks and units.
      const size_t bytes = 1 + (random() % 2 == 0 ? random() % 70'000 : random() % 600'000);
      kept.push_back({writePage(space, pageOf(number, bytes)), number, bytes});
      while (kept.size() > 40) {
         const size_t at = random() % kept.size();
         SpillReader reader(space);
         reader.add(kept[at].page);
         CATCH_REQUIRE(readPage(reader) == pageOf(kept[at].number, kept[at].bytes));
         kept[at] = kept.back();
         kept.pop_back();
      }
   }
}

CATCH_TEST_CASE("a locator holds device, size and offset") {
   for (const uint32_t device : {0u, 1u, 63u})
      for (const uint64_t size : {uint64_t{512}, uint64_t{65535} * 512})
         for (const uint64_t offset : {uint64_t{0}, uint64_t{512}, ((uint64_t{1} << 42) - 1) * 512}) {
            const SpillLocator back = SpillLocator::unpack(SpillLocator{device, {offset, size}}.packed());
            CATCH_CHECK(back.device == device);
            CATCH_CHECK(back.extent.size == size);
            CATCH_CHECK(back.extent.offset == offset);
         }
}

CATCH_TEST_CASE("pages of every size come back, whatever the level") {
   SpillDirectories directories(2);
   directories.options.encrypts = GENERATE(false, true);
   const size_t sizes[] = {0,     1,      511,    512,    513,     65536 - 1,       65536,
                           65537, 262144, 262145, 300000, 1 << 20, (16 << 20) - 17, 16 << 20};
   std::vector<std::vector<std::byte>> contents;
   for (const size_t size : sizes)
      contents.push_back(pageOf(size, size));
   for (int level = SpillPolicy::regulated; level < static_cast<int>(spillLevels().size()); ++level) {
      SpillManager manager(directories.options);
      SpillSpace space(manager, atLevel(level));
      std::vector<SpilledPage> written;
      for (const auto& content : contents)
         written.push_back(writePage(space, content));
      CATCH_CHECK(written[0].storedBytes() == 0);
      CATCH_CHECK(written[1].storedBytes() == 512);
      if (level == 3) CATCH_CHECK(written.back().storedBytes() < (12 << 20));
      for (const size_t ahead : {size_t{0}, size_t{1} << 20, size_t{64} << 20}) {
         SpillReader reader(space, ahead);
         for (const SpilledPage& page : written)
            reader.add(page, false);
         for (const auto& content : contents) {
            CATCH_REQUIRE(reader.nextBytes() == content.size());
            CATCH_REQUIRE(isSame(readPage(reader), content));
         }
         CATCH_CHECK(reader.isEmpty());
      }
      const SpillStatistics statistics = space.statistics();
      CATCH_CHECK(statistics.pagesWritten == std::size(sizes) - 1);
      if (level == 0) CATCH_CHECK(statistics.bytesWritten >= statistics.rawBytesWritten);
      CATCH_CHECK(statistics.bytesRead == 3 * statistics.bytesWritten);
   }
}

CATCH_TEST_CASE("the parts of a page lie one behind the other") {
   SpillDirectories directories;
   SpillManager manager(directories.options);
   SpillSpace space(manager);
   const std::vector<std::byte> whole = pageOf(7, 700000);
   const std::span<const std::byte> all(whole);
   std::vector<std::span<const std::byte>> parts = {all.first(0), all.first(100000), {}, all.subspan(100000, 1)};
   parts.push_back(all.subspan(100001, 500000));
   parts.push_back(all.subspan(600001));
   parts.push_back({});
   const SpilledPage page = space.write(parts);
   SpillReader reader(space);
   reader.add(page);
   CATCH_CHECK(readPage(reader) == whole);
}

CATCH_TEST_CASE("what was freed is used again, and nothing has a name") {
   SpillDirectories directories;
   const int level = GENERATE(0, 3);
   SpillManager manager(directories.options);
   {
      SpillSpace space(manager, atLevel(level));
      // 8 MiB of pages exist at a time; 800 MiB are written in all.
      std::vector<std::pair<uint64_t, SpilledPage>> pages;
      for (uint64_t number = 0; number < 128; ++number)
         pages.emplace_back(number, writePage(space, pageOf(number % 8, 65536)));
      std::mt19937_64 random(1);
      for (int round = 0; round < 100; ++round) {
         SpillReader reader(space);
         std::shuffle(pages.begin(), pages.end(), random);
         for (size_t i = 0; i < 64; ++i)
            reader.add(pages[i].second);
         for (size_t i = 0; i < 64; ++i) {
            CATCH_REQUIRE(readPage(reader) == pageOf(pages[i].first % 8, 65536));
            pages[i].second = writePage(space, pageOf(pages[i].first % 8, 65536));
         }
         CATCH_REQUIRE(manager.devices()[0].bytesAllocated <= size_t{64} << 20);
      }
      for (const auto& [number, page] : pages)
         space.free(page);
      CATCH_CHECK(std::filesystem::is_empty(directories.options.targets[0]));
      // The lanes' open extents count as in use.
      CATCH_CHECK(manager.devices()[0].bytesInUse <= size_t{2} << 20);
   }
   CATCH_CHECK(manager.devices()[0].bytesAllocated == 0);
   CATCH_CHECK(manager.devices()[0].bytesInUse == 0);
}

CATCH_TEST_CASE("a query gets the space of one that has just ended") {
   SpillDirectories directories;
   directories.options.bytesMax = size_t{160} << 20;
   SpillManager manager(directories.options);
   const std::vector<std::byte> page = pageOf(1, size_t{16} << 20);
   for (int query = 0; query < 4; ++query) {
      SpillSpace space(manager, atLevel(0));
      for (int i = 0; i < 7; ++i) // more than the size up to which files are closed at once
         writePage(space, page);
      CATCH_CHECK(manager.devices()[0].bytesInUse >= size_t{112} << 20);
   }
   CATCH_CHECK(manager.devices()[0].bytesInUse == 0);
}

CATCH_TEST_CASE("threads write and read each other's pages, those still on their way too") {
   SpillDirectories directories(3);
   directories.options.encrypts = GENERATE(false, true);
   SpillManager manager(directories.options);
   constexpr int threadCount = 6, pageCount = 200;
   for (int spaceNumber = 0; spaceNumber < 2; ++spaceNumber) {
      std::vector<std::unique_ptr<SpillSpace>> spaces;
      for (int i = 0; i < 2; ++i)
         spaces.push_back(std::make_unique<SpillSpace>(manager));
      std::mutex mutex;
      std::vector<std::pair<uint64_t, SpilledPage>> written[2];
      std::atomic<int> wrong{0}, read{0};
      std::vector<std::thread> threads;
      for (int thread = 0; thread < threadCount; ++thread)
         threads.emplace_back([&, thread] {
            const int which = thread % 2;
            std::mt19937_64 random(static_cast<uint64_t>(thread));
            for (int i = 0; i < pageCount; ++i) {
               const uint64_t number = static_cast<uint64_t>(thread * 1000 + i);
               const SpilledPage page = writePage(*spaces[which], pageOf(number, number % 7 * 20000 + 1));
               std::vector<std::pair<uint64_t, SpilledPage>> mine;
               {
                  const std::lock_guard guard(mutex);
                  written[which].emplace_back(number, page);
                  for (uint64_t n = random() % 3; n > 0 && !written[which].empty(); --n) {
                     std::swap(written[which][random() % written[which].size()], written[which].back());
                     mine.push_back(written[which].back());
                     written[which].pop_back();
                  }
               }
               SpillReader reader(*spaces[which], random() % 200000);
               for (const auto& entry : mine)
                  reader.add(entry.second);
               for (const auto& entry : mine) {
                  wrong += readPage(reader) != pageOf(entry.first, entry.first % 7 * 20000 + 1);
                  ++read;
               }
            }
         });
      for (std::thread& thread : threads)
         thread.join();
      CATCH_CHECK(wrong == 0);
      CATCH_CHECK(read > threadCount * pageCount / 2);
   }
}

CATCH_TEST_CASE("encrypted pages cannot be read on the device") {
   for (const bool encrypts : {false, true}) {
      SpillDirectories directories;
      directories.options.encrypts = encrypts;
      SpillManager manager(directories.options);
      SpillSpace space(manager, atLevel(0));
      const std::vector<std::byte> content(100'000, std::byte{'x'});
      const SpilledPage page = writePage(space, content);
      SpillReader reader(space);
      reader.add(page, false);
      CATCH_CHECK(readPage(reader) == content);
      const int descriptor = spillDescriptor(directories.options.targets[0]);
      ::fcntl(descriptor, F_SETFL, 0);
      std::string stored(100'000, '\0');
      CATCH_REQUIRE(::pread(descriptor, stored.data(), stored.size(), 0) == static_cast<ssize_t>(stored.size()));
      CATCH_CHECK((stored.find("xxxxxxxx") == std::string::npos) == encrypts);
   }
}

CATCH_TEST_CASE("a page that is not what was written is an error") {
   SpillDirectories directories;
   directories.options.encrypts = GENERATE(false, true);
   SpillManager manager(directories.options);
   SpillSpace space(manager, atLevel(GENERATE(0, 3, 6)));
   const auto content = pageOf(1, 100000);
   const SpilledPage page = writePage(space, content);
   {
      SpillReader reader(space);
      reader.add(page, false);
      CATCH_REQUIRE(readPage(reader) == content); // the page is on the device now
   }
   const int descriptor = spillDescriptor(directories.options.targets[0]);
   CATCH_REQUIRE(descriptor >= 0);
   ::fcntl(descriptor, F_SETFL, 0); // clears O_DIRECT, so that any byte can be written
   for (const off_t offset : {0, 5, 9, 13, 20, 27, 31, 32, 40, 55, 56, 20000}) {
      char right = 0;
      CATCH_REQUIRE(::pread(descriptor, &right, 1, offset) == 1);
      const char wrong = static_cast<char>(right ^ 4);
      CATCH_REQUIRE(::pwrite(descriptor, &wrong, 1, offset) == 1);
      SpillReader reader(space);
      reader.add(page, false);
      std::vector<std::byte> back(content.size());
      try {
         reader.next(back.data());
         CATCH_FAIL("offset " << offset);
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::dataCorrupted);
      }
      CATCH_REQUIRE(::pwrite(descriptor, &right, 1, offset) == 1);
   }
}

CATCH_TEST_CASE("a full device is an error of the query that fills it; the next one has the space again") {
   SpillDirectories directories(2);
   directories.options.bytesMax = size_t{20} << 20;
   SpillManager manager(directories.options);
   const auto content = pageOf(1, 65536);
   for (int round = 0; round < 3; ++round) {
      SpillSpace space(manager, atLevel(0));
      std::vector<SpilledPage> pages;
      try {
         for (int i = 0; i < 10000; ++i)
            pages.push_back(writePage(space, content));
         CATCH_FAIL("it cannot have that much");
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::diskFull);
      }
      // Both devices were filled, and all written pages can be read.
      CATCH_CHECK(pages.size() > 40 * 16 * 9 / 10);
      SpillReader reader(space);
      for (const SpilledPage& page : pages)
         reader.add(page);
      for (size_t i = 0; i < pages.size(); ++i)
         CATCH_REQUIRE(readPage(reader) == content);
      CATCH_CHECK(writePage(space, content).storedBytes() > 0);
   }
}

CATCH_TEST_CASE("rates make devices slow") {
   SpillDirectories directories;
   directories.options.writeRateMax = 50 << 20;
   directories.options.readRateMax = 100 << 20;
   SpillManager manager(directories.options);
   SpillSpace space(manager, atLevel(0));
   const auto content = pageOf(1, 65536);
   const auto begin = std::chrono::steady_clock::now();
   std::vector<SpilledPage> pages;
   for (int i = 0; i < 160; ++i) // 10 MiB
      pages.push_back(writePage(space, content));
   const auto middle = std::chrono::steady_clock::now();
   SpillReader reader(space);
   for (const SpilledPage& page : pages)
      reader.add(page);
   while (!reader.isEmpty())
      readPage(reader);
   const auto end = std::chrono::steady_clock::now();
   // Writing takes 200 ms, minus the time of 2 MiB that are still in flight when reading begins. Reading takes 100 ms.
   CATCH_CHECK(std::chrono::duration<double>(middle - begin).count() > 0.15);
   CATCH_CHECK(std::chrono::duration<double>(end - middle).count() > 0.1);
   CATCH_CHECK(std::chrono::duration<double>(end - begin).count() > 0.25);
   manager.setRates(0, 0);
}

CATCH_TEST_CASE("a space goes while its pages are on their way, and lanes serve the next one") {
   SpillDirectories directories(2);
   SpillManager manager(directories.options);
   for (int round = 0; round < 50; ++round) {
      SpillSpace space(manager), other(manager);
      const SpilledPage kept = writePage(other, pageOf(2, 5000));
      SpillReader reader(space);
      for (int i = 0; i < round; ++i)
         reader.add(writePage(space, pageOf(1, 65536)), i % 2 == 0); // never fetched
      SpillReader otherReader(other);
      otherReader.add(kept);
      CATCH_REQUIRE(readPage(otherReader) == pageOf(2, 5000));
   }
}

CATCH_TEST_CASE("equal devices get the same bytes within 5 %", "[spill]") {
   SpillDirectories directories(2);
   SpillManager manager(directories.options);
   // Both are held far below what any disk does: two directories of one disk measure alike only if the rate decides.
   manager.setRates(50 << 20, 50 << 20, 0);
   manager.setRates(50 << 20, 50 << 20, 1);
   SpillSpace space(manager, atLevel(0));
   const auto content = pageOf(1, 65536);
   for (int i = 0; i < 1600; ++i) // 100 MiB
      writePage(space, content);
   const auto devices = manager.devices();
   const auto a = static_cast<double>(devices[0].bytesWritten), b = static_cast<double>(devices[1].bytesWritten);
   CATCH_INFO("measured " << devices[0].writeBandwidth / 1e6 << " and " << devices[1].writeBandwidth / 1e6);
   CATCH_CHECK(a / b > 0.95);
   CATCH_CHECK(a / b < 1.05);
   CATCH_CHECK(devices[0].writeRequests > 0);
}

CATCH_TEST_CASE("devices get bytes in proportion to what they were measured to do", "[spill]") {
   SpillDirectories directories(2);
   SpillManager manager(directories.options);
   manager.setRates(30 << 20, 30 << 20, 0);
   manager.setRates(90 << 20, 90 << 20, 1);
   SpillSpace space(manager, atLevel(0));
   const auto content = pageOf(1, 65536);
   std::vector<SpilledPage> pages;
   const auto write = [&](int count) {
      for (int i = 0; i < count; ++i)
         pages.push_back(writePage(space, content));
   };
   write(640); // 40 MiB, from which the devices are measured
   const auto before = manager.devices();
   write(1280);
   const auto after = manager.devices();
   const auto slow = static_cast<double>(after[0].bytesWritten - before[0].bytesWritten);
   const auto fast = static_cast<double>(after[1].bytesWritten - before[1].bytesWritten);
   CATCH_INFO("measured " << after[0].writeBandwidth / 1048576 << " and " << after[1].writeBandwidth / 1048576
                          << " MB/s; " << slow / 1048576 << " and " << fast / 1048576 << " MiB");
   CATCH_CHECK(fast / slow > 2.4);
   CATCH_CHECK(fast / slow < 3.6);
   SpillReader reader(space);
   for (const SpilledPage& page : pages)
      reader.add(page);
   for (size_t i = 0; i < pages.size(); ++i)
      CATCH_REQUIRE(isSame(readPage(reader), content));
}

CATCH_TEST_CASE("when a device fails the others take over, and it is tried again later", "[spill]") {
   SpillDirectories directories(2);
   SpillManager manager(directories.options);
   const std::string& broken = directories.options.targets[0];
   std::filesystem::remove(broken);
   const auto content = pageOf(1, 65536);
   const auto use = [&] {
      SpillSpace space(manager, atLevel(0));
      SpillReader reader(space);
      for (int i = 0; i < 200; ++i)
         reader.add(writePage(space, content));
      while (!reader.isEmpty())
         CATCH_REQUIRE(isSame(readPage(reader), content));
   };
   use();
   auto devices = manager.devices();
   CATCH_CHECK(devices[0].bytesWritten == 0);
   CATCH_CHECK(devices[0].failures == 1); // and is not asked for each extent
   CATCH_CHECK(devices[1].bytesWritten >= 200 * 65536);
   std::filesystem::create_directory(broken);
   std::this_thread::sleep_for(std::chrono::milliseconds(1100));
   use();
   CATCH_CHECK(manager.devices()[0].bytesWritten > 0);
   std::filesystem::remove(broken);
   std::filesystem::remove(directories.options.targets[1]);
   try {
      use();
      CATCH_FAIL("there is no device");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::ioError);
   }
}

CATCH_TEST_CASE("a sealed unit cannot stand for another one", "[spill]") {
   SpillSeal seal;
   UnitEncoder encoder(&seal);
   UnitDecoder decoder(&seal);
   const std::vector<std::byte> page = pageOf(1, 5000);
   std::vector<std::byte> stored(unitBound(page.size(), 512)), back(page.size());
   uint32_t level = 3;
   stored.resize(encoder.encode(page, {7, 1024}, 512, level, stored.data()));
   CATCH_CHECK(decoder.decodePage(stored, {7, 1024}, 512, back));
   CATCH_CHECK(isSame(back, page));
   CATCH_CHECK_FALSE(decoder.decodePage(stored, {8, 1024}, 512, back)); // the same place of another query's file
   CATCH_CHECK_FALSE(decoder.decodePage(stored, {7, 2048}, 512, back));
   SpillDirectories directories;
   SpillManager::State manager(directories.options);
   CATCH_CHECK(manager.devices[0]->makeFile()->number() != manager.devices[0]->makeFile()->number());
}
