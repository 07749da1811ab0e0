#include "io/http/response.hpp"

#include <catch2/catch.hpp>

using namespace ouzel::io;

namespace {

HttpParse parse(std::string_view text, HttpHead& head) {
   size_t size = 0;
   const HttpParse result = parseHttpHead(text, head, size);
   if (result == HttpParse::Complete) CATCH_CHECK(size <= text.size());
   return result;
}

/// Decodes a chunked body in pieces of `step` bytes; none when it is not a complete chunked body.
std::optional<std::string> dechunk(std::string_view text, size_t step, size_t sizeMax = 1000) {
   ChunkDecoder decoder;
   std::string body;
   while (!text.empty()) {
      size_t consumed = 0;
      const HttpParse result = decoder.feed(text.substr(0, step), consumed, body, sizeMax);
      if (result == HttpParse::Invalid) return std::nullopt;
      if (result == HttpParse::Complete) return body;
      text.remove_prefix(consumed);
   }
   return std::nullopt;
}

} // namespace

CATCH_TEST_CASE("the head of a response, in pieces of any size") {
   const std::string text =
       "HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\nETag:  \"x\" \r\nX-Empty:\r\n\r\nbody";
   HttpHead head;
   for (size_t size = 0; size < text.size() - 4; ++size)
      CATCH_CHECK(parse(std::string_view(text).substr(0, size), head) == HttpParse::NeedMore);
   size_t headSize = 0;
   CATCH_REQUIRE(parseHttpHead(text, head, headSize) == HttpParse::Complete);
   CATCH_CHECK(headSize == text.size() - 4);
   CATCH_CHECK(head.status == 206);
   CATCH_CHECK(head.contentLength == 10);
   CATCH_CHECK(head.header("etag") == "\"x\"");
   CATCH_CHECK(head.header("x-empty") == "");
   CATCH_CHECK(head.isKeptAlive);
}

CATCH_TEST_CASE("which connections live on") {
   HttpHead head;
   CATCH_CHECK(parse("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: Foo, Close\r\n\r\n", head) ==
               HttpParse::Complete);
   CATCH_CHECK_FALSE(head.isKeptAlive);
   CATCH_CHECK(parse("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", head) == HttpParse::Complete);
   CATCH_CHECK_FALSE(head.isKeptAlive);
   CATCH_CHECK(parse("HTTP/1.1 200\r\n\r\n", head) == HttpParse::Complete); // the body ends with the connection
   CATCH_CHECK_FALSE(head.isKeptAlive);
   CATCH_CHECK(parse("HTTP/1.1 204 No Content\r\n\r\n", head) == HttpParse::Complete);
   CATCH_CHECK(head.isKeptAlive);
}

CATCH_TEST_CASE("heads that are refused") {
   HttpHead head;
   for (const char* bad :
        {"SSH-2.0-OpenSSH\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 999 OK\r\n\r\n",
         "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
         "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
         "HTTP/1.1 200 OK\r\n folded\r\n\r\n"})
      CATCH_CHECK(parse(bad, head) == HttpParse::Invalid);
   CATCH_CHECK(parse("HTTP/1.1 200 OK\r\nx: " + std::string(httpHeadSizeMax, 'x'), head) == HttpParse::Invalid);
   std::string many = "HTTP/1.1 200 OK\r\n";
   for (int i = 0; i < 500; ++i)
      many += "x: y\r\n";
   CATCH_CHECK(parse(many + "\r\n", head) == HttpParse::Invalid);
}

CATCH_TEST_CASE("chunked bodies, in pieces of any size") {
   const std::string text = "5\r\nhello\r\n6;ext=\"x\"\r\n world\r\n0\r\nTrailer: x\r\n\r\n";
   for (size_t step = 1; step <= text.size(); ++step)
      CATCH_CHECK(dechunk(text, step) == "hello world");
   CATCH_CHECK(dechunk("0\r\n\r\n", 3) == "");
   CATCH_CHECK(dechunk(text, 4, 10) == std::nullopt); // longer than allowed
   for (const char* bad : {"\r\n", "x\r\n", "5\r\nhello0\r\n\r\n", "5\nhello", "ffffffffffffffffff\r\n", "-1\r\n",
                           "5\r\nhello\r\n", "0\r\n"})
      CATCH_CHECK(dechunk(bad, 100) == std::nullopt);
   CATCH_CHECK(dechunk("0\r\n" + std::string(5000, 'x'), 100) == std::nullopt);
}

CATCH_TEST_CASE("ranges and numbers") {
   const auto range = parseContentRange("bytes 5-9/100");
   CATCH_REQUIRE(range);
   CATCH_CHECK((range->first == 5 && range->last == 9 && range->total == 100));
   for (const char* bad : {"", "bytes", "bytes 5-9", "bytes */100", "bytes 9-5/100", "bytes 5-100/100", "bytes 5-9/x"})
      CATCH_CHECK_FALSE(parseContentRange(bad));
   CATCH_CHECK_FALSE(parseUnsigned("99999999999999999999"));
}
