#include "io/spill/memory_device.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "common/error/sql_error.hpp"
#include "tests/unit/io/redis_server.hpp"
#include "tests/unit/io/spill_support.hpp"

// Spilling to a real redis-server.

using namespace ouzel;
using namespace ouzel::io;
using namespace ouzel::io::test;

namespace {

SpillOptions spillTo(std::vector<std::string> targets) {
   SpillOptions options;
   options.targets = std::move(targets);
   return options;
}

/// Writes pages, some of them freed on the way, and reads the others back. Returns how many are not what was written:
/// Catch's macros are for one thread only.
int wrongPages(SpillManager& manager, int level, int pageCount, uint64_t seed) {
   SpillSpace space(manager, atLevel(level));
   std::mt19937_64 random(seed);
   SpillReader reader(space);
   std::vector<std::pair<uint64_t, size_t>> kept;
   int wrong = 0;
   for (int i = 0; i < pageCount; ++i) {
      const uint64_t number = random();
      const size_t bytes = 1 + random() % (i % 50 == 0 ? 2'000'000 : 100'000);
      const SpilledPage page = writePage(space, pageOf(number, bytes));
      if (i % 7 == 3) {
         space.free(page);
         continue;
      }
      reader.add(page, i % 3 != 0);
      kept.emplace_back(number, bytes);
      if (kept.size() < 30) continue;
      wrong += !isSame(readPage(reader), pageOf(kept.front().first, kept.front().second));
      kept.erase(kept.begin());
   }
   for (const auto& [number, bytes] : kept)
      wrong += !isSame(readPage(reader), pageOf(number, bytes));
   return wrong;
}

void writeAndRead(SpillManager& manager, int level, int pageCount, uint64_t seed) {
   const int wrong = wrongPages(manager, level, pageCount, seed); // may throw, which is not for the macro
   CATCH_REQUIRE(wrong == 0);
}

template <typename Use>
SqlState stateOf(Use&& use) {
   try {
      use();
   } catch (const SqlError& error) {
      return error.state();
   }
   return sqlstate::successfulCompletion;
}

bool soon(const std::function<bool()>& isTrue) {
   for (int i = 0; i < 500; ++i) {
      if (isTrue()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
   }
   return false;
}

} // namespace

CATCH_TEST_CASE("pages in a memory server come back, and leave nothing behind", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillOptions options = spillTo({redis.url()});
   options.encrypts = GENERATE(false, true);
   SpillManager manager(options);
   for (const int level : {0, 3, SpillPolicy::regulated})
      writeAndRead(manager, level, 500, static_cast<uint64_t>(level + 5));
   CATCH_CHECK(redis.isEmptySoon());
   CATCH_CHECK(soon([&] { return manager.devices()[0].bytesAllocated == 0; }));
   const auto device = manager.devices()[0];
   CATCH_CHECK(device.bytesInUse == 0);
   CATCH_CHECK(device.failures == 0);
   CATCH_CHECK(device.writeRequests > 100);
   CATCH_CHECK(device.readRequests > 500);
   CATCH_CHECK(device.roundNanos > 0);
}

CATCH_TEST_CASE("threads write to and read from a memory server and a directory", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillDirectories directories;
   SpillManager manager(spillTo({redis.url(), directories.options.targets[0]}));
   std::atomic<int> wrong{0};
   std::vector<std::thread> threads;
   for (uint64_t i = 0; i < 4; ++i)
      threads.emplace_back([&, i] { wrong += wrongPages(manager, 0, 300, i); });
   for (std::thread& thread : threads)
      thread.join();
   CATCH_CHECK(wrong == 0);
   for (const auto& device : manager.devices())
      CATCH_CHECK(device.bytesWritten > 0);
   CATCH_CHECK(redis.isEmptySoon());
}

CATCH_TEST_CASE("freed pages are removed while their query goes on", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillManager manager(spillTo({redis.url("?size=40MB")}));
   SpillSpace space(manager, atLevel(0));
   for (int round = 0; round < 20; ++round) { // 400 MB in all
      SpillReader reader(space);
      for (int i = 0; i < 320; ++i)
         reader.add(writePage(space, pageOf(1, 65536)));
      while (!reader.isEmpty())
         readPage(reader);
   }
   CATCH_CHECK(manager.devices()[0].bytesAllocated <= uint64_t{40} << 20);
   CATCH_CHECK(std::stoll(redis.ask("CONFIG GET maxmemory | tail -1")) == 0);
   CATCH_CHECK(redis.keys() <= 40 * 4 + 8);
}

CATCH_TEST_CASE("a full memory server: the directory takes the rest, or the query fails", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillDirectories directories;
   const bool hasDirectory = GENERATE(false, true);
   SpillOptions options = spillTo({redis.url("?size=10MB")});
   if (hasDirectory) options.targets.push_back(directories.options.targets[0]);
   SpillManager manager(options);
   for (int round = 0; round < 2; ++round) {
      const SqlState state = stateOf([&] {
         SpillSpace space(manager, atLevel(0));
         SpillReader reader(space);
         for (int i = 0; i < 1000; ++i)
            reader.add(writePage(space, pageOf(7, 65536)));
         while (!reader.isEmpty())
            CATCH_REQUIRE(isSame(readPage(reader), pageOf(7, 65536)));
      });
      CATCH_CHECK(state == (hasDirectory ? sqlstate::successfulCompletion : sqlstate::diskFull));
      CATCH_CHECK(redis.isEmptySoon());
   }
   CATCH_CHECK(manager.devices()[0].bytesWritten >= (uint64_t{8} << 20));
}

CATCH_TEST_CASE("a server over its maxmemory fails the query with 53100", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis({"--maxmemory", "20mb"});
   SpillManager manager(spillTo({redis.url()}));
   const SqlState state = stateOf([&] {
      SpillSpace space(manager, atLevel(0));
      for (int i = 0; i < 1000; ++i)
         writePage(space, pageOf(7, 65536));
   });
   CATCH_CHECK(state == sqlstate::diskFull);
   CATCH_CHECK(redis.isEmptySoon());
   writeAndRead(manager, 0, 50, 1);
}

CATCH_TEST_CASE("a server that goes away fails its queries with 58030, not others, and is used again later",
                "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillDirectories directories;
   SpillManager manager(spillTo({redis.url(), directories.options.targets[0]}));
   {
      SpillSpace space(manager, atLevel(0));
      std::vector<SpilledPage> pages;
      for (int i = 0; i < 400; ++i)
         pages.push_back(writePage(space, pageOf(7, 65536)));
      CATCH_REQUIRE(redis.keys() > 0);
      redis.kill();
      CATCH_CHECK(stateOf([&] {
                     SpillReader reader(space);
                     for (const SpilledPage& page : pages)
                        reader.add(page);
                     while (!reader.isEmpty())
                        readPage(reader);
                  }) == sqlstate::ioError);
      // Another query of the same time is served by the directory.
      writeAndRead(manager, 0, 200, 1);
   }
   CATCH_CHECK(manager.devices()[0].failures > 0);
   const uint64_t before = manager.devices()[0].bytesWritten;
   redis.start();
   std::this_thread::sleep_for(std::chrono::milliseconds(2200));
   writeAndRead(manager, 0, 200, 2);
   CATCH_CHECK(manager.devices()[0].bytesWritten > before);
   CATCH_CHECK(redis.isEmptySoon());
   CATCH_CHECK(soon([&] { return manager.devices()[0].bytesAllocated == 0; }));
}

CATCH_TEST_CASE("a connection that is lost while pages are written fails the query only", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillManager manager(spillTo({redis.url()}));
   CATCH_CHECK(stateOf([&] {
                  std::atomic<bool> isOver{false};
                  const std::string kill =
                      "redis-cli -p " + std::to_string(redis.port()) + " CLIENT KILL TYPE normal SKIPME yes >/dev/null";
                  std::thread killer([&] {
                     while (!isOver)
                        if (std::system(kill.c_str()) != 0) std::this_thread::yield(); // the server may not be up yet
                  });
                  const std::unique_ptr<void, std::function<void(void*)>> end(&killer, [&](void*) {
                     isOver = true;
                     killer.join();
                  });
                  SpillSpace space(manager, atLevel(0));
                  for (int i = 0; i < 100'000; ++i)
                     space.free(writePage(space, pageOf(7, 65536)));
               }) == sqlstate::ioError);
   // It is the only device, so it is used at once.
   writeAndRead(manager, 0, 200, 2);
   // Idle connections that the server has closed are no error.
   redis.ask("CLIENT KILL TYPE normal SKIPME yes");
   writeAndRead(manager, 0, 200, 3);
   CATCH_CHECK(redis.isEmptySoon());
}

CATCH_TEST_CASE("keys expire if their process is gone, and not while it lives", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillManager manager(spillTo({redis.url("?ttl=1")}));
   SpillSpace space(manager, atLevel(0));
   const SpilledPage page = writePage(space, pageOf(7, 65536));
   SpillReader reader(space);
   reader.add(page, false);
   readPage(reader);
   CATCH_CHECK(std::stol(redis.ask("PTTL `redis-cli -p " + std::to_string(redis.port()) + " KEYS 'ouzel-spill:*'`")) >
               0);
   std::this_thread::sleep_for(std::chrono::milliseconds(2500));
   reader.add(page, false);
   CATCH_CHECK(isSame(readPage(reader), pageOf(7, 65536)));
   // As after a kill: a key that nobody renews.
   redis.ask("SET ouzel-spill:0:0 x PX 1000");
   CATCH_CHECK(redis.keys() == 2);
   std::this_thread::sleep_for(std::chrono::milliseconds(1500));
   CATCH_CHECK(redis.keys() == 1);
}

CATCH_TEST_CASE("pages that the server has dropped are an error, not wrong rows", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillManager manager(spillTo({redis.url()}));
   SpillSpace space(manager, atLevel(0));
   const SpilledPage page = writePage(space, pageOf(7, 65536));
   const auto read = [&] {
      SpillReader reader(space);
      reader.add(page, false);
      readPage(reader);
   };
   read();
   const std::string key = redis.ask("KEYS 'ouzel-spill:*'");
   redis.ask("SETRANGE " + key + " 20000 x");
   CATCH_CHECK(stateOf(read) == sqlstate::dataCorrupted);
   redis.ask("FLUSHALL");
   CATCH_CHECK(stateOf(read) == sqlstate::ioError);
}

CATCH_TEST_CASE("a password and a user are shown to the server and nowhere else", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis({"--requirepass", "right secret"});
   const std::string place = "127.0.0.1:" + std::to_string(redis.port());
   SpillManager good(spillTo({"memory://:right%20secret@" + place}));
   writeAndRead(good, 0, 50, 1);
   SpillManager named(spillTo({"memory://default:right%20secret@" + place}));
   writeAndRead(named, 0, 50, 1);
   CATCH_CHECK(good.devices()[0].name == "memory://" + place);
   for (const char* secret : {"", ":wrong@"}) {
      SpillManager bad(spillTo({std::string("memory://") + secret + place}));
      try {
         writeAndRead(bad, 0, 50, 1);
         CATCH_FAIL("accepted");
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::ioError);
         CATCH_CHECK(std::string(error.what()).find("wrong") == std::string::npos);
      }
   }
}

CATCH_TEST_CASE("an encrypted database shows the server nothing", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   for (const bool encrypts : {false, true}) {
      RedisServer redis;
      SpillOptions options = spillTo({redis.url()});
      options.encrypts = encrypts;
      SpillManager manager(options);
      SpillSpace space(manager, atLevel(0));
      const SpilledPage page = writePage(space, std::vector<std::byte>(100'000, std::byte{'x'}));
      SpillReader reader(space);
      reader.add(page, false);
      CATCH_CHECK(readPage(reader) == std::vector<std::byte>(100'000, std::byte{'x'}));
      const std::string stored = redis.ask("GET " + redis.ask("KEYS 'ouzel-spill:*'"));
      CATCH_CHECK(stored.size() >= 100'000);
      CATCH_CHECK((stored.find("xxxxxxxx") == std::string::npos) == encrypts);
   }
}

CATCH_TEST_CASE("a round trip carries many pages", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillManager manager(spillTo({redis.url("?delay=20")}));
   SpillSpace space(manager, atLevel(0));
   const auto begin = std::chrono::steady_clock::now();
   std::vector<SpilledPage> pages;
   for (int i = 0; i < 320; ++i) // 80 areas, 8 at once
      pages.push_back(writePage(space, pageOf(7, 65536)));
   const auto middle = std::chrono::steady_clock::now();
   SpillReader reader(space); // 2 MiB ahead: 31 pages at once
   for (const SpilledPage& page : pages)
      reader.add(page);
   while (!reader.isEmpty())
      readPage(reader);
   const auto end = std::chrono::steady_clock::now();
   const std::chrono::duration<double> writing = middle - begin, reading = end - middle;
   CATCH_INFO(writing.count() << " s and " << reading.count() << " s");
   CATCH_CHECK(writing.count() > 0.15); // 80 / 8 rounds of 20 ms
   CATCH_CHECK(writing.count() < 0.8);  // one after the other: 1.6 s
   CATCH_CHECK(reading.count() > 0.15);
   CATCH_CHECK(reading.count() < 1.5); // one after the other: 6.4 s
   CATCH_CHECK(manager.devices()[0].roundNanos >= 15e6);
}

CATCH_TEST_CASE("TLS", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   const std::string directory = (std::filesystem::temp_directory_path() / "ouzel-redis-tls-XXXXXX").string();
   std::string root = directory;
   CATCH_REQUIRE(::mkdtemp(root.data()) != nullptr);
   CATCH_REQUIRE(std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "
                              "subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
                              root + "/key.pem -out " + root + "/cert.pem 2>/dev/null")
                                 .c_str()) == 0);
   {
      const uint16_t port = listenTcp("127.0.0.1", 0).front().port;
      RedisServer redis({"--tls-port", std::to_string(port), "--tls-cert-file", root + "/cert.pem", "--tls-key-file",
                         root + "/key.pem", "--tls-auth-clients", "no"});
      const std::string place = "127.0.0.1:" + std::to_string(port);
      SpillManager distrustful(spillTo({"memorys://" + place}));
      CATCH_CHECK(stateOf([&] { writeAndRead(distrustful, 0, 50, 1); }) == sqlstate::ioError);
      ::setenv("SSL_CERT_FILE", (root + "/cert.pem").c_str(), 1);
      SpillManager manager(spillTo({"memorys://" + place}));
      ::unsetenv("SSL_CERT_FILE");
      writeAndRead(manager, 0, 500, 1);
      writeAndRead(manager, SpillPolicy::regulated, 500, 2);
      CATCH_CHECK(redis.isEmptySoon());
      // An idle connection that the server has closed, with a record that says so.
      redis.ask("CLIENT KILL TYPE normal SKIPME yes");
      writeAndRead(manager, 0, 50, 3);
      CATCH_CHECK(manager.devices()[0].failures == 0);
   }
   std::filesystem::remove_all(root);
}

CATCH_TEST_CASE("a server that hung is not taken for a slow one", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillManager manager(spillTo({redis.url()}));
   writeAndRead(manager, 0, 1000, 1);
   const double before = manager.devices()[0].writeBandwidth;
   CATCH_REQUIRE(before > 0);
   redis.pause();
   CATCH_CHECK(stateOf([&] {
                  SpillSpace space(manager, atLevel(0));
                  for (int i = 0; i < 1000; ++i)
                     writePage(space, pageOf(7, 65536));
               }) == sqlstate::ioError);
   redis.resume();
   CATCH_CHECK(manager.devices()[0].writeBandwidth == before);
}

CATCH_TEST_CASE("a server that refuses writes fails the queries that have written there, and no later one",
                "[memory]") {
   if (!RedisServer::isInstalled()) return;
   const bool isFull = GENERATE(false, true);
   RedisServer redis;
   SpillDirectories directories;
   SpillManager manager(spillTo({redis.url(), directories.options.targets[0]}));
   writeAndRead(manager, 0, 400, 1);
   CATCH_REQUIRE(redis.isEmptySoon());
   redis.ask(isFull ? "CONFIG SET maxmemory 1mb" : "REPLICAOF 127.0.0.1 1");
   const auto query = [&] { return stateOf([&] { writeAndRead(manager, 0, 400, 2); }); };
   CATCH_CHECK(soon([&] { return query() == (isFull ? sqlstate::diskFull : sqlstate::ioError); }));
   // The first pauses are over meanwhile.
   for (int i = 0; i < 8; ++i) {
      CATCH_CHECK(query() == sqlstate::successfulCompletion);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
   }
   const uint64_t before = manager.devices()[0].bytesWritten;
   CATCH_CHECK(redis.keys() == 0);
   if (!isFull) CATCH_CHECK(manager.devices()[0].failures <= 20);
   redis.ask(isFull ? "CONFIG SET maxmemory 0" : "REPLICAOF NO ONE");
   CATCH_CHECK(soon([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      writeAndRead(manager, 0, 400, 3);
      return manager.devices()[0].bytesWritten > before;
   }));
   CATCH_CHECK(redis.isEmptySoon());
}

CATCH_TEST_CASE("a server that hangs does not hold up the end of the process", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   auto manager = std::make_unique<SpillManager>(spillTo({redis.url()}));
   auto space = std::make_unique<SpillSpace>(*manager, atLevel(0));
   {
      SpillReader reader(*space);
      for (int i = 0; i < 1500; ++i) // more keys than one round removes
         reader.add(writePage(*space, std::vector<std::byte>(262144, std::byte{1})), false);
      while (!reader.isEmpty())
         readPage(reader); // no write is in flight then
   }
   redis.pause();
   const auto begin = std::chrono::steady_clock::now();
   space.reset();
   manager.reset();
   const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
   redis.resume();
   CATCH_INFO(time.count() << " s");
   CATCH_CHECK(time.count() < 8);
}

CATCH_TEST_CASE("a directory takes over from a full server without waiting for it", "[memory]") {
   if (!RedisServer::isInstalled()) return;
   RedisServer redis;
   SpillDirectories directories;
   SpillManager manager(spillTo({redis.url("?size=20MB"), directories.options.targets[0]}));
   constexpr size_t pageBytes = 100'000;
   const auto room = [&] { return (uint64_t{20} << 20) - manager.devices()[0].bytesAllocated; };
   {
      // Fills the server until it has no room for a page. The last pages of a pass are in an extent that the pass
      // opened. So no part of an extent of the server becomes free with the space.
      SpillSpace space(manager, atLevel(0));
      uint64_t before = 0;
      do {
         before = room();
         for (int i = 0; i < 40; ++i)
            writePage(space, pageOf(7, pageBytes));
      } while (room() != before || before >= pageBytes);
      redis.pause();
   }
   const auto begin = std::chrono::steady_clock::now();
   {
      SpillSpace space(manager, atLevel(0));
      SpillReader reader(space);
      for (uint64_t i = 0; i < 250; ++i)
         reader.add(writePage(space, pageOf(i, pageBytes)), false);
      for (uint64_t i = 0; i < 250; ++i)
         CATCH_REQUIRE(isSame(readPage(reader), pageOf(i, pageBytes)));
   }
   const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
   redis.resume();
   CATCH_INFO(time.count() << " s");
   CATCH_CHECK(time.count() < 2.5);
}

CATCH_TEST_CASE("a target that is listed twice is refused", "[memory]") {
   CATCH_CHECK(stateOf([] {
                  SpillManager twice(spillTo({"memory://h", "memory://u:p@h:6379?size=1GB"}));
               }) == sqlstate::invalidParameterValue);
   SpillManager two(spillTo({"memory://h:1", "memory://h:2"}));
   CATCH_CHECK(two.devices().size() == 2);
}
