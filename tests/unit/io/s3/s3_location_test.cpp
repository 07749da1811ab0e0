#include "io/s3/s3_location.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "common/error/sql_error.hpp"

using namespace ouzel;
using namespace ouzel::io;

namespace {
/// The error message; empty when the address is accepted.
std::string refusal(const std::string& url) {
   try {
      S3Location::parse(url);
      return "";
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::invalidParameterValue);
      return error.what();
   }
}
} // namespace

CATCH_TEST_CASE("an address of AWS") {
   const S3Location at = S3Location::parse("s3://bucket/some/prefix?region=eu-west-1");
   CATCH_CHECK(at.isEncrypted);
   CATCH_CHECK(at.hostHeader() == "bucket.s3.eu-west-1.amazonaws.com");
   CATCH_CHECK(at.pathOf("a b/c+d") == "/some/prefix/a%20b/c%2Bd");
   CATCH_CHECK(at.pathOf("") == "/");
   CATCH_CHECK(at.display("x") == "s3://bucket/some/prefix/x");
   CATCH_CHECK(at.inRegion("us-west-2").hostHeader() == "bucket.s3.us-west-2.amazonaws.com");
   CATCH_CHECK(S3Location::parse("s3://my.bucket?region=eu-west-1").hostHeader() == "s3.eu-west-1.amazonaws.com");
   CATCH_CHECK(S3Location::parse("s3://my.bucket/?region=eu-west-1").pathOf("x") == "/my.bucket/x");
}

CATCH_TEST_CASE("an address with an endpoint of its own") {
   const S3Location at = S3Location::parse("s3://bucket/p/?endpoint=http://127.0.0.1:9000&region=us-east-1");
   CATCH_CHECK_FALSE(at.isEncrypted);
   CATCH_CHECK(at.port == 9000);
   CATCH_CHECK(at.hostHeader() == "127.0.0.1:9000");
   CATCH_CHECK(at.pathOf("x") == "/bucket/p/x");
   CATCH_CHECK(at.inRegion("eu-west-1").hostHeader() == "127.0.0.1:9000");
   CATCH_CHECK(S3Location::parse("s3://bucket?endpoint=https://Store.Example").hostHeader() == "store.example");
   CATCH_CHECK(S3Location::parse("s3://bucket?endpoint=https%3A%2F%2Fs.example%3A8443%2F").displayEndpoint() ==
               "https://s.example:8443");
   CATCH_CHECK(S3Location::parse("s3://bucket?endpoint=http://s.example&path_style=false").hostHeader() ==
               "bucket.s.example");
   CATCH_CHECK(S3Location::parse("s3://bucket?endpoint=http://[::1]:81").hostHeader() == "[::1]:81");
}

CATCH_TEST_CASE("addresses that are refused say why") {
   for (const char* bad : {"",
                           "s3:/bucket",
                           "http://bucket",
                           "s3://",
                           "s3:///x",
                           "s3://b",
                           "s3://Bucket",
                           "s3://buc_ket",
                           "s3://bucket//x",
                           "s3://bucket/a//b",
                           "s3://bucket/a%0ab",
                           "s3://bucket/a%g0",
                           "s3://bucket?region=Eu",
                           "s3://bucket?region=a/b",
                           "s3://bucket?endpoint=store:80",
                           "s3://bucket?endpoint=ftp://store",
                           "s3://bucket?endpoint=http://",
                           "s3://bucket?endpoint=http://store:0",
                           "s3://bucket?endpoint=http://store:x",
                           "s3://bucket?endpoint=http://store:99999",
                           "s3://bucket?endpoint=http://a/b",
                           "s3://bucket?endpoint=http://[::1",
                           "s3://bucket?endpoint=http://a%0d%0ab",
                           "s3://bucket?path_style=1",
                           "s3://bucket?frob=1"})
      CATCH_CHECK(refusal(bad) != "");
   for (const char* secret :
        {"s3://KEY:SECRET@bucket/x", "s3://bucket?access_key=topsecret", "s3://bucket?token=topsecret"}) {
      CATCH_CHECK(refusal(secret).find("secrets do not belong") != std::string::npos);
      CATCH_CHECK(refusal(secret).find("topsecret") == std::string::npos);
   }
}
