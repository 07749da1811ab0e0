#include "protocol/session.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel;
using namespace ouzel::protocol;
using namespace ouzel::protocol::test;

namespace {

constexpr const char* drainError = "E ERROR 22012 division by zero D:none H:Do not.\n";
constexpr const char* columnN = "T n 0.0 type 23 4 -1 format 0\n";

} // namespace

CATCH_TEST_CASE("start-up without a password reports settings and the cancel key") {
   Conversation c;
   CATCH_CHECK(c.connect() == "R 0\nS server_version=15.0\nS client_encoding=UTF8\nK 7 9\nZ I\n");
   CATCH_CHECK(c.session.request().database == "postgres");
   CATCH_CHECK(c.say(message('X', "")) == "");
   CATCH_CHECK(c.last == Session::Next::Close);
}

CATCH_TEST_CASE("encryption requests are answered with one byte") {
   Conversation c;
   CATCH_CHECK(c.sayRaw(int32(8) + int32(80877104)) == "N");
   CATCH_CHECK(c.sayRaw(int32(8) + int32(80877103)) == "N");
   CATCH_CHECK(c.connect().ends_with("Z I\n"));
   Conversation tls({true, {1, 2}, ""});
   CATCH_CHECK(tls.sayRaw(int32(8) + int32(80877103)) == "S");
   CATCH_CHECK(tls.last == Session::Next::StartTls);
   Conversation twice;
   CATCH_CHECK(twice.sayRaw(int32(8) + int32(80877103)) == "N");
   CATCH_CHECK(twice.say(int32(8) + int32(80877103)) == "E FATAL 08P01 encryption was requested twice\n");
}

CATCH_TEST_CASE("what is wrong with a first packet is fatal") {
   const auto answer = [](const std::string& bytes) {
      Conversation c;
      auto text = c.say(bytes);
      if (c.last != Session::Next::Close) text += "(open)";
      return text;
   };
   CATCH_CHECK(answer("GET / HTTP/1.1\r\n\r\n") == "E FATAL 08P01 invalid length of startup packet\n");
   CATCH_CHECK(answer(int32(10001)) == "E FATAL 08P01 invalid length of startup packet\n");
   CATCH_CHECK(answer(int32(7)) == "E FATAL 08P01 invalid length of startup packet\n");
   CATCH_CHECK(answer(int32(-1)) == "E FATAL 08P01 invalid length of startup packet\n");
   CATCH_CHECK(answer(startupPacket({{"user", "u"}}, 131072)) ==
               "E FATAL 0A000 unsupported frontend protocol 2.0: server supports 3.0 to 3.0\n");
   CATCH_CHECK(answer(startupPacket({{"database", "d"}})) ==
               "E FATAL 28000 no PostgreSQL user name specified in startup packet\n");
   CATCH_CHECK(answer(startupPacket({{"user", "u"}, {"database", "nowhere"}})) ==
               "R 0\nE FATAL 3D000 database \"nowhere\" does not exist\n");
   // A long name is cut at a character's begin: 62 bytes, and two of an accented letter.
   CATCH_CHECK(answer(startupPacket({{"user", "u"}, {"database", "nowhere" + std::string(55, 'x') + "\u00e9"}})) ==
               "R 0\nE FATAL 3D000 database \"nowhere" + std::string(55, 'x') + "\" does not exist\n");
   CATCH_CHECK(answer(startupPacket({{"user", "u\xff"}})) ==
               "E FATAL 22021 invalid byte sequence for encoding \"UTF8\": 0xff\n");
   CATCH_CHECK(answer(startupPacket({{"user", "u"}, {"options", "-x"}})) ==
               "E FATAL 42601 invalid command-line argument for server process: -x\n");
   const std::string unterminated = int32(196608) + cstring("user") + cstring("u");
   CATCH_CHECK(answer(int32(static_cast<int64_t>(unterminated.size()) + 4) + unterminated) ==
               "E FATAL 08P01 invalid startup packet layout: expected terminator as last byte\n");
}

