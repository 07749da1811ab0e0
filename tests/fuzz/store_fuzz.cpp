#include <cstdio>
#include <cstdlib>

#include "io/http/response.hpp"
#include "io/s3/answers.hpp"
#include "tests/fuzz/target.hpp"

// Input: answers of a hostile object store, STS or proxy: heads, chunked bodies and XML documents. The first byte tells
// where the bytes are cut into two receives.

namespace ouzel::fuzz {

bool isText() {
   return false;
}

bool isWellFormed(const std::string&) {
   return true;
}

std::vector<std::string> seeds() {
   const std::string ok = "HTTP/1.1 200 OK\r\n";
   return {'\x20' + ok + "Content-Length: 5\r\nETag: \"a\"\r\n\r\nhello",
           '\x40' + ok +
               "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n",
           "\x10HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/200\r\n"
           "Connection: close\r\n\r\n",
           "\x7fHTTP/1.0 307 Moved\r\nLocation: http://elsewhere/\r\nx-amz-bucket-region: eu-west-1\r\n\r\n"
           "<Error><Code>TemporaryRedirect</Code><Message>a &amp; b</Message><Region>eu-west-1</Region></Error>",
           "\x01<?xml version=\"1.0\"?><!-- c --><ListBucketResult xmlns=\"u\"><IsTruncated>true</IsTruncated>"
           "<NextContinuationToken>t</NextContinuationToken><EncodingType>url</EncodingType><Contents>"
           "<Key>a%20b&#65;&lt;</Key><Size>12</Size></Contents><CommonPrefixes/></ListBucketResult>",
           "\x02<InitiateMultipartUploadResult><UploadId>u&#x41;</UploadId></InitiateMultipartUploadResult>",
           "\x03<CompleteMultipartUploadResult><ETag>&quot;e&quot;</ETag></CompleteMultipartUploadResult>",
           "\x04<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code><Message>m</Message></Error></DeleteResult>",
           "\x05<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>i</UploadId></Upload>"
           "</ListMultipartUploadsResult>",
           "\x07<AssumeRoleWithWebIdentityResponse xmlns=\"u\"><AssumeRoleWithWebIdentityResult><Credentials>"
           "<AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>"
           "<Expiration>2026-01-02T03:04:05Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
           "</AssumeRoleWithWebIdentityResponse>",
           "\x08<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>m</Message></Error>"
           "</ErrorResponse>",
           "\x06<Error><Code>RequestTimeTooSkewed</Code><ServerTime>2026-01-02T03:04:05Z</ServerTime></Error>"};
}

namespace {

constexpr size_t bodySizeMax = 1 << 16;

void require(bool holds, const char* what) {
   if (holds) return;
   std::fprintf(stderr, "broken: %s\n", what);
   std::abort();
}

/// Checks that bytes in two parts decode to the same result as all bytes at once.
void decodeChunks(std::string_view bytes, size_t cut) {
   io::ChunkDecoder whole, parts;
   std::string body, joined;
   size_t consumed = 0, first = 0, second = 0;
   const io::HttpParse result = whole.feed(bytes, consumed, body, bodySizeMax);
   require(consumed <= bytes.size() && body.size() <= bodySizeMax, "a chunked body is bounded");
   io::HttpParse again = parts.feed(bytes.substr(0, cut), first, joined, bodySizeMax);
   if (again == io::HttpParse::NeedMore) again = parts.feed(bytes.substr(cut), second, joined, bodySizeMax);
   require(again == result, "chunks in parts end as at once");
   if (result != io::HttpParse::Invalid) require(joined == body, "chunks in parts give the same body");
   if (result == io::HttpParse::Complete) require(first + second == consumed, "chunks in parts take the same bytes");
}

void readXml(std::string_view text) {
   io::parseS3Error(text);
   io::parseListPage(text);
   io::parseUploadId(text);
   io::parseCompletedTag(text);
   io::parseDeleteResult(text);
   io::parseUploads(text);
   io::parseStsError(text);
   if (const auto role = io::parseAssumedRole(text))
      require(role->sessionToken.find_first_of("\r\n") == std::string::npos, "a session token stays in its header");
}

} // namespace

} // namespace ouzel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   using namespace ouzel;
   if (size == 0) return 0;
   const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
   const size_t cut = bytes.size() * data[0] / 256;
   io::HttpHead head, early;
   size_t headSize = 0, earlySize = 0;
   const io::HttpParse result = io::parseHttpHead(bytes, head, headSize);
   const io::HttpParse part = io::parseHttpHead(std::string_view(bytes).substr(0, cut), early, earlySize);
   if (part == io::HttpParse::Complete)
      fuzz::require(result == part && earlySize == headSize, "a whole head stays whole");
   std::string_view body = bytes;
   if (result == io::HttpParse::Complete) {
      fuzz::require(headSize <= bytes.size() && headSize <= io::httpHeadSizeMax, "a head is bounded");
      io::parseContentRange(head.header("content-range"));
      body = body.substr(headSize);
   }
   fuzz::decodeChunks(body, body.size() * data[0] / 256);
   fuzz::readXml(body);
   return 0;
}
