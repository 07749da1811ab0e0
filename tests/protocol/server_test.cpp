#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/protocol/support.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel::wire;
namespace raw = ouzel::protocol::test;

// The server process: command line, passwords, TLS, SIGTERM. Each test starts its own servers.

namespace {

struct Outcome {
   int status;
   std::string output;
};

Outcome runBinary(const std::string& arguments) {
   const char* path = std::getenv("OUZEL_BINARY");
   const std::string command = std::string(path ? path : OUZEL_BINARY_DEFAULT) + " " + arguments + " 2>&1";
   FILE* pipe = popen(command.c_str(), "r");
   Outcome outcome{-1, ""};
   char chunk[512];
   for (size_t got; (got = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
      outcome.output.append(chunk, got);
   const int status = pclose(pipe);
   outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
   return outcome;
}

} // namespace

CATCH_TEST_CASE("command line") {
   if (sharedServer().isForeign()) return;
   CATCH_CHECK(runBinary("--version").output.starts_with("ouzel "));
   CATCH_CHECK(runBinary("--version").status == 0);
   CATCH_CHECK(runBinary("serve --help").status == 0);
   CATCH_CHECK(runBinary("serve --help").output.find("--memory-limit SIZE") != std::string::npos);
   CATCH_CHECK(runBinary("").status == 2);
   CATCH_CHECK(runBinary("dance").status == 2);
   const auto unknown = runBinary("serve --data x --dance 1");
   CATCH_CHECK(unknown.status == 2);
   CATCH_CHECK(unknown.output.find("unknown option \"--dance\"") != std::string::npos);
   CATCH_CHECK(runBinary("check").status == 2);
   const auto open = runBinary("serve --data /tmp/ouzel-wire-refused --port 0 --listen 0.0.0.0");
   CATCH_CHECK(open.status == 1);
   CATCH_CHECK(open.output.find("password") != std::string::npos);
   std::filesystem::remove_all("/tmp/ouzel-wire-refused");
}

CATCH_TEST_CASE("a wrong line of the configuration ends the start with its number") {
   if (sharedServer().isForeign()) return;
   const std::string file = "/tmp/ouzel-wire-configuration-" + std::to_string(getpid());
   const std::string data = file + ".data";
   const auto start = [&](const std::string& text, const std::string& variable = "") {
      std::ofstream(file) << text;
      const std::string old = variable.empty() ? "" : variable.substr(0, variable.find('='));
      if (!variable.empty()) setenv(old.c_str(), variable.substr(old.size() + 1).c_str(), 1);
      const Outcome outcome = runBinary("serve --port 0 --data " + data + " --config " + file);
      if (!variable.empty()) unsetenv(old.c_str());
      CATCH_CHECK(outcome.status == 2);
      CATCH_CHECK_FALSE(std::filesystem::exists(data)); // nothing was begun
      return outcome.output.substr(0, outcome.output.find('\n'));
   };
   const std::string where = "ouzel: " + file + ":2: ";
   CATCH_CHECK(start("# a comment\nmemry_limit = 4GB\n") ==
               where +
                   "memry_limit: unrecognized configuration parameter \"memry_limit\"; perhaps you mean memory_limit");
   CATCH_CHECK(
       start("port = 0\nmemory-limit = 1GB\n") ==
       where + "memory-limit: unrecognized configuration parameter \"memory-limit\"; perhaps you mean memory_limit");
   CATCH_CHECK(start("\nwork_mem = banana\n") ==
               where + "work_mem: invalid value for parameter \"work_mem\": \"banana\"");
   CATCH_CHECK(start("\nport = 70000\n") == where + "port: \"70000\" is not a number from 0 to 65535");
   CATCH_CHECK(start("\nport\n") == "ouzel: " + file + ":2: expected \"name = value\"");
   CATCH_CHECK(start("", "OUZEL_PROT=1") ==
               "ouzel: unknown environment variable OUZEL_PROT; perhaps you mean OUZEL_PORT");
   CATCH_CHECK(start("", "OUZEL_THREADS=many") == "ouzel: OUZEL_THREADS: \"many\" is not a number from 1 to 4096");
   std::filesystem::remove(file);
}

CATCH_TEST_CASE("remote clients need the password, local ones do not") {
   const auto address = outsideAddress();
   if (sharedServer().isForeign() || !address) return;
   setenv("OUZEL_PASSWORD", "right one", 1);
   ServerProcess server({"--listen", "0.0.0.0"});
   unsetenv("OUZEL_PASSWORD");
   CATCH_CHECK(Connection(server).run("SELECT 1") == "1\n");
   server.host = *address;
   CATCH_CHECK(Connection(server, "password='right one'").run("SELECT 1") == "1\n");
   for (const char* wrong : {"password=wrong", "password='right one' user=nobody", "password='right one '"}) {
      const Connection refused(server, wrong, true);
      CATCH_CHECK_FALSE(refused.isOpen());
      CATCH_CHECK(refused.error().find("password authentication failed for user") != std::string::npos);
   }
   const Connection none(server, "passfile=/dev/null", true);
   CATCH_CHECK_FALSE(none.isOpen());
   RawClient broken(server);
   CATCH_CHECK(broken.ask(raw::startupPacket({{"user", "postgres"}}) + raw::message('p', "garbage")).find("FATAL") !=
               std::string::npos);
   // The catalog stores the verifier, so the next start needs no password.
   CATCH_CHECK(server.stop() == 0);
   server.host = "127.0.0.1";
   server.start();
   server.host = *address;
   CATCH_CHECK(Connection(server, "password='right one'").run("SELECT 1") == "1\n");
}

CATCH_TEST_CASE("TLS") {
   if (sharedServer().isForeign()) return;
   const auto directory = std::filesystem::temp_directory_path() / ("ouzel-tls-" + std::to_string(getpid()));
   std::filesystem::create_directories(directory);
   const std::string key = (directory / "key.pem").string(), certificate = (directory / "cert.pem").string();
   const std::string make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout " + key +
                            " -out " + certificate + " 2>/dev/null";
   CATCH_REQUIRE(std::system(make.c_str()) == 0);
   {
      ServerProcess server({"--ssl-cert-file", certificate, "--ssl-key-file", key});
      const Connection c(server, "sslmode=require");
      CATCH_CHECK(PQsslInUse(c.get()) == 1);
      CATCH_CHECK(
          c.run("SELECT count(*), sum(length(x)) FROM (SELECT repeat('x', 1000) x FROM generate_series(1, 1000)) t") ==
          "1000|1000000\n");
      const std::string large = c.run("SELECT repeat('x', 5000000)");
      CATCH_CHECK(large.size() == 5'000'001);
      CATCH_CHECK(Connection(server, "sslmode=disable").run("SELECT 1") == "1\n");
      // The server refuses unencrypted bytes behind the TLS request.
      const RawClient sneaky(server);
      sneaky.send(raw::int32(8) + raw::int32(80877103) + raw::startupPacket({{"user", "postgres"}}));
      const std::string bytes = sneaky.receive();
      CATCH_CHECK(bytes.find("received unencrypted data after SSL request") != std::string::npos);
   }
   std::filesystem::remove_all(directory);
}

CATCH_TEST_CASE("SIGTERM ends what runs, and what was committed is there again") {
   if (sharedServer().isForeign()) return;
   ServerProcess server;
   {
      const Connection c(server);
      CATCH_CHECK(c.run("CREATE TABLE kept (a int)") == "CREATE TABLE");
      CATCH_CHECK(c.run("INSERT INTO kept VALUES (1), (2)") == "INSERT 0 2");
   }
   const Connection idle(server), inTransaction(server), busy(server);
   CATCH_CHECK(inTransaction.run("BEGIN") == "BEGIN");
   CATCH_CHECK(inTransaction.run("INSERT INTO kept VALUES (3)") == "INSERT 0 1");
   PQsendQuery(busy.get(), "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b");
   CATCH_CHECK(server.stop() == 0);
   CATCH_CHECK(describe(Result(PQgetResult(busy.get())).get()) ==
               "ERROR 57P01 terminating connection due to administrator command");
   // libpq shows the FATAL message if it reads before its write fails, else that the connection is lost.
   const std::string ended = idle.run("SELECT 1");
   CATCH_INFO(ended);
   CATCH_CHECK((ended.find("terminating connection due to administrator command") != std::string::npos ||
                ended.find("connection") != std::string::npos));
   server.start();
   CATCH_CHECK(Connection(server).run("SELECT sum(a) FROM kept") == "3\n");
}
