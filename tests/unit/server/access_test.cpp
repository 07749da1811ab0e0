#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/password/scram_verifier.hpp"
#include "io/net/unix_socket.hpp"
#include "protocol/message_reader.hpp"
#include "server/access_rules.hpp"
#include "server/server.hpp"
#include "tests/unit/server/fake_factory.hpp"

using namespace ouzel;
using namespace ouzel::server;
using namespace ouzel::protocol::test;

// Who comes in: a server with real sockets, rules and passwords over the fake backend of the protocol tests.

namespace {

constexpr int patienceMs = 120'000; // reached only by failing tests
constexpr const char* nonce = "abcdef";

class Directory {
public:
   Directory() {
      std::string path = (std::filesystem::temp_directory_path() / "ouzel-access-XXXXXX").string();
      CATCH_REQUIRE(::mkdtemp(path.data()) != nullptr);
      path_ = path;
   }
   ~Directory() { std::filesystem::remove_all(path_); }
   std::string operator/(const char* name) const { return path_ / name; }
   std::string text() const { return path_; }
   std::string write(const char* name, const std::string& text) const {
      std::ofstream(path_ / name) << text;
      return path_ / name;
   }

private:
   std::filesystem::path path_;
};

/// Knows the role "known" with a password, "none" without, "old" with an expired one, and no others.
class Roles : public FakeFactory {
public:
   std::string passwordVerifier(const std::string& user) override {
      if (user == "none") return "";
      if (user == "known" || user == "old") return ScramVerifier::derive("right", "0123456789abcdef").text();
      throw SqlError(sqlstate::invalidAuthorizationSpecification, "there is no such role");
   }
   bool isPasswordExpired(const std::string& user) override { return user == "old"; }
};

struct Running {
   explicit Running(ServerOptions options) : server(with(std::move(options)), factory) {
      server.start();
      port = server.listeners().front().port;
   }
   static ServerOptions with(ServerOptions options) {
      options.port = 0;
      return options;
   }
   Roles factory;
   Server server;
   uint16_t port;
};

class Client {
public:
   explicit Client(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      CATCH_REQUIRE(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
   }
   explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      path.copy(address.sun_path, sizeof address.sun_path - 1);
      isOpen = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
   }
   void send(const std::string& bytes) const {
      CATCH_REQUIRE(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
   }
   void endInput() const { ::shutdown(fd_.get(), SHUT_WR); }
   /// Whether the server says anything within the time.
   bool hears(int millis) const {
      pollfd entry{fd_.get(), POLLIN, 0};
      return ::poll(&entry, 1, millis) == 1;
   }
   /// The messages up to a ReadyForQuery, a request of authentication or the end of the stream.
   std::string answer() const {
      std::string bytes;
      while (true) {
         CATCH_REQUIRE(hears(patienceMs));
         char chunk[65536];
         const ssize_t got = ::recv(fd_.get(), chunk, sizeof chunk, 0);
         if (got <= 0) return readable(bytes) + "(closed)";
         bytes.append(chunk, static_cast<size_t>(got));
         const std::string text = readable(bytes);
         if (text.ends_with("Z I\n") || text.starts_with("R 1")) return text;
      }
   }
   char byte() const {
      char c = 0;
      return ::recv(fd_.get(), &c, 1, 0) == 1 ? c : '\0';
   }
   std::string ask(const std::string& bytes) const {
      send(bytes);
      return answer();
   }
   std::string start(const std::string& user) const { return ask(startupPacket({{"user", user}})); }
   std::string sendFirst() const {
      const std::string first = std::string("n,,n=,r=") + nonce;
      return ask(message('p', cstring("SCRAM-SHA-256") + int32(static_cast<int64_t>(first.size())) + first));
   }
   /// Answers the challenge with a proof that is wrong.
   void sendWrongProof(const std::string& challenge) const {
      const size_t begin = challenge.find("r=") + 2;
      send(message('p', "c=biws,r=" + challenge.substr(begin, challenge.find(',') - begin) +
                            ",p=" + base64Encode(std::string(32, 'x'))));
   }

   bool isOpen = true;

private:
   io::FileDescriptor fd_;
};

ServerOptions asksForPasswords(uint32_t delayMillis = 0) {
   ServerOptions options;
   options.trustsLoopback = false;
   options.authenticationDelayMillis = delayMillis;
   return options;
}

} // namespace

CATCH_TEST_CASE("who is not there, has no password, an expired one or sends a wrong one learns the same") {
   const Directory directory;
   ServerOptions options = asksForPasswords();
   options.hbaFile = directory.write("hba", "host all all all md5\n");
   const Running running(options);
   std::string salts;
   for (const char* user : {"known", "none", "old", "nobody"}) {
      std::string salt;
      for (int round = 0; round < 2; ++round) {
         const Client client(running.port);
         CATCH_CHECK(client.start(user) == "R 10 SCRAM-SHA-256\n");
         const std::string challenge = client.sendFirst();
         const size_t at = challenge.find(",s=");
         CATCH_CHECK(challenge.starts_with("R 11 r=abcdef"));
         CATCH_CHECK(challenge.ends_with(",i=4096\n"));
         CATCH_CHECK(challenge.size() == at + 3 + 24 + 8);          // 16 bytes of salt in base64
         if (round == 1) CATCH_CHECK(salt == challenge.substr(at)); // always the same one
         salt = challenge.substr(at);
         client.sendWrongProof(challenge);
         CATCH_CHECK(client.answer() ==
                     std::string("E FATAL 28P01 password authentication failed for user \"") + user + "\"\n(closed)");
      }
      salts += salt;
   }
   CATCH_CHECK(salts.find(base64Encode("0123456789abcdef")) == 3); // "known" has its own, and so has "old"
   CATCH_CHECK(salts.rfind(base64Encode("0123456789abcdef")) > 3);
}

CATCH_TEST_CASE("the answer to a wrong password is kept back, and nobody else waits for it") {
   using Clock = std::chrono::steady_clock;
   const Directory directory;
   ServerOptions options = asksForPasswords(500);
   options.hbaFile = directory.write("hba", "host all postgres all trust\nhost all all all scram-sha-256\n");
   options.sessionThreadsMax = 1;
   const Running running(options);
   std::vector<Client> guessers;
   for (int i = 0; i < 5; ++i) {
      guessers.emplace_back(running.port);
      guessers.back().start("known" + std::to_string(i));
      guessers.back().sendWrongProof(guessers.back().sendFirst());
   }
   const auto begin = Clock::now();
   guessers[0].endInput(); // does not bring the answer forward
   guessers.erase(guessers.begin() + 1);
   const Client other(running.port);
   CATCH_CHECK(other.start("postgres").ends_with("Z I\n"));
   CATCH_CHECK(other.ask(query("rows 0")).ends_with("C SELECT 0\nZ I\n"));
   // On a machine that is slow the answers may have come already.
   if (Clock::now() - begin < std::chrono::milliseconds(250)) CATCH_CHECK_FALSE(guessers[0].hears(100));
   for (const Client& guesser : guessers)
      CATCH_CHECK(guesser.answer().starts_with("E FATAL 28P01 password authentication failed"));
   CATCH_CHECK(Clock::now() - begin > std::chrono::milliseconds(300));
   // A shutdown does not wait for it.
   const Client last(running.port);
   last.start("known0");
   last.sendWrongProof(last.sendFirst());
}

CATCH_TEST_CASE("rules of access: refusals, and files that are read anew") {
   const Directory directory;
   ServerOptions options;
   options.hbaFile = directory.write("hba", "# nobody else\nhost all ada 127.0.0.1/32 trust\n"
                                            "host other all samehost reject\nlocal all all reject\n");
   options.socketDirectory = directory.text();
   Running running(options);
   const auto answer = [&](const std::string& user, const std::string& database = "postgres") {
      return Client(running.port).ask(startupPacket({{"user", user}, {"database", database}}));
   };
   const std::string none = "E FATAL 28000 no pg_hba.conf entry for host \"127.0.0.1\", user \"bob\", database "
                            "\"postgres\", no encryption\n(closed)";
   CATCH_CHECK(answer("ada").starts_with("R 0\n"));
   CATCH_CHECK(answer("bob") == none);
   CATCH_CHECK(answer("bob", "other") == "E FATAL 28000 pg_hba.conf rejects connection for host \"127.0.0.1\", user "
                                         "\"bob\", database \"other\", no encryption\n(closed)");
   CATCH_CHECK(Client(running.server.listeners().back().address.text).start("ada") ==
               "E FATAL 28000 pg_hba.conf rejects connection for host \"[local]\", user \"ada\", database \"ada\", no "
               "encryption\n(closed)");

   for (const char* broken : {"host all all 127.0.0.1/32 password", "", "# nothing"}) {
      directory.write("hba", broken);
      running.server.reload(options);
      CATCH_CHECK(answer("bob") == none);
      CATCH_CHECK_THROWS_AS(AccessFiles::read(options), UsageError);
   }
   std::filesystem::remove(directory / "hba");
   running.server.reload(options);
   CATCH_CHECK(answer("ada").starts_with("R 0\n"));
   directory.write("hba", "host all bob all trust");
   running.server.reload(options);
   CATCH_CHECK(answer("bob").starts_with("R 0\n"));
   CATCH_CHECK(answer("ada").starts_with("E FATAL 28000 no pg_hba.conf entry"));
}

CATCH_TEST_CASE("what is wrong with the files of access is said with file and line") {
   const Directory directory;
   ServerOptions options;
   const auto problem = [&] {
      try {
         AccessFiles::read(options);
      } catch (const UsageError& error) {
         return std::string(error.what());
      }
      return std::string();
   };
   options.hbaFile = directory.write("hba", "local all all trust\nhost all all 1.2.3.4/33 trust\n");
   CATCH_CHECK(problem() == options.hbaFile + ": line 2: invalid CIDR mask in address \"1.2.3.4/33\"");
   directory.write("hba", "");
   CATCH_CHECK(problem() == "configuration file \"" + options.hbaFile + "\" contains no entries");
   directory.write("hba", "local all all peer map=m\nhostssl all all all cert\nhostgssenc all all all trust\n");
   options.identFile = directory.write("ident", "m /(.*)@x \\1\nm x\n");
   CATCH_CHECK(problem() == options.identFile + ": line 2: missing entry at end of line");
   directory.write("ident", "m /(.*)@x \\1\n");
   CATCH_CHECK(problem().empty());
   const auto files = AccessFiles::read(options);
   CATCH_REQUIRE(files->warnings.size() == 3);
   CATCH_CHECK(files->warnings[0] ==
               options.hbaFile + ": line 1: local record cannot match because there is no --socket");
   CATCH_CHECK(files->ruleRows()[1].options == std::vector<std::string>{"clientcert=verify-full"});
   CATCH_CHECK(files->mapRows()[0].systemName == "/(.*)@x");
   std::filesystem::remove(options.identFile);
   CATCH_CHECK(problem() == "cannot read configuration file \"" + options.identFile + "\": No such file or directory");
}

CATCH_TEST_CASE("a Unix-domain socket: for all users, as a server's that is gone, but not one that lives") {
   const Directory directory;
   ServerOptions options;
   options.socketDirectory = directory.text();
   std::string path;
   {
      const Running running(options);
      const io::ListeningSocket& listener = running.server.listeners().back();
      path = listener.address.text;
      CATCH_CHECK(path == directory.text() + "/.s.PGSQL." + std::to_string(running.port));
      struct stat status {};
      CATCH_REQUIRE(::stat(path.c_str(), &status) == 0);
      CATCH_CHECK((status.st_mode & 0777) == 0777);
      std::string processId;
      std::getline(std::ifstream(path + ".lock"), processId);
      CATCH_CHECK(processId == std::to_string(::getpid()));
      const Client client(path);
      client.send(int32(8) + int32(80877103));
      CATCH_CHECK(client.byte() == 'N'); // no TLS, which nobody needs here
      CATCH_CHECK(client.start("postgres").ends_with("Z I\n"));
      try {
         const io::UnixSocketPath second(directory.text(), running.port);
         CATCH_CHECK(false);
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::objectInUse);
      }
      CATCH_CHECK(Client(path).isOpen);
   }
   CATCH_CHECK_FALSE(std::filesystem::exists(path));
   CATCH_CHECK_FALSE(std::filesystem::exists(path + ".lock"));
}

