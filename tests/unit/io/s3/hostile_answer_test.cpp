#include <catch2/catch.hpp>

#include "common/error/sql_error.hpp"
#include "io/s3/s3_store.hpp"
#include "tests/unit/io/s3/client.hpp"
#include "tests/unit/io/s3/parrot.hpp"

// Answers that no store gives. Each must soon end in an error and must not change memory beyond the target.

using namespace ouzel;
using namespace ouzel::io;

CATCH_TEST_CASE("answers no store gives end in an error") {
   RetrieverOptions options;
   options.firstByteTimeoutMs = options.progressTimeoutMs = 500;
   options.attemptsMax = 2;
   options.backoffMs = 1;
   const std::string good = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/100\r\n";
   for (const std::string& answer :
        {std::string(), std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string(20'000, 'x'),
         "HTTP/1.1 200 OK\r\nx: " + std::string(100'000, 'x'), good + "Content-Length: 10\r\n\r\n12345",
         good + "Content-Length: 99\r\n\r\n1234567890", good + "Content-Length: 10\r\n\r\n123456789012345",
         good + "Content-Length: 99999999999999\r\n\r\n", good + "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
         good + "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n",
         good + "Transfer-Encoding: chunked\r\n\r\n10\r\n1234567890123456\r\n0\r\n\r\n",
         std::string(
             "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-14/100\r\nContent-Length: 10\r\n\r\n1234567890"),
         std::string("HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\n1234567890"),
         std::string("HTTP/1.1 204 No Content\r\n\r\n"), std::string("HTTP/1.1 304 Not Modified\r\n\r\n"),
         std::string("HTTP/1.1 301 Moved\r\nLocation: http://evil/\r\nContent-Length: 0\r\n\r\n"),
         std::string("HTTP/1.1 301 Moved\r\nx-amz-bucket-region: ../evil\r\nContent-Length: 0\r\n\r\n"),
         std::string("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")}) {
      const Parrot parrot(answer);
      S3Store store(
          S3Location::parse("s3://bucket/p?endpoint=" + parrot.address()),
          [] {
             return Credentials{"a", "b", "", 0};
          },
          options);
      std::string target(64, 'u');
      CATCH_CHECK(failureOf([&] { store.open("x", 100)->read(0, 10, target.data()); }).starts_with("58030"));
      CATCH_CHECK(target.substr(10) == std::string(54, 'u'));
      CATCH_CHECK(failureOf([&] { store.list("", 10); }).starts_with("58030"));
   }
   // An unusual but correct answer.
   const Parrot parrot(good + "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n5\r\n67890\r\n0\r\n\r\n");
   S3Store store(
       S3Location::parse("s3://bucket/p?endpoint=" + parrot.address()),
       [] {
          return Credentials{"a", "b", "", 0};
       },
       options);
   std::string target(10, 'u');
   store.open("x", 100)->read(0, 10, target.data());
   CATCH_CHECK(target == "1234567890");
}
