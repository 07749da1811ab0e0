#include "io/object_store/object_store.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/error/sql_error.hpp"
#include "io/crypto/encrypted_store.hpp"
#include "io/directory/directory_store.hpp"
#include "io/s3/s3_store.hpp"
#include "tests/unit/io/pattern.hpp"
#include "tests/unit/io/s3/object_server.hpp"
#include "tests/unit/io/s3/versitygw.hpp"

// Tests of ObjectStore's contract, run with every store.

using namespace ouzel;
using namespace ouzel::io;

namespace {

struct DirectoryFixture {
   std::string path = (std::filesystem::temp_directory_path() / "ouzel-store-XXXXXX").string();
   std::unique_ptr<ObjectStore> store;
   DirectoryFixture() {
      CATCH_REQUIRE(::mkdtemp(path.data()) != nullptr);
      store = std::make_unique<DirectoryStore>(path);
   }
   ~DirectoryFixture() { std::filesystem::remove_all(path); }
   static bool isThere() { return true; }
};

Credentials testCredentials() {
   return {"AKIAOUZELTEST", "secret/of+the=tests", "", 0};
}

template <SocketRing::Backend backend>
struct S3Fixture {
   ObjectServer server{{"--credentials", testCredentials().accessKeyId + ":" + testCredentials().secretAccessKey}};
   std::unique_ptr<ObjectStore> store;
   S3Fixture() {
      RetrieverOptions options;
      options.backend = backend;
      store = std::make_unique<S3Store>(S3Location::parse(server.url("some/prefix")), testCredentials, options);
   }
   static bool isThere() { return true; }
};
using S3RingFixture = S3Fixture<SocketRing::Backend::Automatic>;
using S3PollFixture = S3Fixture<SocketRing::Backend::Poll>;

/// An S3 server of another project.
struct VersityFixture {
   VersityGateway gateway;
   std::unique_ptr<ObjectStore> store =
       std::make_unique<S3Store>(S3Location::parse(gateway.url()), VersityGateway::credentials);
   static bool isThere() {
      if (!VersityGateway::find().empty()) return true;
      CATCH_WARN("skipped: versitygw is not installed (scripts/install-deps --test)");
      return false;
   }
};

/// An encrypted store over another fixture's store.
template <typename Below>
struct EncryptedFixture : Below {
   EncryptedFixture() {
      this->store = std::make_unique<EncryptedStore>(std::move(this->store), EncryptionKey::makeRandom());
   }
};
using EncryptedDirectoryFixture = EncryptedFixture<DirectoryFixture>;
using EncryptedS3Fixture = EncryptedFixture<S3RingFixture>;

bool fails(const std::function<void()>& action, SqlState expected = sqlstate::ioError) {
   try {
      action();
      return false;
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == expected);
      return true;
   }
}

} // namespace

CATCH_TEMPLATE_TEST_CASE("stores put, read, list and remove", "", DirectoryFixture, S3RingFixture, S3PollFixture,
                         VersityFixture, EncryptedDirectoryFixture, EncryptedS3Fixture) {
   if (!TestType::isThere()) return;
   TestType fixture;
   ObjectStore& store = *fixture.store;
   CATCH_CHECK_FALSE(store.get("a/b").has_value());
   CATCH_CHECK(store.open("a/b") == nullptr);
   CATCH_CHECK_FALSE(store.tag("a/b").has_value());
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
   CATCH_CHECK_FALSE(store.put("a/none", "x", PutCondition::ifMatch(tag)));

   const auto reader = store.open("a/b");
   CATCH_REQUIRE(reader);
   CATCH_CHECK(reader->size() == 4);
   char bytes[4];
   reader->read(1, 3, bytes);
   CATCH_CHECK(std::string_view(bytes, 3) == "ive");
   reader->read(4, 0, bytes);
   CATCH_CHECK(fails([&] { reader->read(2, 3, bytes); }));
   CATCH_CHECK(fails([&] { reader->read(5, 1, bytes); }));

   CATCH_CHECK(store.put("a/c/d", "x"));
   CATCH_CHECK(store.put("b", ""));
   CATCH_CHECK(store.get("b") == "");
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
   const std::vector<std::string> rest{"a/c/d", "b", "gone"};
   store.remove(rest);
   CATCH_CHECK(names("").empty());
}

CATCH_TEMPLATE_TEST_CASE("stores read large objects in parallel", "", DirectoryFixture, S3RingFixture, S3PollFixture,
                         VersityFixture, EncryptedDirectoryFixture, EncryptedS3Fixture) {
   if (!TestType::isThere()) return;
   TestType fixture;
   ObjectStore& store = *fixture.store;
   const std::string content = pattern((40 << 20) + 12345);
   const std::string_view all = content;
   const std::string_view parts[] = {all.substr(0, 5 << 20), all.substr(5 << 20, 1), all.substr((5 << 20) + 1)};
   CATCH_REQUIRE(store.put("large", parts, PutCondition::ifAbsent()));
   CATCH_CHECK_FALSE(store.put("large", parts, PutCondition::ifAbsent()));
   CATCH_CHECK((store.get("large") == content)); // in brackets, so that a failure does not print megabytes

   const auto reader = store.open("large", content.size());
   std::string target(content.size(), '\0');
   struct Outcome {
      std::atomic<int> pending{0}, failed{0};
   } outcome;
   std::vector<std::unique_ptr<PendingRead>> reads;
   const auto read = [&](size_t offset, size_t size) {
      ++outcome.pending;
      reads.push_back(reader->readAsync(offset, size, target.data() + offset, [&](std::exception_ptr error) {
         outcome.failed += error != nullptr;
         if (--outcome.pending == 0) outcome.pending.notify_all();
      }));
   };
   for (size_t offset = 0; offset < 8 << 20; offset += 100'000)
      read(offset, std::min<size_t>(100'000, (8 << 20) - offset));
   read(8 << 20, content.size() - (8 << 20));
   for (int left = outcome.pending; left != 0; left = outcome.pending)
      outcome.pending.wait(left);
   CATCH_CHECK(outcome.failed == 0);
   CATCH_CHECK((target == content));
   store.remove("large");
   const auto gone = store.open("large", content.size());
   CATCH_CHECK((gone == nullptr || fails([&] { gone->read(0, 10, target.data()); }, sqlstate::undefinedFile)));
}

CATCH_TEMPLATE_TEST_CASE("one of many conditional puts takes effect", "", DirectoryFixture, S3RingFixture,
                         VersityFixture, EncryptedDirectoryFixture, EncryptedS3Fixture) {
   if (!TestType::isThere()) return;
   TestType fixture;
   ObjectStore& store = *fixture.store;
   for (int round = 0; round < 5; ++round) {
      const std::string name = "race" + std::to_string(round);
      std::atomic<int> winners{0}, errors{0};
      std::string winner;
      std::mutex mutex;
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i)
         threads.emplace_back([&, i] {
            try {
               const std::string mine = "writer " + std::to_string(i);
               if (!store.put(name, mine, PutCondition::ifAbsent())) return;
               ++winners;
               const std::lock_guard lock(mutex);
               winner = mine;
            } catch (const SqlError&) {
               ++errors;
            }
         });
      for (std::thread& thread : threads)
         thread.join();
      CATCH_CHECK(errors == 0);
      CATCH_CHECK(winners == 1);
      CATCH_CHECK(store.get(name) == winner);
   }
}
