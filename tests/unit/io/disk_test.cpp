#include "io/sim/disk.hpp"

#include <catch2/catch.hpp>
#include <cerrno>

#include "common/error/sql_error.hpp"
#include "io/directory/directory_store.hpp"
#include "io/file/file.hpp"

using namespace ouzel;
using namespace ouzel::io;
using sim::Disk;
using sim::Loss;

namespace {

/// Makes a simulated disk the current FileSystem during its life.
class InUse {
public:
   explicit InUse(Disk& disk) { FileSystem::replace(&disk); }
   ~InUse() { FileSystem::replace(nullptr); }
};

std::string contentOf(const std::string& path) {
   const File file(path, File::Mode::Read);
   std::string bytes(file.size(), '\0');
   file.readAt(bytes.data(), bytes.size(), 0);
   return bytes;
}

std::string cut(const Disk& disk, Loss loss, uint64_t seed = 1) {
   sim::Random random(seed);
   return disk.afterCut(random, loss);
}

} // namespace

CATCH_TEST_CASE("a cut disk keeps what was synced") {
   Disk disk(1);
   std::string dropped, kept;
   std::vector<std::string> torn;
   {
      const InUse use(disk);
      makeDirectories("/a/b");
      File file("/a/b/one", File::Mode::CreateNew);
      file.writeAt("durable", 7, 0);
      file.syncData();
      syncDirectory("/a/b");
      file.writeAt("DURABLE but no more", 19, 0);
      CATCH_CHECK(contentOf("/a/b/one") == "DURABLE but no more");
      renameFile("/a/b/one", "/a/b/two");
      dropped = cut(disk, Loss::DropAll);
      kept = cut(disk, Loss::KeepAll);
      for (uint64_t seed = 0; seed < 200; ++seed)
         torn.push_back(cut(disk, Loss::Torn, seed));
   }
   {
      Disk after(2, dropped);
      const InUse use(after);
      CATCH_CHECK(contentOf("/a/b/one") == "durable");
      CATCH_CHECK_FALSE(exists("/a/b/two"));
   }
   {
      Disk after(2, kept);
      const InUse use(after);
      CATCH_CHECK_FALSE(exists("/a/b/one"));
      CATCH_CHECK(contentOf("/a/b/two") == "DURABLE but no more");
   }
   std::set<std::string> contents;
   for (const std::string& image : torn) {
      Disk after(2, image);
      const InUse use(after);
      for (const char* name : {"/a/b/one", "/a/b/two"})
         if (exists(name)) contents.insert(contentOf(name));
   }
   CATCH_CHECK(contents.size() > 20);
   for (const std::string& content : contents)
      CATCH_CHECK(content.size() >= 7);
}

CATCH_TEST_CASE("a full disk refuses, and has room again") {
   Disk disk(1);
   disk.setCapacity(64 << 10);
   const InUse use(disk);
   const std::string some(40 << 10, 'x');
   File file("/one", File::Mode::Write);
   file.writeAt(some.data(), some.size(), 0);
   const auto isFull = [](auto&& call) {
      try {
         call();
         return false;
      } catch (const SqlError& error) {
         return error.state() == sqlstate::diskFull;
      }
   };
   CATCH_CHECK(isFull([&] { file.allocate(0, 80 << 10); }));
   file.truncate(100);
   file.allocate(0, 50 << 10);
   removeFile("/one");
   CATCH_CHECK(disk.usedBytes() == 52 << 10);
   file = File();
   DirectoryStore store("/store");
   CATCH_CHECK(disk.usedBytes() == 0);
   CATCH_CHECK(store.put("a/b", some, PutCondition::ifAbsent()));
   CATCH_CHECK(isFull([&] { store.put("a/c", some, PutCondition::ifAbsent()); }));
   CATCH_CHECK(store.list("", 10).size() == 1);
   CATCH_CHECK(disk.usedBytes() == 40 << 10);
   store.remove("a/b");
   CATCH_CHECK(store.put("a/c", some, PutCondition::ifAbsent()));
}

CATCH_TEST_CASE("what a store has put is there after any cut") {
   for (uint64_t seed = 0; seed < 100; ++seed) {
      Disk disk(seed);
      std::string image;
      {
         const InUse use(disk);
         DirectoryStore store("/store");
         CATCH_REQUIRE(store.put("a/b", "content", PutCondition::ifAbsent()));
         CATCH_REQUIRE(store.put("a/c", "one", {}));
         CATCH_REQUIRE(store.put("a/c", "two", {}));
         image = cut(disk, Loss::Torn, seed);
      }
      Disk after(seed, image);
      const InUse use(after);
      DirectoryStore store("/store");
      CATCH_REQUIRE(store.get("a/b") == "content");
      CATCH_REQUIRE(store.get("a/c") == "two");
      CATCH_REQUIRE(store.list("", 10).size() == 2);
   }
}
