#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <unistd.h>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "io/net/socket.hpp"
#include "io/s3/s3_store.hpp"
#include "tests/unit/io/pattern.hpp"
#include "tests/unit/io/s3/client.hpp"
#include "tests/unit/io/s3/object_server.hpp"

// Faults of the network and the store, made by tests/object_server.

using namespace ouzel;
using namespace ouzel::io;

namespace {

/// eager() with short time-outs, for tests without answers.
RetrieverOptions impatient() {
   RetrieverOptions options = eager();
   options.connectTimeoutMs = 500;
   options.firstByteTimeoutMs = 500;
   options.progressTimeoutMs = 400;
   options.requestTimeoutMs = 5'000;
   return options;
}

double secondsOf(const std::function<void()>& action) {
   const int64_t start = steadyNanos();
   action();
   return static_cast<double>(steadyNanos() - start) / 1e9;
}

/// Reads an object by simultaneous requests of `step` bytes.
std::string readInPieces(const ObjectReader& reader, size_t step) {
   std::string target(reader.size(), '\0');
   std::atomic<size_t> pending{(target.size() + step - 1) / step}, failed{0};
   for (size_t offset = 0; offset < target.size(); offset += step)
      reader.readAsync(offset, std::min(step, target.size() - offset), target.data() + offset,
                       [&](std::exception_ptr error) {
                          failed += error != nullptr;
                          if (--pending == 0) pending.notify_all();
                       });
   for (size_t left = pending; left != 0; left = pending)
      pending.wait(left);
   CATCH_CHECK(failed == 0);
   return target;
}

uint64_t requestsOf(const S3Store& store) {
   return store.statistics()->of(RequestKind::Get).requests;
}

} // namespace

