#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <netinet/in.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <unistd.h>

#include "server/metrics/exposition.hpp"
#include "server/metrics/http_request.hpp"
#include "server/metrics/metrics_server.hpp"

using namespace ouzel::server;

// The metrics' text, the parser of requests, and the listener with real sockets, polite and hostile ones.

namespace {

constexpr int patienceMs = 60'000; // reached only by failing tests
const std::string scrape = "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n";

class HttpClient {
public:
   explicit HttpClient(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      CATCH_REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
   }
   ~HttpClient() { ::close(fd_); }
   HttpClient(const HttpClient&) = delete;

   /// Sends until all bytes are sent or the server closes. False: the server has closed.
   bool send(std::string_view bytes) const {
      while (!bytes.empty()) {
         const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
         if (sent <= 0) return false;
         bytes.remove_prefix(static_cast<size_t>(sent));
      }
      return true;
   }
   std::string answer() const {
      std::string bytes;
      while (true) {
         pollfd entry{fd_, POLLIN, 0};
         CATCH_REQUIRE(poll(&entry, 1, patienceMs) == 1);
         char chunk[65536];
         const ssize_t got = recv(fd_, chunk, sizeof chunk, 0);
         if (got <= 0) return bytes;
         bytes.append(chunk, static_cast<size_t>(got));
      }
   }
   std::string ask(std::string_view bytes) const {
      send(bytes);
      return answer();
   }
   void endInput() const { ::shutdown(fd_, SHUT_WR); }

private:
   int fd_;
};

struct Running {
   explicit Running(
       MetricsServer::Render render = [] { return std::string("up 1\n"); }, MetricsServer::Limits limits = {})
      : server("127.0.0.1", 0, std::move(render), limits), port(server.listeners().front().port) {
      server.start();
   }
   MetricsServer server;
   const uint16_t port;
};

int statusOf(std::string_view answer) {
   return answer.starts_with("HTTP/1.1 ") ? std::stoi(std::string(answer.substr(9, 3))) : 0;
}
std::string_view bodyOf(std::string_view answer) {
   return answer.substr(answer.find("\r\n\r\n") + 4);
}
int judge(std::string_view head) {
   HttpRequest request;
   return parseHttpRequest(head, request);
}

} // namespace

CATCH_TEST_CASE("metrics are written as Prometheus reads them", "[metrics]") {
   Exposition out;
   out.family("a_total", Exposition::Type::Counter, "Counts.").sample(std::numeric_limits<uint64_t>::max());
   out.family("b", Exposition::Type::Gauge, "Is.")
       .sample(0.1, {{"x", "a\"b\\c\nd"}, {"y", ""}})
       .sample(std::numeric_limits<double>::infinity())
       .sample(std::numeric_limits<double>::quiet_NaN());
   CATCH_CHECK(out.text() == "# HELP a_total Counts.\n# TYPE a_total counter\na_total 18446744073709551615\n"
                             "# HELP b Is.\n# TYPE b gauge\nb{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 0.1\nb +Inf\nb NaN\n");
}