CATCH_TEST_CASE("a newer minor version and unknown protocol options are negotiated down") {
   Conversation c;
   const auto answer = c.say(startupPacket({{"user", "u"}, {"_pq_.future", "1"}}, 196608 + 2));
   CATCH_CHECK(answer.starts_with("v 196608 _pq_.future\nR 0\n"));
}

CATCH_TEST_CASE("options and settings of the startup packet reach the backend in order") {
   Conversation c;
   c.say(startupPacket(
       {{"user", "u"}, {"DateStyle", "ISO"}, {"options", "-c work_mem=1MB --search-path=a\\ b -cgeqo=off"}}));
   const std::vector<std::pair<std::string, std::string>> expected = {
       {"work_mem", "1MB"}, {"search_path", "a b"}, {"geqo", "off"}, {"DateStyle", "ISO"}};
   CATCH_CHECK(c.session.request().settings == expected);
}

CATCH_TEST_CASE("a cancel request is passed on and closes without an answer") {
   Conversation c;
   CATCH_CHECK(c.say(int32(16) + int32(80877102) + int32(42) + int32(4711)) == "");
   CATCH_CHECK(c.last == Session::Next::Close);
   CATCH_REQUIRE(c.doorkeeper.cancelled.size() == 1);
   CATCH_CHECK(c.doorkeeper.cancelled[0].processId == 42);
   CATCH_CHECK(c.doorkeeper.cancelled[0].secret == 4711);
}

CATCH_TEST_CASE("simple query: the exact bytes") {
   Conversation c;
   c.connect();
   const std::string expected =
       message('T', int16(1) + cstring("n") + int32(0) + int16(0) + int32(23) + int16(4) + int32(-1) + int16(0)) +
       message('D', int16(1) + int32(1) + "1") + message('C', cstring("SELECT 1")) + message('Z', "I");
   CATCH_CHECK(c.sayRaw(query("rows 1")) == expected);
}

CATCH_TEST_CASE("simple query: several statements, an empty one, an error in the middle") {
   Conversation c;
   c.connect();
   CATCH_CHECK(c.say(query("rows 0; rows 2")) ==
               std::string(columnN) + "C SELECT 0\n" + columnN + "D 1\nD 2\nC SELECT 2\nZ I\n");
   CATCH_CHECK(c.say(query("")) == "I\nZ I\n");
   CATCH_CHECK(c.say(query(" ; ;")) == "I\nZ I\n");
   CATCH_CHECK(c.say(query("rows 0; fail; rows 1")) == std::string(columnN) + "C SELECT 0\n" + drainError + "Z I\n");
   CATCH_CHECK(c.say(query("rows 0; syntax")) == "E ERROR 42601 syntax error at or near \"syntax\" P:3\nZ I\n");
   CATCH_CHECK(c.say(query("crash")) == "E ERROR XX000 no SqlError\nZ I\n");
   CATCH_CHECK(c.say(query("rows \xff")) == "E ERROR 22021 invalid byte sequence for encoding \"UTF8\": 0xff\nZ I\n");
   CATCH_CHECK(c.say(message('Q', "unterminated")) == "E ERROR 08P01 invalid string in message\nZ I\n");
   CATCH_CHECK(c.say(message('Q', cstring("a") + "junk")) == "E ERROR 08P01 invalid message format\nZ I\n");
}

CATCH_TEST_CASE("ReadyForQuery tells the transaction's state; changed settings come before it") {
   Conversation c;
   c.connect();
   CATCH_CHECK(c.say(query("begin")) == "C begin\nZ T\n");
   CATCH_CHECK(c.say(query("fail")) == std::string(drainError) + "Z E\n");
   CATCH_CHECK(c.say(query("commit")) == "C commit\nZ I\n");
   CATCH_CHECK(c.say(query("set")) == "C set\nS DateStyle=German\nZ I\n");
   CATCH_CHECK(c.say(query("notice")) == "N WARNING 01000 careful\nC notice\nZ I\n");
}

