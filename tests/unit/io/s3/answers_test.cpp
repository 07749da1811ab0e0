#include "io/s3/answers.hpp"

#include <catch2/catch.hpp>

#include "io/s3/credentials.hpp"

using namespace ouzel::io;

CATCH_TEST_CASE("S3's answers in XML") {
   const auto error =
       parseS3Error("<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>a &lt;b&gt; &#x41;</Message>"
                    "<Region>eu-west-1</Region></Error>");
   CATCH_REQUIRE(error);
   CATCH_CHECK(error->code == "NoSuchKey");
   CATCH_CHECK(error->message == "a <b> A");
   CATCH_CHECK(error->region == "eu-west-1");

   const auto page = parseListPage(
       "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><Prefix/><EncodingType>url"
       "</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>abc=</NextContinuationToken>"
       "<Contents><Key>a%2Fb+c</Key><Size>7</Size><Owner><ID>x</ID></Owner></Contents>"
       "<Contents><Key>d</Key><Size>0</Size></Contents></ListBucketResult>");
   CATCH_REQUIRE(page);
   CATCH_REQUIRE(page->objects.size() == 2);
   CATCH_CHECK(page->objects[0].key == "a/b c");
   CATCH_CHECK(page->objects[0].size == 7);
   CATCH_CHECK(page->continuation == "abc=");

   CATCH_CHECK(parseUploadId("<InitiateMultipartUploadResult><Bucket>b</Bucket><UploadId>u</UploadId>"
                             "</InitiateMultipartUploadResult>") == "u");
   const auto failures = parseDeleteResult("<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>"
                                           "AccessDenied</Code><Message>no</Message></Error></DeleteResult>");
   CATCH_REQUIRE(failures);
   CATCH_REQUIRE(failures->size() == 1);
   CATCH_CHECK(failures->front().key == "b");
   CATCH_CHECK(escapeXml("a<&>\"b") == "a&lt;&amp;&gt;&quot;b");
}

CATCH_TEST_CASE("texts that are no such answers") {
   std::string deep;
   for (int i = 0; i < 100; ++i)
      deep += "<Error>";
   for (const std::string& bad :
        {std::string(), std::string("no xml"), std::string("<Error>"), std::string("<Error><Code>x</Error>"),
         std::string("<Error><Code>x</Code></Error><Error/>"), std::string("<Other><Code>x</Code></Other>"),
         std::string("<!DOCTYPE x [<!ENTITY a \"b\">]><Error><Code>&a;</Code></Error>"),
         std::string("<Error><Code>&#0;</Code></Error>"), std::string("<Error><Code>&nope;</Code></Error>"),
         std::string("<Error><Code>&#xffffff;</Code></Error>"), std::string("<Error><Code>x</Code><"),
         std::string("<!--"), std::string("</Error>"), deep})
      CATCH_CHECK_FALSE(parseS3Error(bad));
   CATCH_CHECK_FALSE(parseListPage("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"));
   CATCH_CHECK_FALSE(parseListPage("<ListBucketResult><Contents><Size>-1</Size></Contents></ListBucketResult>"));
}

CATCH_TEST_CASE("credentials in profiles and in the answers of metadata services") {
   const char* file =
       "# x\n[default]\naws_access_key_id = A\naws_secret_access_key=B=\n\n[other]\naws_access_key_id=C\r\n"
       "aws_secret_access_key = D\naws_session_token = E\n[half]\naws_access_key_id=F\n";
   CATCH_CHECK(parseProfile(file, "default") == Credentials{"A", "B=", "", 0});
   CATCH_CHECK(parseProfile(file, "other") == Credentials{"C", "D", "E", 0});
   CATCH_CHECK_FALSE(parseProfile(file, "half"));
   CATCH_CHECK_FALSE(parseProfile(file, "none"));
   CATCH_CHECK_FALSE(parseProfile("[", ""));
   const auto role =
       parseRoleCredentials("{\"Code\" : \"Success\",\n \"AccessKeyId\" : \"A\", \"SecretAccessKey\" : \"B\\/c\","
                            "\"Token\":\"T\", \"Expiration\" : \"2013-05-24T00:00:00Z\"}");
   CATCH_CHECK(role == Credentials{"A", "B/c", "T", 1369353600});
   for (const char* bad : {"", "{}", "{\"AccessKeyId\":\"A\"}", "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B",
                           "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Expiration\":\"soon\"}"})
      CATCH_CHECK_FALSE(parseRoleCredentials(bad));
}
