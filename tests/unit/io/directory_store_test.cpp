#include "io/directory/directory_store.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

using namespace ouzel;
using namespace ouzel::io;

namespace {
struct Directory {
   std::string path = (std::filesystem::temp_directory_path() / "ouzel-store-XXXXXX").string();
   Directory() { CATCH_REQUIRE(::mkdtemp(path.data()) != nullptr); }
   ~Directory() { std::filesystem::remove_all(path); }
};
} // namespace

// Tests of all stores are in object_store_test.cpp.

CATCH_TEST_CASE("a directory's reads are done when they return, and a reader outlives its object") {
   const Directory directory;
   DirectoryStore store(directory.path);
   CATCH_REQUIRE(store.put("a/b", "five"));
   const auto reader = store.open("a/b");
   char bytes[3];
   bool isDone = false;
   CATCH_CHECK(reader->readAsync(0, 2, bytes, [&](std::exception_ptr error) { isDone = !error; }) == nullptr);
   CATCH_CHECK(isDone);
   CATCH_CHECK(std::string_view(bytes, 2) == "fi");
   reader->readAsync(2, 3, bytes, [&](std::exception_ptr error) { isDone = !error; });
   CATCH_CHECK_FALSE(isDone);
   store.remove("a/b");
   reader->read(0, 3, bytes);
   CATCH_CHECK(std::string_view(bytes, 3) == "fiv");
}
