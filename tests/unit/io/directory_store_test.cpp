#include "io/object_store/directory_store.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "common/error/sql_error.hpp"

using namespace ouzel;
using namespace ouzel::io;

namespace {
struct Directory {
   std::string path = (std::filesystem::temp_directory_path() / "ouzel-store-XXXXXX").string();
   Directory() { CATCH_REQUIRE(::mkdtemp(path.data()) != nullptr); }
   ~Directory() { std::filesystem::remove_all(path); }
};
} // namespace

CATCH_TEST_CASE("a directory keeps the promises of an object store") {
   const Directory directory;
   DirectoryStore store(directory.path);
   CATCH_CHECK_FALSE(store.get("a/b").has_value());
   CATCH_CHECK(store.open("a/b") == nullptr);
   const std::string_view parts[] = {"one", "", " two"};
   CATCH_CHECK(store.put("a/b", parts, PutCondition::ifAbsent()));
   CATCH_CHECK(store.get("a/b") == "one two");
   CATCH_CHECK_FALSE(store.put("a/b", "other", PutCondition::ifAbsent()));
   CATCH_CHECK(store.get("a/b") == "one two");

   const std::string tag = *store.tag("a/b");
   CATCH_CHECK(store.put("a/b", "three", PutCondition::ifMatch(tag)));
   CATCH_CHECK_FALSE(store.put("a/b", "four", PutCondition::ifMatch(tag)));
   CATCH_CHECK(store.get("a/b") == "three");
   CATCH_CHECK(store.put("a/b", "five"));

   const auto reader = store.open("a/b");
   char bytes[3];
   reader->read(1, 3, bytes);
   CATCH_CHECK(std::string_view(bytes, 3) == "ive");
   bool isDone = false;
   CATCH_CHECK(reader->readAsync(0, 2, bytes, [&](std::exception_ptr error) { isDone = !error; }) == nullptr);
   CATCH_CHECK(isDone);
   CATCH_CHECK(std::string_view(bytes, 2) == "fi");
   reader->readAsync(2, 3, bytes, [&](std::exception_ptr error) { isDone = !error; });
   CATCH_CHECK_FALSE(isDone);
   try {
      reader->read(2, 3, bytes);
      CATCH_FAIL("read past the end");
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::ioError);
   }
   CATCH_CHECK(store.put("a/c/d", "x"));
   CATCH_CHECK(store.put("b", ""));
   const auto names = [&](std::string_view prefix, size_t limit = SIZE_MAX) {
      std::string all;
      for (const ObjectInfo& object : store.list(prefix, limit))
         all += object.name + ":" + std::to_string(object.size) + " ";
      return all;
   };
   CATCH_CHECK(names("") == "a/b:4 a/c/d:1 b:0 ");
   CATCH_CHECK(names("a/") == "a/b:4 a/c/d:1 ");
   CATCH_CHECK(names("a/c") == "a/c/d:1 ");
   CATCH_CHECK(names("", 1) == "a/b:4 ");
   CATCH_CHECK(names("nowhere/").empty());
   store.remove("a/b");
   store.remove("a/b");
   CATCH_CHECK_FALSE(store.tag("a/b").has_value());
   reader->read(0, 3, bytes); // a reader outlives its object
   CATCH_CHECK(std::string_view(bytes, 3) == "fiv");
}
