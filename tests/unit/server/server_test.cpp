#include "server/server.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/message_reader.hpp"
#include "server/readiness.hpp"
#include "server/service_manager.hpp"
#include "tests/unit/server/fake_factory.hpp"

using namespace ouzel;
using namespace ouzel::server;
using namespace ouzel::protocol::test;

// The listener with real sockets over the fake backend of the protocol tests.

namespace {

constexpr int patienceMs = 120'000; // reached only by failing tests

class Client {
public:
   explicit Client(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      CATCH_REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
   }
   ~Client() {
      if (fd_ >= 0) ::close(fd_);
   }
   Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

   void send(const std::string& bytes) const {
      CATCH_REQUIRE(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
   }
   /// Reads until a ReadyForQuery is the last message, or to the end of the stream ("(closed)").
   std::string answer() const {
      std::string bytes;
      while (true) {
         const size_t size = bytes.size();
         if (size >= 6 && bytes[size - 6] == 'Z' && protocol::loadInt32(bytes.data() + size - 5) == 5)
            return readable(bytes);
         pollfd entry{fd_, POLLIN, 0};
         CATCH_REQUIRE(poll(&entry, 1, patienceMs) == 1);
         char chunk[65536];
         const ssize_t got = recv(fd_, chunk, sizeof chunk, 0);
         if (got <= 0) return readable(bytes) + "(closed)";
         bytes.append(chunk, static_cast<size_t>(got));
      }
   }
   /// Ends the stream to the server.
   void endInput() const { ::shutdown(fd_, SHUT_WR); }
   std::string byte() const {
      char c = 0;
      return recv(fd_, &c, 1, 0) == 1 ? std::string(1, c) : "(closed)";
   }
   std::string ask(const std::string& bytes) const {
      send(bytes);
      return answer();
   }
   /// Does the start-up and returns the cancel key.
   protocol::BackendKey start() const {
      const auto text = ask(startupPacket({{"user", "postgres"}}));
      CATCH_REQUIRE(text.ends_with("Z I\n"));
      protocol::BackendKey key;
      CATCH_REQUIRE(std::sscanf(text.c_str() + text.find("\nK ") + 3, "%d %d", &key.processId, &key.secret) == 2);
      return key;
   }

private:
   int fd_;
};

struct Running {
   explicit Running(ServerOptions options = {}) : server(with(std::move(options)), factory) {
      server.start();
      port = server.listeners().front().port;
   }
   static ServerOptions with(ServerOptions options) {
      options.port = 0;
      return options;
   }
   FakeFactory factory;
   Server server;
   uint16_t port;
};

} // namespace

CATCH_TEST_CASE("clients are served and said good-bye to at shutdown") {
   Running running;
   Client a(running.port), b(running.port);
   a.start();
   b.start();
   CATCH_CHECK(a.ask(query("rows 2")).ends_with("D 1\nD 2\nC SELECT 2\nZ I\n"));
   CATCH_CHECK(b.ask(query("begin")) == "C begin\nZ T\n");
   a.send(message('X', ""));
   CATCH_CHECK(a.answer() == "(closed)");
   Client sleeping(running.port);
   sleeping.start();
   sleeping.send(query("sleep"));
   running.server.shutdown();
   const std::string goodBye = "E FATAL 57P01 terminating connection due to administrator command\n(closed)";
   CATCH_CHECK(b.answer() == goodBye);
   CATCH_CHECK(sleeping.answer() == goodBye);
   CATCH_CHECK(running.server.connections() == 0);
}

CATCH_TEST_CASE("without file handles new clients wait, and the server does not spin") {
   Running running;
   FILE* const log = tmpfile();
   CATCH_REQUIRE(log != nullptr);
   const int standardError = dup(STDERR_FILENO);
   rlimit before{};
   getrlimit(RLIMIT_NOFILE, &before);
   const rlimit few{128, before.rlim_max};
   setrlimit(RLIMIT_NOFILE, &few);
   std::vector<int> hoard;
   for (int handle; (handle = dup(standardError)) >= 0;)
      hoard.push_back(handle);
   const auto giveBack = [&] {
      for (const int handle : hoard)
         ::close(handle);
      hoard.clear();
      setrlimit(RLIMIT_NOFILE, &before);
   };
   ::close(hoard.back()); // for the client's end
   hoard.pop_back();
   dup2(fileno(log), STDERR_FILENO);
   const Client client(running.port);
   poll(nullptr, 0, 500);
   dup2(standardError, STDERR_FILENO);
   ::close(standardError);
   giveBack();
   client.start();
   rewind(log);
   size_t complaints = 0;
   char line[1024];
   while (fgets(line, sizeof line, log) != nullptr)
      complaints += std::string_view(line).find("out of file handles") != std::string_view::npos;
   fclose(log);
   CATCH_CHECK(complaints >= 1);
   CATCH_CHECK(complaints <= 2);
}

CATCH_TEST_CASE("whether a server takes clients can be asked") {
   uint16_t port;
   {
      Running running;
      port = running.port;
      CATCH_CHECK(whyNotReady("127.0.0.1", port, patienceMs) == "");
      CATCH_CHECK(whyNotReady("localhost", port, patienceMs) == "");
      ServerOptions options;
      options.connectionsMax = 1, options.reservedConnections = 0;
      Running full(options);
      const Client only(full.port);
      only.start();
      CATCH_CHECK(whyNotReady("127.0.0.1", full.port, patienceMs) == ""); // a full server counts as ready
   }
   CATCH_CHECK(whyNotReady("127.0.0.1", port, patienceMs) == "Connection refused");
   const auto silent = io::listenTcp("127.0.0.1", 0);
   CATCH_CHECK(whyNotReady("127.0.0.1", silent.front().port, 50) == "no answer");
   CATCH_CHECK(whyNotReady("no.such.host.invalid", 1, 50) != "");
}

CATCH_TEST_CASE("a cancel request reaches the running statement, the right one only") {
   ServerOptions options;
   options.sessionThreadsMax = 1; // the sleeping statement has the only thread
   Running running(options);
   Client client(running.port);
   const auto key = client.start();
   client.send(query("sleep"));
   const auto cancelPacket = [&](int32_t secret) {
      return int32(16) + int32(80877102) + int32(key.processId) + int32(secret);
   };
   {
      Client wrong(running.port);
      wrong.send(cancelPacket(key.secret ^ 1));
      CATCH_CHECK(wrong.answer() == "(closed)");
   }
   Client right(running.port);
   right.send(cancelPacket(key.secret));
   CATCH_CHECK(right.answer() == "(closed)");
   CATCH_CHECK(client.answer() == "E ERROR 57014 canceling statement due to user request\nZ I\n");
   CATCH_CHECK(client.ask(query("rows 1")).ends_with("Z I\n"));
}

CATCH_TEST_CASE("a client that vanishes frees its statement and its place") {
   ServerOptions options;
   options.connectionsMax = 1, options.reservedConnections = 0;
   Running running(options);
   {
      Client client(running.port);
      client.start();
      client.send(query("sleep"));
      Client second(running.port);
      CATCH_CHECK(second.ask(startupPacket({{"user", "u"}})) ==
                  "R 0\nE FATAL 53300 sorry, too many clients already\n(closed)");
   }
   for (int i = 0; i < patienceMs / 5; ++i) { // until the closed session's place is free
      Client client(running.port);
      if (client.ask(startupPacket({{"user", "u"}})).ends_with("Z I\n")) return;
      usleep(5000);
   }
   CATCH_FAIL("the place is still taken");
}

CATCH_TEST_CASE("a client that vanishes behind a statement not yet read frees that one too") {
   ServerOptions options;
   options.sessionThreadsMax = 1;
   Running running(options);
   Client client(running.port);
   const auto key = client.start();
   client.send(query("sleep"));
   client.send(query("sleep")); // queued when the client hangs up
   client.endInput();
   Client canceller(running.port);
   canceller.send(int32(16) + int32(80877102) + int32(key.processId) + int32(key.secret));
   CATCH_CHECK(canceller.answer() == "(closed)");
   std::string all;
   for (std::string part; !part.ends_with("(closed)"); all += part)
      part = client.answer();
   CATCH_CHECK(all.ends_with("(closed)"));
   CATCH_CHECK(all.starts_with("E ERROR 57014"));
}

CATCH_TEST_CASE("idle connections hold no thread; messages may come in drops") {
   Running running;
   std::vector<Client> clients;
   for (int i = 0; i < 200; ++i) {
      clients.emplace_back(running.port);
      clients.back().start();
   }
   CATCH_CHECK(running.server.connections() == 200);
   CATCH_CHECK(running.server.sessionThreads() <= 64);
   const std::string bytes = query("rows 1");
   for (const char byte : bytes)
      clients[7].send(std::string(1, byte));
   CATCH_CHECK(clients[7].answer().ends_with("D 1\nC SELECT 1\nZ I\n"));
}

CATCH_TEST_CASE("COPY from a client, and a result larger than the socket takes") {
   Running running;
   Client client(running.port);
   client.start();
   client.send(query("copyin"));
   std::string data;
   for (int i = 0; i < 1000; ++i)
      data += message('d', std::string(8000, 'x'));
   client.send(data + message('c', ""));
   CATCH_CHECK(client.answer() == "G 0 2\nC COPY 8000000/1000\nZ I\n");
   CATCH_CHECK(client.ask(query("rows 99999")).ends_with("C SELECT 99999\nZ I\n"));
}

CATCH_TEST_CASE("garbage closes the connection it came from and no other") {
   Running running;
   Client good(running.port);
   good.start();
   for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), int32(1 << 30), std::string(100, '\0')}) {
      Client bad(running.port);
      bad.send(bytes);
      CATCH_CHECK(bad.answer().starts_with("E FATAL 08P01"));
   }
   Client late(running.port);
   late.start();
   CATCH_CHECK(late.ask("\x07garbage").starts_with("E FATAL 08P01"));
   CATCH_CHECK(good.ask(query("rows 0")).ends_with("Z I\n"));
   Client encrypted(running.port);
   encrypted.send(int32(8) + int32(80877104) + int32(8) + int32(80877103));
   CATCH_CHECK(encrypted.byte() == "N");
   CATCH_CHECK(encrypted.byte() == "N");
   encrypted.start();
}