CATCH_TEST_CASE("reads are right whatever the network does") {
   const ObjectServer server;
   const std::string content = pattern(20 << 20);
   for (const SocketRing::Backend backend : {SocketRing::Backend::Automatic, SocketRing::Backend::Poll}) {
      RetrieverOptions options = eager();
      options.backend = backend;
      S3Store store(S3Location::parse(server.url("p")), anybody, options);
      CATCH_REQUIRE(store.put("x", content));
      for (const char* fault : {"error=0.2", "reset_before=0.2", "reset_body=0.2", "truncate=0.2",
                                "error=0.05&reset_body=0.05&truncate=0.05&reset_before=0.05"}) {
         server.set(fault);
         CATCH_CHECK((readInPieces(*store.open("x", content.size()), 200'000) == content));
         server.set("error=0&reset_before=0&reset_body=0&truncate=0");
      }
      const RetrieverStatistics statistics = *store.statistics();
      CATCH_CHECK(statistics.retries > 20);
      CATCH_CHECK(statistics.of(RequestKind::Get).errors == 0);
      CATCH_CHECK(statistics.of(RequestKind::Get).bytes >= 5 * content.size());
      CATCH_CHECK(statistics.active == 0);
      CATCH_CHECK(statistics.queued == 0);
      CATCH_CHECK(statistics.estimatedCost() > 0);
   }
}

CATCH_TEST_CASE("puts are right whatever the network does") {
   const ObjectServer server;
   S3Store store(S3Location::parse(server.url("p")), anybody, eager());
   const std::string large = pattern((33 << 20) + 7);
   for (const char* fault : {"error=0.3", "reset_before=0.3", "reset_after=0.3", "conflict=0.3"}) {
      server.set(fault);
      const std::string kind(fault, std::string_view(fault).find('='));
      for (int i = 0; i < 20; ++i) {
         const std::string name = kind + std::to_string(i);
         // The put that succeeded returns true even when its answer is lost; the other put returns false.
         CATCH_CHECK(store.put(name, "one", PutCondition::ifAbsent()));
         CATCH_CHECK_FALSE(store.put(name, "one", PutCondition::ifAbsent()));
         const std::string tag = *store.tag(name);
         CATCH_CHECK(store.put(name, "two", PutCondition::ifMatch(tag)));
         CATCH_CHECK_FALSE(store.put(name, "three", PutCondition::ifMatch(tag)));
         CATCH_CHECK(store.get(name) == "two");
      }
      const std::string name = kind + "large";
      CATCH_CHECK(store.put(name, large, PutCondition::ifAbsent()));
      CATCH_CHECK_FALSE(store.put(name, large, PutCondition::ifAbsent()));
      CATCH_CHECK((store.get(name) == large)); // in brackets, so that a failure does not print megabytes
      server.set("error=0&reset_before=0&reset_after=0&conflict=0");
   }
   store.removeLeftovers(); // uploads whose first answer was lost
}

CATCH_TEST_CASE("a second request overtakes one that stalls") {
   const ObjectServer server;
   RetrieverOptions options; // default time-outs: only hedging is fast enough
   S3Store store(S3Location::parse(server.url()), anybody, options);
   const std::string content = pattern(16 << 20);
   CATCH_REQUIRE(store.put("x", content));
   const auto reader = store.open("x", content.size());
   readInPieces(*reader, 64 << 10);
   for (const char* fault : {"stall_header=0.02&stall_ms=8000", "stall_header=0&stall_body=0.02"}) {
      server.set(fault);
      const uint64_t before = requestsOf(store);
      const double seconds = secondsOf([&] { CATCH_CHECK((readInPieces(*reader, 64 << 10) == content)); });
      CATCH_CHECK(seconds < 8);
      const uint64_t wanted = content.size() / (64 << 10), extra = requestsOf(store) - before - wanted;
      CATCH_CHECK(extra < wanted * 8 / 100 + 3);
   }
   const RetrieverStatistics statistics = *store.statistics();
   CATCH_CHECK(statistics.hedgesWon > 0);
   CATCH_CHECK(statistics.hedgesWon <= statistics.hedges);
}

CATCH_TEST_CASE("endpoints that are dead or creep end in an error") {
   char bytes[1000];
   CATCH_SECTION("nobody listens") {
      const uint16_t port = listenTcp("127.0.0.1", 0).front().port;
      const std::string endpoint = "http://127.0.0.1:" + std::to_string(port);
      S3Store store(S3Location::parse("s3://bucket/p?endpoint=" + endpoint), anybody, impatient());
      std::string failure;
      CATCH_CHECK(secondsOf([&] { failure = failureOf([&] { store.get("x"); }); }) < 5);
      CATCH_CHECK(failure.starts_with("58030 could not read object \"s3://bucket/p/x\" at " + endpoint));
   }
   CATCH_SECTION("somebody listens and says nothing") {
      const ObjectServer server;
      RetrieverOptions options = impatient();
      options.requestTimeoutMs = 1'000;
      S3Store store(S3Location::parse(server.url()), anybody, options);
      CATCH_REQUIRE(store.put("x", std::string(1000, 'x')));
      server.pause();
      std::string failure;
      CATCH_CHECK(secondsOf([&] { failure = failureOf([&] { store.open("x", 1000)->read(0, 1000, bytes); }); }) < 10);
      CATCH_CHECK(failure.starts_with("58030"));
      server.resume();
      store.open("x", 1000)->read(0, 1000, bytes);
   }
   CATCH_SECTION("a slow loris") {
      const ObjectServer server;
      RetrieverOptions options = impatient();
      options.attemptsMax = 3;
      S3Store store(S3Location::parse(server.url()), anybody, options);
      CATCH_REQUIRE(store.put("x", std::string(100'000, 'x')));
      server.set("slow=1&slow_rate=500");
      std::string target(100'000, '\0');
      std::string failure;
      CATCH_CHECK(secondsOf([&] {
                     failure =
                         failureOf([&] { store.open("x", target.size())->read(0, target.size(), target.data()); });
                  }) < 8);
      CATCH_CHECK(failure.starts_with("58030"));
   }
}

CATCH_TEST_CASE("buckets of other regions are found") {
   const ObjectServer server({"--region", "eu-west-1", "--credentials", "key:secret"});
   for (const char* manner : {"redirect", "malformed"}) {
      server.set(std::string("wrong_region=") + manner);
      S3Store store(S3Location::parse(server.url()), anybody, eager());
      CATCH_CHECK(store.put("x", "1"));
      CATCH_CHECK(store.get("x") == "1");
      CATCH_CHECK(store.list("", SIZE_MAX).size() == 1);
      CATCH_CHECK(S3Store(S3Location::parse(server.url()), anybody, eager()).tag("x").has_value());
   }
}

CATCH_TEST_CASE("who may not is told so, and who has the wrong time corrects it") {
   const ObjectServer server({"--credentials", "key:secret"});
   S3Store intruder(
       S3Location::parse(server.url("p")),
       [] {
          return Credentials{"key", "other", "", 0};
       },
       eager());
   for (const std::string& failure :
        {failureOf([&] { intruder.get("x"); }), failureOf([&] { intruder.put("x", "1"); }),
         failureOf([&] { intruder.list("", 1); }), failureOf([&] { intruder.open("x"); })}) {
      CATCH_CHECK(failure.starts_with("42501"));
      CATCH_CHECK(failure.find("s3://bucket/p/") != std::string::npos);
   }
   static const auto behind =
       +[]() -> int64_t { return (static_cast<int64_t>(::time(nullptr)) - 946'684'800 - 7200) * 1'000'000; };
   setWallClock(behind);
   {
      S3Store late(S3Location::parse(server.url("p")), anybody, eager());
      CATCH_CHECK(late.put("x", "1"));
      CATCH_CHECK(late.get("x") == "1");
   }
   setWallClock(nullptr);
}

CATCH_TEST_CASE("credentials of a role are fetched and renewed") {
   const ObjectServer server({"--instance-role", "worker", "--role-seconds", "3600"});
   const std::string service = "http://127.0.0.1:" + std::to_string(server.port());
   for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"})
      ::unsetenv(name);
   ::setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent", 1);
   ::setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.c_str(), 1);
   const auto use = [&] {
      std::atomic<int> fetched{0};
      const auto source = [&] {
         ++fetched;
         return findCredentials();
      };
      S3Store store(S3Location::parse(server.url()), source, eager());
      CATCH_CHECK(store.put("x", "1"));
      server.set("expire_after=10");
      for (int i = 0; i < 30; ++i) {
         CATCH_CHECK(store.get("x") == "1");
         CATCH_CHECK(store.tag("x").has_value());
      }
      CATCH_CHECK(fetched >= 3);
      server.set("expire_after=0");
   };
   use();
   ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", (service + "/_credentials").c_str(), 1);
   use();
   for (const char* name : {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_EC2_METADATA_SERVICE_ENDPOINT"})
      ::unsetenv(name);
   ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
   CATCH_CHECK(failureOf([] { findCredentials(); }).starts_with("42501"));
   ::unsetenv("AWS_EC2_METADATA_DISABLED");
   ::unsetenv("AWS_SHARED_CREDENTIALS_FILE");
}

CATCH_TEST_CASE("TLS trusts whom it should") {
   const std::string certificate =
       (std::filesystem::temp_directory_path() / ("ouzel-certificate-" + std::to_string(::getpid()))).string();
   const ObjectServer server({"--tls", certificate});
   {
      S3Store store(S3Location::parse(server.url("", "https")), anybody, eager());
      const std::string failure = failureOf([&] { store.get("x"); });
      CATCH_CHECK(failure.starts_with("58030"));
      CATCH_CHECK(failure.find("certificate verify failed") != std::string::npos);
   }
   ::setenv("AWS_CA_BUNDLE", certificate.c_str(), 1);
   {
      const std::string content = pattern((20 << 20) + 3);
      for (const SocketRing::Backend backend : {SocketRing::Backend::Automatic, SocketRing::Backend::Poll}) {
         RetrieverOptions options = eager();
         options.backend = backend;
         S3Store store(S3Location::parse(server.url("", "https")), anybody, options);
         CATCH_CHECK(store.put("x", content));
         CATCH_CHECK((readInPieces(*store.open("x", content.size()), 1 << 20) == content));
      }
   }
   ::unsetenv("AWS_CA_BUNDLE");
   std::filesystem::remove(certificate);
}

CATCH_TEST_CASE("a cancelled read does not touch its buffer any more") {
   const ObjectServer server;
   RetrieverOptions options;
   options.hedge = false;
   S3Store store(S3Location::parse(server.url()), anybody, options);
   const std::string content = pattern(40 << 20);
   CATCH_REQUIRE(store.put("x", content));
   const auto reader = store.open("x", content.size());
   for (const char* fault :
        {"stall_header=1&stall_ms=3000", "stall_header=0&stall_body=1", "stall_body=0&ms_per_mib=20"}) {
      server.set(fault);
      std::string target(content.size(), '\0');
      std::atomic<int> calls{0};
      auto read = reader->readAsync(0, target.size(), target.data(), [&](std::exception_ptr) { ++calls; });
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      CATCH_CHECK(secondsOf([&] { read->cancel(); }) < 1);
      CATCH_CHECK(calls == 0);
      std::fill(target.begin(), target.end(), 'u');
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      CATCH_CHECK(std::all_of(target.begin(), target.end(), [](char c) { return c == 'u'; }));
      read->cancel(); // a second cancel has no effect
   }
   server.set("ms_per_mib=0");
   // Cancels many reads at once, some of which have just ended.
   for (int round = 0; round < 30; ++round) {
      std::string target(4 << 20, '\0');
      std::atomic<int> calls{0};
      std::vector<std::unique_ptr<PendingRead>> reads;
      for (size_t i = 0; i < 32; ++i)
         reads.push_back(
             reader->readAsync(i << 17, 128 << 10, target.data() + (i << 17), [&](std::exception_ptr) { ++calls; }));
      std::this_thread::sleep_for(std::chrono::microseconds(round * 200));
      for (const auto& read : reads)
         read->cancel();
      CATCH_CHECK(calls <= 32);
   }
   CATCH_CHECK(store.statistics()->queued == 0);
}

CATCH_TEST_CASE("what is under way when the store goes ends with it") {
   const ObjectServer server;
   std::atomic<int> failed{0};
   std::string target(1 << 20, '\0');
   {
      S3Store store(S3Location::parse(server.url()), anybody, {});
      CATCH_REQUIRE(store.put("x", target));
      server.set("stall_header=1&stall_ms=3000");
      const auto reader = store.open("x", target.size());
      for (size_t i = 0; i < 8; ++i)
         reader->readAsync(i << 17, 128 << 10, target.data() + (i << 17),
                           [&](std::exception_ptr error) { failed += error != nullptr; });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
   }
   CATCH_CHECK(failed == 8);
}
