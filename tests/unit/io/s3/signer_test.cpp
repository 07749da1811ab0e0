#include "io/s3/signer.hpp"

#include <catch2/catch.hpp>

using namespace ouzel::io;

namespace {

const Credentials example{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "", 0};
const std::string emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string signatureOf(SignableRequest request, const HttpHeaders& headers, const Credentials& credentials = example) {
   request.headers = &headers;
   const std::string value = authorizationHeader(request, credentials);
   return value.substr(value.find("Signature=") + 10);
}

SignableRequest at2013(std::string_view method, std::string_view path, std::string_view query, std::string_view hash) {
   return {method, path, query, nullptr, hash, "20130524T000000Z", "us-east-1"};
}

} // namespace

// "Examples: Signature Calculations" of the S3 API reference, sigv4-header-based-auth.
CATCH_TEST_CASE("signatures are those of AWS's examples") {
   const std::string host = "examplebucket.s3.amazonaws.com", date = "20130524T000000Z";
   CATCH_CHECK(
       signatureOf(
           at2013("GET", "/test.txt", "", emptyHash),
           {{"host", host}, {"range", "bytes=0-9"}, {"x-amz-content-sha256", emptyHash}, {"x-amz-date", date}}) ==
       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
   const std::string hash = sha256Hex({"Welcome to ", "Amazon S3."});
   CATCH_CHECK(
       signatureOf(at2013("PUT", "/test%24file.text", "", hash), {{"x-amz-date", date},
                                                                  {"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                                                  {"host", host},
                                                                  {"x-amz-content-sha256", hash},
                                                                  {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}) ==
       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
   const HttpHeaders plain{{"host", host}, {"x-amz-content-sha256", emptyHash}, {"x-amz-date", date}};
   CATCH_CHECK(signatureOf(at2013("GET", "/", "lifecycle=", emptyHash), plain) ==
               "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
   CATCH_CHECK(signatureOf(at2013("GET", "/", "max-keys=2&prefix=J", emptyHash), plain) ==
               "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

// get-vanilla of AWS's SigV4 test suite.
CATCH_TEST_CASE("signatures are those of AWS's test suite") {
   const Credentials credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "", 0};
   SignableRequest request{"GET", "/", "", nullptr, emptyHash, "20150830T123600Z", "us-east-1", "service"};
   CATCH_CHECK(signatureOf(request, {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
                           credentials) == "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

CATCH_TEST_CASE("times of protocols on the web") {
   CATCH_CHECK(signingTime(1369353600) == "20130524T000000Z");
   CATCH_CHECK(parseHttpDate("Fri, 24 May 2013 00:00:01 GMT") == 1369353601);
   CATCH_CHECK(parseIsoTime("2013-05-24T00:01:00Z") == 1369353660);
   CATCH_CHECK(parseIsoTime("2013-05-24T00:01:00.123Z") == 1369353660);
   for (const char* bad : {"", "Fri", "Fri, 24 Mai 2013 00:00:01 GMT", "Fri, 99 May 2013 00:00:01 GMT", "1369353601"})
      CATCH_CHECK(parseHttpDate(bad) == -1);
   CATCH_CHECK(parseIsoTime("2013-13-24T00:01:00Z") == -1);
   CATCH_CHECK(base64("any carnal pleas") == "YW55IGNhcm5hbCBwbGVhcw==");
}
