#include "io/spill/resp_connection.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/socket.h>
#include <thread>

using namespace ouzel::io;

namespace {

/// Accepts one connection, answers its PING, reads the commands that follow, and sends the bytes in pieces.
class ScriptedServer {
public:
   ScriptedServer(std::string script, size_t piece)
      : listening_(listenTcp("127.0.0.1", 0)),
        thread_([this, script = std::move(script), piece] { run(script, piece); }) {}
   ~ScriptedServer() { thread_.join(); }
   MemoryAddress address() const {
      return MemoryAddress::parse("memory://127.0.0.1:" + std::to_string(listening_.front().port));
   }

private:
   void run(const std::string& script, size_t piece) {
      FileDescriptor socket;
      PeerAddress peer;
      while (acceptConnection(listening_.front().socket, socket, peer) != AcceptStatus::Accepted)
         waitReadable(listening_.front().socket.get(), 1000);
      const auto receive = [&] {
         char some[4096];
         waitReadable(socket.get(), 1000);
         return ::recv(socket.get(), some, sizeof some, 0);
      };
      receive();
      ::send(socket.get(), "+PONG\r\n", 7, MSG_NOSIGNAL);
      receive();
      for (size_t at = 0; at < script.size(); at += piece) {
         ::send(socket.get(), script.data() + at, std::min(piece, script.size() - at), MSG_NOSIGNAL);
         if (piece < 100) std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
   }

   std::vector<ListeningSocket> listening_;
   std::thread thread_;
};

} // namespace

CATCH_TEST_CASE("replies come back however they are cut", "[memory]") {
   const std::string large(100'000, 'L');
   const std::string script =
       "+OK\r\n$5\r\nhello\r\n:42\r\n$0\r\n\r\n$-1\r\n-ERR no\r\n$7\r\na\r\nb\r\nc\r\n$100000\r\n" + large + "\r\n";
   for (const size_t piece : {size_t{1} << 20, size_t{4099}, size_t{3}, size_t{1}}) {
      if (piece < 100 && piece != 3 && piece != 1) continue;
      ScriptedServer server(piece < 100 ? script.substr(0, script.find("$100000")) : script, piece);
      int error = 0;
      std::string reason;
      const auto connection = RespConnection::open(server.address(), nullptr, error, reason);
      CATCH_REQUIRE(connection);
      std::string hello(5, ' '), lines(7, ' '), body(large.size(), ' ');
      const auto target = [](std::string& text) { return std::as_writable_bytes(std::span(text)); };
      const std::string_view command[] = {"X"};
      connection->send(command);
      connection->send(command, {}, target(hello));
      connection->send(command);
      connection->send(command, {}, target(hello));
      connection->send(command);
      connection->send(command);
      connection->send(command, {}, target(lines).first(3)); // the rest is left out
      if (piece >= 100) connection->send(command, {}, target(body));
      CATCH_REQUIRE(connection->finish());
      const auto next = [&] {
         RespConnection::Reply reply;
         CATCH_REQUIRE(connection->take(reply));
         return reply;
      };
      CATCH_CHECK(next().error.empty());
      CATCH_CHECK(next().size == 5);
      CATCH_CHECK(hello == "hello");
      CATCH_CHECK(next().size == 0);
      CATCH_CHECK(next().size == 0);
      CATCH_CHECK(next().size == 0);
      CATCH_CHECK(next().error == "ERR no");
      CATCH_CHECK(next().size == 7);
      CATCH_CHECK(lines == "a\r\n    ");
      if (piece < 100) continue;
      CATCH_CHECK(next().size == large.size());
      CATCH_CHECK(body == large);
   }
}

CATCH_TEST_CASE("a server that speaks something else, or goes away, is an error", "[memory]") {
   for (const char* script : {"HTTP/1.1 400 Bad Request\r\n\r\n", "$x\r\n", "\r\n", "$3\r\nabcde\r\n", "*1\r\n",
                              "$5\r\nab", "+OK\r\n+OK\r\n+more\r\n", "$99999999999\r\n"}) {
      CATCH_INFO(script);
      ScriptedServer server(script, 1000);
      int error = 0;
      std::string reason;
      const auto connection = RespConnection::open(server.address(), nullptr, error, reason);
      CATCH_REQUIRE(connection);
      std::string text(3, ' ');
      const std::string_view command[] = {"X"};
      connection->send(command, {}, std::as_writable_bytes(std::span(text)));
      connection->send(command);
      connection->finish();
      while (connection->progress()) // the last script has a reply that nobody asked for
         std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CATCH_CHECK((connection->error() == EPROTO || connection->error() == ECONNRESET));
      CATCH_CHECK_FALSE(connection->reason().empty());
   }
}

CATCH_TEST_CASE("nobody listens", "[memory]") {
   const uint16_t port = listenTcp("127.0.0.1", 0).front().port;
   int error = 0;
   std::string reason;
   CATCH_CHECK_FALSE(RespConnection::open(MemoryAddress::parse("memory://127.0.0.1:" + std::to_string(port)), nullptr,
                                          error, reason));
   CATCH_CHECK(error == ECONNREFUSED);
}

CATCH_TEST_CASE("a reply to a command that was not sent yet is an error", "[memory]") {
   // Larger than what the buffers of two sockets hold, so that most of it waits in the connection.
   const std::string bytes(size_t{64} << 20, 'x');
   ScriptedServer server("+OK\r\n+OK\r\n", 1000);
   int error = 0;
   std::string reason;
   const auto connection = RespConnection::open(server.address(), nullptr, error, reason);
   CATCH_REQUIRE(connection);
   const std::string_view command[] = {"X"};
   connection->send(command);
   connection->send(command, std::as_bytes(std::span(bytes)));
   connection->send(command);
   while (connection->progress())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
   CATCH_CHECK(connection->error() == EPROTO);
   RespConnection::Reply reply;
   CATCH_CHECK(connection->take(reply)); // of the first one, which was sent
   CATCH_CHECK_FALSE(connection->take(reply));
}
