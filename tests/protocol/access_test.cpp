#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <pwd.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "tests/protocol/support.hpp"

using namespace ouzel::wire;

// Rules of access at the door of a real server: --hba, --ident, --socket, certificates, and all of them rotated.

namespace {

/// Files of a server: rules, certificates and the directory of its socket.
class Files {
public:
   Files() {
      std::string path = (std::filesystem::temp_directory_path() / "ouzel-access-XXXXXX").string();
      CATCH_REQUIRE(::mkdtemp(path.data()) != nullptr);
      path_ = path;
   }
   ~Files() { std::filesystem::remove_all(path_); }
   std::string operator/(const std::string& name) const { return path_ / name; }
   std::string text() const { return path_; }

   /// Replaces the file at once, so that nobody reads a part of it.
   void write(const std::string& name, const std::string& text) const {
      std::ofstream(path_ / (name + ".new")) << text;
      std::filesystem::rename(path_ / (name + ".new"), path_ / name);
   }
   /// A certificate NAME.crt and its key, signed by itself, or by the certificate `by`.
   void certify(const std::string& name, const std::string& subject, const std::string& by = "") const {
      std::string make =
          "cd " + text() +
          " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" + subject +
          " -keyout " + name + ".key -out " + name + ".crt";
      if (!by.empty())
         make = "cd " + text() +
                " && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + subject +
                " -keyout " + name + ".key -out " + name + ".csr && openssl x509 -req -days 2 -in " + name +
                ".csr -CA " + by + ".crt -CAkey " + by + ".key -CAcreateserial -out " + name + ".crt";
      CATCH_REQUIRE(std::system(("{ " + make + "; } > /dev/null 2>&1").c_str()) == 0);
   }
   void copy(const std::string& from, const std::string& to) const {
      std::filesystem::copy_file(path_ / from, path_ / to, std::filesystem::copy_options::overwrite_existing);
   }

private:
   std::filesystem::path path_;
};

/// What a client is told who may not come in; empty: it is in.
std::string refusal(const ServerProcess& server, const std::string& more) {
   const Connection connection(server, more, true);
   if (connection.isOpen()) return "";
   const std::string error = connection.error();
   const size_t at = error.rfind("FATAL:  ");
   return at == std::string::npos ? error : error.substr(at + 8, error.size() - at - 9);
}

std::string ownName() {
   const passwd* entry = ::getpwuid(::geteuid());
   return entry != nullptr ? entry->pw_name : "";
}

/// Who speaks, and what pg_stat_activity says of where it comes from.
constexpr const char* whoAmI = "SELECT current_user, client_addr, client_port > 0 FROM pg_stat_activity "
                               "WHERE pid = pg_backend_pid()";

} // namespace