CATCH_TEST_CASE("requests are parsed strictly", "[metrics]") {
   HttpRequest request;
   CATCH_CHECK(parseHttpRequest("HEAD /metrics?x=/y HTTP/1.1\r\nhOsT: a\r\nAccept:\t*/*\r\n\r\n", request) == 0);
   CATCH_CHECK(request.isHead);
   CATCH_CHECK(request.path == "/metrics");
   CATCH_CHECK(parseHttpRequest("GET http://host:1/metrics HTTP/1.0\r\n\r\n", request) == 0);
   CATCH_CHECK_FALSE(request.isHead);
   CATCH_CHECK(request.path == "/metrics");
   CATCH_CHECK(judge("POST / HTTP/1.1\r\nHost: a\r\n\r\n") == 405);
   CATCH_CHECK(judge("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == 505);
   std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
   for (int i = 0; i < 100; ++i)
      many += "a: b\r\n";
   CATCH_CHECK(judge(many + "\r\n") == 431);
   using namespace std::string_view_literals;
   for (const std::string_view bad : {""sv,
                                      "\r\n\r\n"sv,
                                      "GET\r\n\r\n"sv,
                                      "GET /\r\n\r\n"sv,
                                      "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"sv,
                                      "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"sv,
                                      "GET / http/1.1\r\nHost: a\r\n\r\n"sv,
                                      "GET x HTTP/1.1\r\nHost: a\r\n\r\n"sv,
                                      "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n"sv,
                                      "GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n"sv,
                                      "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"sv,
                                      "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost : a\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost: a\r\nx\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"sv,
                                      "GET / HTTP/1.1\nHost: a\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost: a\rb: c\r\n\r\n"sv,
                                      "GET / HTTP/1.1\r\nHost: a\r\n"sv})
      CATCH_CHECK(judge(bad) == 400);
   // Random bytes get an answer, and no byte behind them is read.
   std::minstd_rand random(7);
   for (int i = 0; i < 20'000; ++i) {
      std::string damaged = scrape;
      for (auto hits = 1 + random() % 4; hits > 0; --hits)
         damaged[random() % damaged.size()] = static_cast<char>(random());
      damaged.resize(random() % (damaged.size() + 1));
      const std::vector<char> exact(damaged.begin(), damaged.end());
      judge({exact.data(), exact.size()});
   }
}

CATCH_TEST_CASE("metrics are served", "[metrics]") {
   int rendered = 0;
   Running running([&] {
      if (++rendered == 3) throw std::runtime_error("no numbers today");
      return "n " + std::to_string(rendered) + "\n";
   });
   const std::string answer = HttpClient(running.port).ask(scrape);
   CATCH_CHECK(answer ==
               "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 4\r\n"
               "Connection: close\r\n\r\nn 1\n");
   const std::string head = HttpClient(running.port).ask("HEAD /metrics HTTP/1.0\r\n\r\n");
   CATCH_CHECK(statusOf(head) == 200);
   CATCH_CHECK(head.find("Content-Length: 4\r\n") != std::string::npos);
   CATCH_CHECK(bodyOf(head).empty());
   CATCH_CHECK(statusOf(HttpClient(running.port).ask(scrape)) == 500);
   CATCH_CHECK(bodyOf(HttpClient(running.port).ask(scrape)) == "n 4\n");
   CATCH_CHECK(statusOf(HttpClient(running.port).ask("GET / HTTP/1.0\r\n\r\n")) == 404);
   const std::string refused = HttpClient(running.port).ask("DELETE /metrics HTTP/1.0\r\n\r\n");
   CATCH_CHECK(statusOf(refused) == 405);
   CATCH_CHECK(refused.find("\r\nAllow: GET, HEAD\r\n") != std::string::npos);

   const HttpClient slow(running.port);
   for (const char& c : scrape) // byte by byte
      slow.send({&c, 1});
   CATCH_CHECK(bodyOf(slow.answer()) == "n 5\n");
   const HttpClient half(running.port);
   half.send(scrape);
   half.endInput();
   CATCH_CHECK(bodyOf(half.answer()) == "n 6\n");
}

CATCH_TEST_CASE("large answers arrive whole, though the client goes on sending", "[metrics]") {
   const std::string large(5 << 20, 'x');
   Running running([&] { return large; });
   const HttpClient client(running.port);
   client.send(scrape + std::string(20'000, 'y'));
   CATCH_CHECK(bodyOf(client.answer()) == large);
}

CATCH_TEST_CASE("strangers cannot hold the metrics up", "[metrics]") {
   MetricsServer::Limits limits;
   limits.clientsMax = 8;
   limits.patienceMs = 300;
   Running running([] { return std::string("up 1\n"); }, limits);
   CATCH_SECTION("a head without an end") {
      const std::string answer = HttpClient(running.port).ask("GET /" + std::string(1 << 20, 'a'));
      // A close with unread bytes may discard the answer; the connection must end.
      CATCH_CHECK((answer.empty() || statusOf(answer) == 431));
   }
   CATCH_SECTION("one that is a little too long") {
      const std::string start = "GET / HTTP/1.0\r\na: ", fits(httpHeadSizeMax - start.size() - 4, 'b');
      CATCH_CHECK(statusOf(HttpClient(running.port).ask(start + fits + "\r\n\r\n")) == 404);
      CATCH_CHECK(statusOf(HttpClient(running.port).ask(start + fits + "b\r\n\r\n")) == 431);
   }
   CATCH_SECTION("one that creeps, and one that says nothing") {
      const auto start = std::chrono::steady_clock::now();
      const HttpClient creeping(running.port), silent(running.port);
      for (int i = 0; i < 1000 && creeping.send("a"); ++i)
         poll(nullptr, 0, 20);
      CATCH_CHECK(creeping.answer().empty());
      CATCH_CHECK(silent.answer().empty());
      CATCH_CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
   }
   CATCH_SECTION("many that say nothing: the oldest make room") {
      std::vector<std::unique_ptr<HttpClient>> silent;
      for (int i = 0; i < 50; ++i)
         silent.push_back(std::make_unique<HttpClient>(running.port));
      CATCH_CHECK(statusOf(HttpClient(running.port).ask(scrape)) == 200);
      CATCH_CHECK(silent.front()->answer().empty());
   }
   CATCH_SECTION("bytes that are not HTTP, and clients that leave at once") {
      std::minstd_rand random(3);
      for (int i = 0; i < 200; ++i) {
         std::string bytes(random() % 300, '\0');
         for (char& c : bytes)
            c = static_cast<char>(random());
         if (i % 2 == 0) bytes += "\r\n\r\n";
         const HttpClient client(running.port);
         client.send(bytes);
         if (i % 3 != 0) continue;
         client.endInput();
         const std::string answer = client.answer();
         CATCH_CHECK((answer.empty() || statusOf(answer) == 400));
      }
   }
   CATCH_CHECK(statusOf(HttpClient(running.port).ask(scrape)) == 200);
}

CATCH_TEST_CASE("the metrics end while clients are connected", "[metrics]") {
   std::unique_ptr<HttpClient> client;
   {
      Running running;
      client = std::make_unique<HttpClient>(running.port);
      client->send("GET /met");
   }
   CATCH_CHECK(client->answer().empty());
}