CATCH_TEST_CASE("extended query, pipelined, with a parameter and a binary result") {
   Conversation c;
   c.connect();
   CATCH_CHECK(c.say(parse("s", "echo") + describe('S', "s") + bind("", "s", {"hello"}) + describe('P', "") +
                     execute("") + syncMessage()) ==
               "1\nt 25\nT echo 16400.2 type 25 -1 -1 format 0\n2\nT echo 16400.2 type 25 -1 -1 format 0\n"
               "D hello\nC SELECT 1\nZ I\n");
   CATCH_CHECK(c.say(parse("", "rows 1") + bind("", "", {}, {1}) + describe('P', "") + execute("") + syncMessage()) ==
               "1\n2\nT n 0.0 type 23 4 -1 format 1\nD " + int32(1) + "\nC SELECT 1\nZ I\n");
   CATCH_CHECK(c.say(parse("", "begin") + describe('S', "") + bind("", "") + describe('P', "") + execute("") +
                     syncMessage()) == "1\nt\nn\n2\nn\nC begin\nZ T\n");
   CATCH_CHECK(c.say(parse("", "") + bind("", "") + execute("") + syncMessage()) == "1\n2\nI\nZ T\n");
}

CATCH_TEST_CASE("a portal with a row limit is suspended and goes on until Sync") {
   Conversation c;
   c.connect();
   CATCH_CHECK(c.say(parse("", "rows 5") + bind("p", "") + execute("p", 2) + execute("p", 2)) == "");
   CATCH_CHECK(c.say(message('H', "")) == "1\n2\nD 1\nD 2\ns\nD 3\nD 4\ns\n");
   CATCH_CHECK(c.say(execute("p", 2) + syncMessage()) == "D 5\nC SELECT 1\nZ I\n");
   CATCH_CHECK(c.say(execute("p", 2) + syncMessage()) == "E ERROR 34000 portal \"p\" does not exist\nZ I\n");
}

CATCH_TEST_CASE("after an error in extended mode everything up to Sync is ignored") {
   Conversation c;
   c.connect();
   CATCH_CHECK(c.say(parse("", "fail") + bind("", "") + execute("") + parse("", "rows 1") + query("rows 1") +
                     message('H', "") + describe('P', "nosuch")) == "1\n2\n" + std::string(drainError));
   CATCH_CHECK(c.say(syncMessage()) == "Z I\n");
   CATCH_CHECK(c.say(query("rows 0")) == std::string(columnN) + "C SELECT 0\nZ I\n");
   CATCH_CHECK(c.say(bind("", "nosuch") + syncMessage()) ==
               "E ERROR 26000 prepared statement \"nosuch\" does not exist\nZ I\n");
   CATCH_CHECK(c.say(message('C', "Xa" + std::string(1, '\0')) + syncMessage()) ==
               "E ERROR 08P01 invalid CLOSE message subtype 88\nZ I\n");
   CATCH_CHECK(c.say(message('C', cstring("Snothing")) + syncMessage()) == "3\nZ I\n");
}

CATCH_TEST_CASE("Bind checks counts, formats and encodings") {
   Conversation c;
   c.connect();
   c.say(parse("e", "echo") + syncMessage());
   CATCH_CHECK(c.say(bind("", "e") + syncMessage()) ==
               "E ERROR 08P01 bind message supplies 0 parameters, but prepared statement \"e\" requires 1\nZ I\n");
   CATCH_CHECK(c.say(bind("", "e", {"x"}, {0, 0}) + syncMessage()) ==
               "E ERROR 08P01 bind message has 2 result formats but query has 1 columns\nZ I\n");
   CATCH_CHECK(c.say(bind("", "e", {"x"}, {7}) + syncMessage()) == "E ERROR 22023 unsupported format code: 7\nZ I\n");
   CATCH_CHECK(c.say(bind("", "e", {"\xc3\x28"}) + syncMessage()) ==
               "E ERROR 22021 invalid byte sequence for encoding \"UTF8\": 0xc3 0x28\nZ I\n");
   CATCH_CHECK(c.say(message('B', cstring("") + cstring("e") + int16(-1)) + syncMessage()) ==
               "E ERROR 08P01 insufficient data left in message\nZ I\n");
}