CATCH_TEST_CASE("users of the machine and owners of certificates come in as their maps say") {
   if (sharedServer().isForeign()) return;
   const Files files;
   files.certify("authority", "authority");
   files.certify("server", "localhost");
   files.certify("ada", "ada", "authority");
   files.write("ident", "m " + ownName() + " mapped\nm /^a(.*)$ r\\1\n");
   files.write("hba", "local all postgres trust\nlocal all all peer map=m\nhostssl all ada all cert\n"
                      "hostssl all rda,ida all cert map=m\nhostssl all full all scram-sha-256 clientcert=verify-full\n"
                      "hostssl all \"any\" all md5 clientcert=verify-ca\nhost all +staff all scram-sha-256\n");
   ServerProcess server({"--hba", files / "hba", "--ident", files / "ident", "--socket", files.text(),
                         "--ssl-cert-file", files / "server.crt", "--ssl-key-file", files / "server.key",
                         "--ssl-ca-file", files / "authority.crt", "--authentication-delay", "0"});
   const std::string local = "host=" + files.text() + " ", tls = "sslmode=require ";
   const std::string asAda = tls + "sslcert=" + files / "ada.crt" + " sslkey=" + files / "ada.key" + " ";
   const std::string asNobody = tls + "sslcert=/nonexistent ";
   const Connection c(server, local);
   CATCH_CHECK(c.run(whoAmI) == "postgres|\\N|f\n");
   CATCH_CHECK(c.run("SELECT client_port, inet_client_addr() FROM pg_stat_activity WHERE pid = pg_backend_pid()") ==
               "-1|\\N\n");
   for (const char* role : {"mapped", "ada", "rda", "ida", "\"full\"", "\"any\""})
      c.run(std::string("CREATE ROLE ") + role + " LOGIN PASSWORD 'x'");
   c.run("CREATE ROLE staff; CREATE ROLE member LOGIN PASSWORD 'x' IN ROLE staff");

   CATCH_CHECK(Connection(server, local + "user=mapped").run("SELECT current_user") == "mapped\n");
   CATCH_CHECK(refusal(server, local + "user=ada") == "Peer authentication failed for user \"ada\"");
   CATCH_CHECK(Connection(server, asAda + "user=ada").run(whoAmI) == "ada|127.0.0.1|t\n");
   CATCH_CHECK(Connection(server, asAda + "user=rda").run("SELECT current_user") == "rda\n");
   CATCH_CHECK(refusal(server, asAda + "user=ida") == "certificate authentication failed for user \"ida\"");
   CATCH_CHECK(refusal(server, asNobody + "user=ada") == "connection requires a valid client certificate");
   CATCH_CHECK(refusal(server, "sslmode=disable user=ada") ==
               "no pg_hba.conf entry for host \"127.0.0.1\", user \"ada\", database \"postgres\", no encryption");
   CATCH_CHECK(refusal(server, asAda + "user=full password=x") == "password authentication failed for user \"full\"");
   CATCH_CHECK(refusal(server, asAda + "user=any password=x").empty());
   CATCH_CHECK(refusal(server, asAda + "user=any password=y") == "password authentication failed for user \"any\"");
   CATCH_CHECK(refusal(server, "user=member password=x").empty());
   CATCH_CHECK(refusal(server, asNobody + "user=nobody password=x") ==
               "no pg_hba.conf entry for host \"127.0.0.1\", user \"nobody\", database \"postgres\", SSL encryption");

   const std::string log = server.log();
   CATCH_INFO(log);
   for (const char* said :
        {"no match in usermap \"m\" for user \"ida\" authenticated as \"ada\"", "listening on Unix socket \"",
         "(clientcert=verify-full) failed for user \"full\": CN mismatch",
         "Connection matched pg_hba.conf line 3: \"hostssl all ada all cert\""})
      CATCH_CHECK(log.find(said) != std::string::npos);

   CATCH_CHECK(c.run("SELECT line_number, type, user_name, address, auth_method, options FROM pg_hba_file_rules "
                     "WHERE line_number IN (2, 4)") ==
               "2|local|{all}|\\N|peer|{map=m}\n4|hostssl|{rda,ida}|all|cert|{map=m,clientcert=verify-full}\n");
   CATCH_CHECK(c.run("SELECT line_number, map_name, sys_name, pg_username FROM pg_ident_file_mappings "
                     "WHERE line_number = 2") == "2|m|/^a(.*)$|r\\1\n");
   CATCH_CHECK(c.run("SET ROLE ada; SELECT * FROM pg_hba_file_rules").starts_with("ERROR 42501 permission denied"));
   CATCH_CHECK(server.stop() == 0);
   CATCH_CHECK_FALSE(std::filesystem::exists(files / (".s.PGSQL." + std::to_string(server.port))));
}

CATCH_TEST_CASE("without --hba a Unix-domain socket is as loopback, and a server does not start with broken rules") {
   if (sharedServer().isForeign()) return;
   const Files files;
   const std::string local = "host=" + files.text() + " ";
   {
      const ServerProcess server({"--socket", files.text()});
      CATCH_CHECK(Connection(server, local).run("SELECT 1") == "1\n");
   }
   {
      setenv("OUZEL_PASSWORD", "right one", 1);
      const ServerProcess server({"--socket", files.text(), "--trust-loopback", "off"});
      unsetenv("OUZEL_PASSWORD");
      CATCH_CHECK(Connection(server, local + "password='right one'").run("SELECT 1") == "1\n");
      CATCH_CHECK(refusal(server, local + "password=wrong") == "password authentication failed for user \"postgres\"");
   }
   files.write("hba", "local all all trust\nhost all all trust\n");
   const char* named = std::getenv("OUZEL_BINARY");
   const std::string binary = named != nullptr ? named : OUZEL_BINARY_DEFAULT;
   const std::string command = binary + " serve --data " + files / "data" + " --port 0 --hba " + files / "hba" + " > " +
                               files / "out" + " 2>&1";
   CATCH_CHECK(WEXITSTATUS(std::system(command.c_str())) == 2);
   std::string said;
   for (std::ifstream file(files / "out"); std::getline(file, said);)
      if (said.starts_with("ouzel: ")) break;
   CATCH_CHECK(said == "ouzel: " + files / "hba" +
                           ": line 2: host name \"trust\": host names are not supported, write an address");
   CATCH_CHECK_FALSE(std::filesystem::exists(files / "data"));
}

namespace {

/// Many open connections, which a few threads keep at work until they are told to stop.
class Crowd {
public:
   void add(std::unique_ptr<Connection> connection) { connections_.push_back(std::move(connection)); }
   void start() {
      for (size_t first = 0; first < threadCount; ++first)
         threads_.emplace_back([this, first] { work(first); });
   }
   void stop() {
      isOver_ = true;
      for (std::thread& thread : threads_)
         thread.join();
      threads_.clear();
   }
   size_t size() const { return connections_.size(); }
   uint64_t failures() const { return failures_; }
   /// How often all connections have answered.
   uint64_t rounds() const { return answers_ / connections_.size(); }

private:
   static constexpr size_t threadCount = 2;

