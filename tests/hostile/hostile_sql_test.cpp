#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <thread>

#include "tests/protocol/support.hpp"

// Statements that try to take the server's memory or time, one after the other, with two limits of memory. Each answers
// or ends with its code; resident memory stays near the limit; a cancel ends it at any moment; the server lives.

using namespace ouzel::wire;

namespace {

constexpr size_t mebibyte = size_t{1} << 20;
constexpr size_t overheadMax = 192 * mebibyte; ///< resident memory above the limit
using Clock = std::chrono::steady_clock;

/// A cancelled statement should end within 0.2 s. Machines that run tests are shared, and sanitizers slow down.
constexpr auto cancelMax = std::chrono::milliseconds(500);

struct Statement {
   std::string allowed; ///< SQLSTATEs and "ok"
   std::string sql;
};

/// The line with each ${3*text} as text, three times.
std::string expanded(const std::string& line) {
   std::string result;
   size_t at = 0;
   for (size_t open; (open = line.find("${", at)) != std::string::npos;) {
      const size_t star = line.find('*', open), close = line.find('}', star);
      CATCH_REQUIRE(close != std::string::npos);
      result += line.substr(at, open - at);
      for (int i = std::stoi(line.substr(open + 2, star - open - 2)); i > 0; --i)
         result += line.substr(star + 1, close - star - 1);
      at = close + 1;
   }
   return result + line.substr(at);
}

std::vector<Statement> statements() {
   std::ifstream file(OUZEL_SOURCE_DIR "/tests/hostile/statements.sql");
   CATCH_REQUIRE(file);
   std::vector<Statement> all;
   std::string comment, line;
   while (std::getline(file, line)) {
      if (line.starts_with("-- "))
         comment = line.substr(3);
      else if (!line.empty())
         all.push_back({comment, line});
   }
   CATCH_REQUIRE(all.size() >= 80);
   return all;
}

bool isAllowed(const Statement& statement, const std::string& answer) {
   const std::string state = answer.starts_with("ERROR ") ? answer.substr(6, 5) : "ok";
   if (state == "57014") return true; // the time limit
   std::istringstream words(statement.allowed);
   for (std::string word; words >> word;)
      if (word == state) return true;
   return false;
}

/// Whether the statement ends within `limit`.
bool endsWithin(const Connection& connection, std::chrono::milliseconds limit) {
   const auto until = Clock::now() + limit;
   while (true) {
      while (!PQisBusy(connection.get())) {
         PGresult* result = PQgetResult(connection.get());
         if (!result) return true;
         PQclear(result);
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      pollfd ready{PQsocket(connection.get()), POLLIN, 0};
      if (left.count() < 0 || poll(&ready, 1, static_cast<int>(left.count()) + 1) < 0) return false;
      if (PQconsumeInput(connection.get()) != 1) return true; // the caller asks whether the server lives
   }
}

void sendCancel(const Connection& connection) {
   PGcancel* cancel = PQgetCancel(connection.get());
   char error[256];
   PQcancel(cancel, error, sizeof error);
   PQfreeCancel(cancel);
}

/// Whether the statement ends in time when it is cancelled after so many milliseconds. A cancel that comes before the
/// server has read the statement is lost, by the protocol: the test then begins anew and cancels later.
bool endsByCancel(const ServerProcess& server, const Connection& connection, const std::string& sql, int after) {
   for (int attempt = 0; attempt < 3; ++attempt, after = 2 * after + 100) {
      CATCH_REQUIRE(PQsendQuery(connection.get(), sql.c_str()) == 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(after));
      const auto cpuBefore = server.cpuTime();
      sendCancel(connection);
      if (endsWithin(connection, cancelMax)) return true;
      // Others may have had the machine meanwhile.
      for (int i = 0; i < 100 && server.cpuTime() - cpuBefore < cancelMax; ++i)
         if (endsWithin(connection, std::chrono::milliseconds(50))) return true;
      while (!endsWithin(connection, 10 * cancelMax))
         sendCancel(connection);
   }
   return false;
}

void attack(size_t limit) {
   ServerProcess server({"--memory-limit", std::to_string(limit / mebibyte) + "MB", "--threads", "2"});
   for (const Statement& statement : statements()) {
      CATCH_INFO(statement.sql);
      const Connection connection(server);
      CATCH_REQUIRE(connection.isOpen());
      connection.run("SET statement_timeout = '3s'");
      server.forgetPeak();
      const std::string sql = expanded(statement.sql);
      const std::string answer = connection.run(sql);
      CATCH_INFO(answer.substr(0, 200));
      CATCH_CHECK(isAllowed(statement, answer));
      CATCH_CHECK(server.residentPeak() / mebibyte <= (limit + overheadMax) / mebibyte);
      for (const int after : {20, 300})
         CATCH_CHECK(endsByCancel(server, connection, sql, after));
      CATCH_REQUIRE(server.isRunning());
   }
   CATCH_CHECK(Connection(server).run("SELECT 'alive'") == "alive\n");
}

} // namespace

CATCH_TEST_CASE("statements that try to take memory or time, 256 MB") {
   attack(256 * mebibyte);
}

CATCH_TEST_CASE("statements that try to take memory or time, 1 GB") {
   attack(1024 * mebibyte);
}

CATCH_TEST_CASE("what sessions keep for later is counted") {
   constexpr size_t limit = 256 * mebibyte;
   ServerProcess server({"--memory-limit", "256MB", "--threads", "2"});
   const Connection connection(server);
   const auto keepsUntilRefused = [&](const std::string& name, const std::string& sql) {
      CATCH_INFO(name);
      std::string answer;
      int kept = 0;
      for (; kept < 100 && !answer.starts_with("ERROR"); ++kept)
         answer = connection.run(expanded(name + std::to_string(kept) + sql));
      CATCH_CHECK(kept > 2);
      CATCH_CHECK(answer.substr(0, 11) == "ERROR 53200");
      CATCH_CHECK(server.residentPeak() / mebibyte <= (limit + overheadMax) / mebibyte);
   };
   keepsUntilRefused("PREPARE p", " AS SELECT length('${1000000*01234}')");
   connection.run("DEALLOCATE ALL");
   connection.run("BEGIN");
   keepsUntilRefused("DECLARE c", " CURSOR FOR SELECT '${1000000*01234}'");
   connection.run("ROLLBACK");
   keepsUntilRefused("PREPARE q", " AS SELECT length('${1000000*01234}')");
}