CATCH_TEST_CASE("COPY in: pieces, failure, left-overs, and messages that do not belong") {
   Conversation c;
   c.connect();
   const auto copyData = [](const std::string& text) { return message('d', text); };
   CATCH_CHECK(c.say(query("copyin") + copyData("1\t2\n") + copyData("3") + message('c', "")) ==
               "G 0 2\nC COPY 5/2\nZ I\n");
   CATCH_CHECK(c.say(query("copyin") + copyData("1") + message('f', cstring("no more"))) ==
               "G 0 2\nE ERROR 57014 COPY from stdin failed: no more\nZ I\n");
   CATCH_CHECK(c.say(copyData("left-over") + message('c', "")) == "");
   CATCH_CHECK(c.say(query("copyin") + query("rows 1")) ==
               "G 0 2\nE ERROR 08P01 unexpected message type 0x51 during COPY from stdin\nZ I\n");
   CATCH_CHECK(c.say(parse("", "copyin") + bind("", "") + execute("") + message('H', "") + copyData("abc") +
                     message('c', "") + syncMessage()) == "1\n2\nG 0 2\nC COPY 3/1\nZ I\n");
   CATCH_CHECK(c.say(query("copyout")) == "H 0 1\nd a\n\nd bc\n\nc\nC COPY 2\nZ I\n");
   c.say(query("copyin") + copyData("1"));
   CATCH_CHECK(c.last == Session::Next::Close); // the stream ended inside COPY
}

CATCH_TEST_CASE("function calls are refused, garbage is fatal, shutdown too") {
   Conversation c;
   c.connect();
   CATCH_CHECK(c.say(message('F', int32(1) + int16(0) + int16(0) + int16(0))) ==
               "E ERROR 0A000 the function call message is not supported\nZ I\n"); // by the made-up database
   CATCH_CHECK(c.say(message('F', "what")) == "E ERROR 08P01 insufficient data left in message\nZ I\n");
   CATCH_CHECK(c.say("\x01") == "E FATAL 08P01 invalid frontend message type 1\n");
   CATCH_CHECK(c.last == Session::Next::Close);
   Conversation oversized;
   oversized.connect();
   CATCH_CHECK(oversized.say("S" + int32(20'000)) == "E FATAL 08P01 invalid message length\n");
   Conversation negative;
   negative.connect();
   CATCH_CHECK(negative.say("Q" + int32(-5)) == "E FATAL 08P01 invalid message length\n");
   Conversation shutdown;
   shutdown.connect();
   CATCH_CHECK(shutdown.say(query("shutdown")) ==
               "E FATAL 57P01 terminating connection due to administrator command\n");
   CATCH_CHECK(shutdown.last == Session::Next::Close);
}

CATCH_TEST_CASE("a client that is gone ends the session in the middle of a result") {
   Conversation c;
   c.connect();
   c.clientGone = true;
   c.say(query("rows 100000"));
   CATCH_CHECK(c.last == Session::Next::Close);
}

CATCH_TEST_CASE("messages may arrive byte by byte") {
   Conversation c;
   std::string all = startupPacket({{"user", "u"}}) + query("rows 2") + parse("", "rows 1") + bind("", "") +
                     execute("") + syncMessage(),
               answer;
   for (const char byte : all)
      answer += c.say(std::string(1, byte));
   CATCH_CHECK(
       answer.ends_with(std::string("Z I\n") + columnN + "D 1\nD 2\nC SELECT 2\nZ I\n1\n2\nD 1\nC SELECT 1\nZ I\n"));
}