   void work(size_t first) {
      while (!isOver_)
         for (size_t i = first; i < connections_.size() && !isOver_; i += threadCount) {
            if (connections_[i]->run("SELECT 40 + 2") != "42\n") ++failures_;
            ++answers_;
         }
   }

   std::vector<std::unique_ptr<Connection>> connections_;
   std::vector<std::thread> threads_;
   std::atomic<uint64_t> failures_{0}, answers_{0};
   std::atomic<bool> isOver_{false};
};

} // namespace

CATCH_TEST_CASE("1,000 connections work on while rules, certificate and password are rotated") {
   if (sharedServer().isForeign()) return;
   rlimit limit{};
   getrlimit(RLIMIT_NOFILE, &limit);
   limit.rlim_cur = limit.rlim_max;
   setrlimit(RLIMIT_NOFILE, &limit);

   const Files files;
   files.certify("first", "localhost");
   files.certify("second", "localhost");
   files.copy("first.crt", "server.crt");
   files.copy("first.key", "server.key");
   const std::string always = "local all all trust\nhostssl all app all scram-sha-256\n";
   files.write("hba", always + "host all early all trust\n");
   ServerProcess server({"--hba", files / "hba", "--socket", files.text(), "--ssl-cert-file", files / "server.crt",
                         "--ssl-key-file", files / "server.key", "--authentication-delay", "10"});
   const std::string local = "host=" + files.text() + " ";
   const Connection admin(server, local);
   admin.run("CREATE ROLE early LOGIN; CREATE ROLE late LOGIN; CREATE ROLE app LOGIN PASSWORD 'password 0'");
   const auto asApp = [&](int password, const char* root) {
      return "user=app sslmode=verify-ca sslrootcert=" + files / root + " password='password " +
             std::to_string(password) + "'";
   };

   Crowd crowd;
   for (int i = 0; i < 1000; ++i)
      crowd.add(std::make_unique<Connection>(server, i % 4 == 0   ? asApp(0, "first.crt")
                                                     : i % 4 == 1 ? local + "user=early"
                                                                  : "user=early sslmode=disable"));
   crowd.start();
   const std::string mismatch = "certificate verify failed";
   for (int round = 1; round <= 4; ++round) {
      CATCH_INFO("round " << round);
      const bool isOdd = round % 2 == 1;
      const char* const now = isOdd ? "late" : "early";
      const char* const before = isOdd ? "early" : "late";
      const std::string certificate = isOdd ? "second" : "first";
      files.copy(certificate + ".crt", "server.crt");
      files.copy(certificate + ".key", "server.key");
      files.write("hba", always + "host all " + now + " all trust\n");
      CATCH_CHECK(admin.run("ALTER ROLE app PASSWORD 'password " + std::to_string(round) + "'") == "ALTER ROLE");
      if (isOdd)
         server.signal(SIGHUP);
      else
         CATCH_CHECK(admin.run("SELECT pg_reload_conf()") == "t\n");
      // Rules come last; until they are there, those who come are told the old ones.
      while (!refusal(server, std::string("user=") + now).empty())
         ::usleep(1000);
      CATCH_CHECK(refusal(server, std::string("sslmode=disable user=") + before).starts_with("no pg_hba.conf entry"));
      const char* const root = isOdd ? "second.crt" : "first.crt";
      CATCH_CHECK(refusal(server, asApp(round, root)).empty());
      CATCH_CHECK(refusal(server, asApp(round - 1, root)) == "password authentication failed for user \"app\"");
      CATCH_CHECK(refusal(server, asApp(round, isOdd ? "first.crt" : "second.crt")).find(mismatch) !=
                  std::string::npos);
   }
   files.write("hba", always + "host all early all trust\nhost all all\n");
   files.write("server.key", "no key");
   server.signal(SIGHUP);
   const std::string log = server.awaitLog("was not reloaded; the old rules stay in use");
   CATCH_CHECK(log.find("hba: line 4: end-of-line before IP address specification") != std::string::npos);
   CATCH_CHECK(log.find("the old certificate stays in use") != std::string::npos);
   CATCH_CHECK(refusal(server, asApp(4, "first.crt")).empty());
   const uint64_t rounds = crowd.rounds();
   while (crowd.rounds() < rounds + 2) // everyone works on after the last change
      ::usleep(1000);
   crowd.stop();
   CATCH_CHECK(crowd.size() == 1000);
   CATCH_CHECK(crowd.failures() == 0);
   CATCH_CHECK(admin.run("SELECT count(*) FROM pg_stat_activity WHERE usename IN ('early', 'app')") == "1000\n");
}
