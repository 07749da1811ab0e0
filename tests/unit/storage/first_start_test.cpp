#include <catch2/catch.hpp>
#include <cerrno>

#include "common/error/sql_error.hpp"
#include "io/sim/disk.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// A first start that fails at any point: the next start works with the files that it left.

using namespace ouzel;
using namespace ouzel::storage::test;
using io::sim::Disk;
using io::sim::Operation;

CATCH_TEST_CASE("a log is not opened before the manifest's name is on disk") {
   Disk disk(1);
   io::FileSystem::replace(&disk);
   const auto isManifests = [](const std::string& path) { return path == "/data/manifest"; };
   disk.onOperation = [&](Operation operation, const std::string& path, bool isAfter) {
      return !isAfter && operation == Operation::SyncDirectory && isManifests(path) ? -EIO : 0;
   };
   CATCH_CHECK_THROWS_AS(DatabaseFixture("/data"), SqlError); // fails after the manifest has its name

   bool isNamed = false, hasLog = false, isTooEarly = false;
   disk.onOperation = [&](Operation operation, const std::string& path, bool isAfter) {
      isNamed = isNamed || (isAfter && operation == Operation::SyncDirectory && isManifests(path));
      if (!isAfter && operation == Operation::Create && path.ends_with(".wal")) {
         hasLog = true;
         isTooEarly = isTooEarly || !isNamed;
      }
      return 0;
   };
   { const DatabaseFixture database("/data"); }
   disk.onOperation = nullptr;
   io::FileSystem::replace(nullptr);
   CATCH_CHECK(hasLog);
   CATCH_CHECK(!isTooEarly);
}
