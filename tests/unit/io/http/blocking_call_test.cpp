#include "io/http/blocking_call.hpp"

#include <catch2/catch.hpp>

using namespace ouzel::io;

CATCH_TEST_CASE("addresses of services") {
   const auto plain = HttpCall::to("http://localhost:8080/a/b?c=d");
   CATCH_REQUIRE(plain);
   CATCH_CHECK(plain->host == "localhost");
   CATCH_CHECK(plain->port == 8080);
   CATCH_CHECK(plain->path == "/a/b?c=d");
   CATCH_CHECK_FALSE(plain->isEncrypted);
   CATCH_CHECK(plain->displayServer() == "http://localhost:8080");
   const auto encrypted = HttpCall::to("https://sts.eu-west-1.amazonaws.com");
   CATCH_REQUIRE(encrypted);
   CATCH_CHECK(encrypted->port == 443);
   CATCH_CHECK(encrypted->path == "/");
   CATCH_CHECK(encrypted->isEncrypted);
   CATCH_CHECK(encrypted->displayServer() == "https://sts.eu-west-1.amazonaws.com");
   const auto v6 = HttpCall::to("http://[fd00:ec2::23]/v1/credentials");
   CATCH_REQUIRE(v6);
   CATCH_CHECK(v6->host == "fd00:ec2::23");
   CATCH_CHECK(v6->port == 80);
   CATCH_CHECK(v6->displayServer() == "http://[fd00:ec2::23]");
   CATCH_CHECK(HttpCall::to("https://[::1]:8443")->displayServer() == "https://[::1]:8443");
   for (const char* bad : {"", "localhost", "ftp://x", "http:/x", "http://", "https:///path", "http://:80/",
                           "http://x:0/", "http://x:65536/", "http://x:/", "http://x:y/", "http://[::1", "http://[]/",
                           "http://[::1]8080/", "http://user@x/", "http://x?y", "http://x/a b", "http://x/\r\ny: z"})
      CATCH_CHECK_FALSE(HttpCall::to(bad));
}