CATCH_TEST_CASE("what lies in the place of a Unix-domain socket") {
   const Directory directory;
   const std::string path = directory / ".s.PGSQL.5432";
   const auto state = [&](const std::string& where) {
      try {
         const io::UnixSocketPath own(where, 5432);
         return std::string("taken");
      } catch (const SqlError& error) {
         return std::string(error.state().text());
      }
   };
   {
      // A server that knows nothing of the lock lives there, and then is killed.
      const io::FileDescriptor foreign(::socket(AF_UNIX, SOCK_STREAM, 0));
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      path.copy(address.sun_path, sizeof address.sun_path - 1);
      CATCH_REQUIRE(::bind(foreign.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
      CATCH_REQUIRE(::listen(foreign.get(), 1) == 0);
      CATCH_CHECK(state(directory.text()) == "55006");
      CATCH_CHECK(std::filesystem::exists(path));
   }
   CATCH_CHECK(state(directory.text()) == "taken");
   CATCH_CHECK_FALSE(std::filesystem::exists(path));
   std::ofstream(path) << "a letter";
   CATCH_CHECK(state(directory.text()) == "58030");
   CATCH_CHECK(std::filesystem::exists(path));
   CATCH_CHECK(state(directory / "nowhere") == "58030");
   CATCH_CHECK(state(std::string(200, 'x')) == "58030");
}

CATCH_TEST_CASE("options of access that exclude each other") {
   const auto problem = [](std::vector<std::string> more) {
      more.insert(more.begin(), {"--data", "d"});
      try {
         parseServeOptions(more, [](const char*) -> const char* { return nullptr; });
      } catch (const UsageError& error) {
         return std::string(error.what());
      }
      return std::string();
   };
   CATCH_CHECK(problem({"--hba", "f", "--ident", "g", "--socket", "/run", "--authentication-delay", "0"}).empty());
   CATCH_CHECK(
       problem({"--hba", "f", "--trust-loopback", "on"}).starts_with("--trust-loopback is for servers without"));
   CATCH_CHECK(problem({"--ident", "g"}) == "--ident needs --hba, whose rules name its maps");
   CATCH_CHECK(problem({"--hba", ""}) == "--hba: a file is needed");
   CATCH_CHECK(problem({"--socket", "/run", "--ssl-cert-file", "c", "--ssl-key-file", "k", "--ssl-ca-file", "a",
                        "--ssl-client-cert", "verify-ca"})
                   .starts_with("--socket and --ssl-client-cert need --hba"));
   const auto options = parseServeOptions({"--data", "d"}, [](const char* name) -> const char* {
      if (std::string_view(name) == "OUZEL_HBA_FILE") return "/etc/hba";
      return std::string_view(name) == "OUZEL_UNIX_SOCKET_DIRECTORY" ? "/run" : nullptr;
   });
   CATCH_CHECK(options->hbaFile == "/etc/hba");
   CATCH_CHECK(options->socketDirectory == "/run");
}
