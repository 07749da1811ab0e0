#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <xxhash.h>

#include "common/error/sql_error.hpp"
#include "storage/block/format.hpp"
#include "storage/manifest/manifest.hpp"
#include "storage/manifest/writer_lease.hpp"
#include "storage/wal/log.hpp"

// What a server says to a database of another version: both numbers, and which server to take.

using namespace ouzel;
using namespace ouzel::storage;

namespace {

template <typename Read>
void checkRefusal(Read&& read, const std::string& detail, const std::string& hint) {
   try {
      read();
      CATCH_FAIL("the other format was read");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::featureNotSupported);
      CATCH_CHECK(error.detailText() == detail);
      CATCH_CHECK_THAT(error.hintText(), Catch::StartsWith(hint));
   }
}

constexpr const char* newer = "A newer server wrote the database.";
constexpr const char* older = "An older server wrote the database.";

} // namespace

CATCH_TEST_CASE("manifests and leases of other formats are refused with both numbers") {
   std::string manifest = Manifest{}.serialize(); // the format comes first
   CATCH_REQUIRE(manifest[0] == 2);
   manifest[0] = 3;
   checkRefusal([&] { Manifest::deserialize(manifest); }, "The manifest has format 3, this server reads format 2.",
                newer);
   manifest[0] = 1;
   checkRefusal([&] { Manifest::deserialize(manifest); }, "The manifest has format 1, this server reads format 2.",
                older);
   std::string lease = LeaseEntry{}.serialize();
   CATCH_REQUIRE(lease[0] == 1);
   lease[0] = 9;
   checkRefusal([&] { LeaseEntry::deserialize(lease); }, "The writer's lease has format 9, this server reads format 1.",
                newer);
}

CATCH_TEST_CASE("blocks of a later format are refused with both numbers") {
   std::string header(1, static_cast<char>(blockFormatVersion + 5));
   checkRefusal([&] { BlockHeader::deserialize(header); },
                "A block's header has format 11, this server reads format 6.", newer);
}

CATCH_TEST_CASE("a log of another format is refused with both numbers") {
   const std::string directory = "format_version_test.wal";
   std::filesystem::remove_all(directory);
   constexpr uint64_t id = 7;
   {
      Log log(directory, id);
      log.replay(0, [](Log::Frame&&) {});
      log.start();
   }
   const std::filesystem::directory_iterator files(directory);
   const std::string path = files->path().string();
   LogFileHeader header;
   std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
   file.read(reinterpret_cast<char*>(&header), sizeof header);
   CATCH_REQUIRE(header.version == 3);
   header.version = 2;
   header.checksum = XXH3_64bits(&header, offsetof(LogFileHeader, checksum));
   file.seekp(0);
   file.write(reinterpret_cast<const char*>(&header), sizeof header);
   file.close();
   const auto replay = [&] { Log(directory, id).replay(0, [](Log::Frame&&) {}); };
   checkRefusal(replay, "Write-ahead log file \"" + path + "\" has format 2, this server reads format 3.", older);
   std::filesystem::remove_all(directory);
}
