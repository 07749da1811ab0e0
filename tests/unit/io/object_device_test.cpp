#include "io/spill/object_device.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "common/error/sql_error.hpp"
#include "io/object_store/object_store.hpp"
#include "io/store/open_store.hpp"
#include "tests/unit/io/s3/object_server.hpp"
#include "tests/unit/io/spill_support.hpp"

// Spilling to a bucket.

using namespace ouzel;
using namespace ouzel::io;
using namespace ouzel::io::test;

namespace {

/// Keys as the object server wants them.
struct Keys {
   Keys() {
      ::setenv("AWS_ACCESS_KEY_ID", "testkey", 1);
      ::setenv("AWS_SECRET_ACCESS_KEY", "testsecret", 1);
   }
};

size_t objectsIn(const ObjectServer& server) {
   return openObjectStore(server.url("spill"))->list("").size();
}

void writeAndRead(SpillManager& manager, int pageCount) {
   SpillSpace space(manager, atLevel(0));
   std::mt19937_64 random(5);
   SpillReader reader(space);
   std::vector<std::pair<uint64_t, size_t>> kept;
   for (int i = 0; i < pageCount; ++i) {
      const uint64_t number = random();
      const size_t bytes = 1 + random() % (i % 50 == 0 ? 2'000'000 : 100'000);
      reader.add(writePage(space, pageOf(number, bytes)));
      kept.emplace_back(number, bytes);
   }
   for (const auto& [number, bytes] : kept)
      CATCH_REQUIRE(isSame(readPage(reader), pageOf(number, bytes)));
}

} // namespace

CATCH_TEST_CASE("pages in a bucket come back, and leave no objects behind", "[objects]") {
   const Keys keys;
   ObjectServer server;
   SpillOptions options;
   options.targets = {server.url("spill")};
   {
      SpillManager manager(options);
      CATCH_CHECK(manager.devices()[0].name == "s3://bucket/spill/");
      writeAndRead(manager, 200);
      const auto device = manager.devices()[0];
      CATCH_CHECK(device.bytesInUse == 0);
      CATCH_CHECK(device.failures == 0);
      CATCH_CHECK(device.writeRequests > 20);
      CATCH_CHECK(device.readRequests >= 200);
   } // waits for removals
   CATCH_CHECK(objectsIn(server) == 0);
}

CATCH_TEST_CASE("a bucket is for what a directory has no room for", "[objects]") {
   const Keys keys;
   ObjectServer server;
   // In memory: a disk may be as slow as a bucket while others use it.
   std::string directory = "/dev/shm/ouzel-spill-test-XXXXXX";
   CATCH_REQUIRE(::mkdtemp(directory.data()) != nullptr);
   SpillOptions options;
   options.targets = {server.url("spill"), directory};
   SpillManager manager(options);
   writeAndRead(manager, 100);
   CATCH_CHECK(manager.devices()[0].bytesWritten == 0);
   CATCH_CHECK(manager.devices()[1].bytesWritten > 0);
   std::filesystem::remove(directory);
   writeAndRead(manager, 100);
   CATCH_CHECK(manager.devices()[0].bytesWritten > 0);
}

CATCH_TEST_CASE("a query ends early, and its objects go", "[objects]") {
   const Keys keys;
   ObjectServer server;
   SpillOptions options;
   options.targets = {server.url("spill")};
   SpillManager manager(options);
   for (int round = 0; round < 10; ++round) {
      SpillSpace space(manager, atLevel(0));
      SpillReader reader(space);
      for (int i = 0; i < 10 * round; ++i)
         reader.add(writePage(space, pageOf(7, 65536)));
      if (round > 0) readPage(reader);
   }
   for (int i = 0; i < 500 && manager.devices()[0].bytesAllocated > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
   CATCH_CHECK(objectsIn(server) == 0);
}

CATCH_TEST_CASE("objects that are gone are an error", "[objects]") {
   const Keys keys;
   ObjectServer server;
   SpillOptions options;
   options.targets = {server.url("spill")};
   SpillManager manager(options);
   SpillSpace space(manager, atLevel(0));
   const SpilledPage page = writePage(space, pageOf(7, 65536));
   SpillReader reader(space);
   reader.add(page, false);
   readPage(reader);
   const auto store = openObjectStore(server.url("spill"));
   for (const ObjectInfo& object : store->list(""))
      store->remove(object.name);
   reader.add(page, false);
   try {
      readPage(reader);
      CATCH_FAIL("read");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::ioError);
   }
}

CATCH_TEST_CASE("objects that could not be removed are removed later", "[objects]") {
   const Keys keys;
   ObjectServer server;
   SpillOptions options;
   options.targets = {server.url("spill")};
   {
      SpillManager manager(options);
      {
         SpillSpace space(manager, atLevel(0));
         SpillReader reader(space);
         for (int i = 0; i < 60; ++i)
            reader.add(writePage(space, pageOf(7, 65536)), false);
         while (!reader.isEmpty())
            readPage(reader);
         server.set("error=1");
      }
      for (int i = 0; i < 3000 && manager.devices()[0].bytesAllocated > 0; ++i)
         std::this_thread::sleep_for(std::chrono::milliseconds(10));
      server.set("error=0");
      CATCH_CHECK(objectsIn(server) > 0);
   }
   CATCH_CHECK(objectsIn(server) == 0);
}