CATCH_TEST_CASE("a port that is taken is told from one that cannot be had") {
   const auto refusal = [](const char* host, uint16_t port) {
      try {
         io::requireFreePort(host, port);
      } catch (const SqlError& error) {
         return std::string(error.state().text());
      }
      return std::string("free");
   };
   auto taken = io::listenTcp("127.0.0.1", 0);
   const uint16_t port = taken.front().port;
   CATCH_CHECK(refusal("127.0.0.1", port) == "55006");
   CATCH_CHECK(refusal("*", port) == "55006"); // though IPv6's address is free
   CATCH_CHECK_THROWS_WITH(io::listenTcp("127.0.0.1", port), Catch::Contains("Address already in use"));
   CATCH_CHECK(refusal("192.0.2.1", port) == "58030"); // not an address of this machine
   taken.clear();
   CATCH_CHECK(refusal("127.0.0.1", port) == "free");
   CATCH_CHECK(refusal("127.0.0.1", port) == "free"); // and stays so
   CATCH_CHECK(io::listenTcp("127.0.0.1", port).front().port == port);
}

CATCH_TEST_CASE("the service manager is told what it asked for") {
   const int receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
   const auto expect = [&](const std::string& variable, const sockaddr_un& address, size_t size) {
      CATCH_REQUIRE(bind(receiver, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)) == 0);
      setenv("NOTIFY_SOCKET", variable.c_str(), 1);
      notifyServiceManager("READY=1");
      unsetenv("NOTIFY_SOCKET");
      notifyServiceManager("STOPPING=1"); // nobody asked
      char text[64];
      CATCH_CHECK(recv(receiver, text, sizeof text, 0) == 7);
      CATCH_CHECK(std::string(text, 7) == "READY=1");
      CATCH_CHECK(recv(receiver, text, sizeof text, 0) == -1);
      close(receiver);
   };
   const std::string name = "ouzel-test-" + std::to_string(getpid());
   sockaddr_un address{};
   address.sun_family = AF_UNIX;
   CATCH_SECTION("by a path") {
      std::strcpy(address.sun_path, name.c_str());
      expect(name, address, sizeof address);
      unlink(name.c_str());
   }
   CATCH_SECTION("by a name without a file") {
      std::memcpy(address.sun_path + 1, name.data(), name.size());
      expect("@" + name, address, offsetof(sockaddr_un, sun_path) + 1 + name.size());
   }
}

CATCH_TEST_CASE("listening beyond loopback needs a password") {
   FakeFactory factory;
   ServerOptions options;
   options.port = 0;
   options.listen = "0.0.0.0";
   CATCH_CHECK_THROWS_AS(Server(options, factory), SqlError);
   factory.verifier = "SCRAM-SHA-256$...";
   CATCH_CHECK_NOTHROW(Server(options, factory));
   options.listen = "localhost";
   factory.verifier = "";
   CATCH_CHECK_NOTHROW(Server(options, factory));
}
