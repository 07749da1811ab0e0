#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/crash/server_process.hpp"

// Disks that are full or broken while queries spill: the query ends with 53100 or 58030 whatever it was doing, gives
// back its memory and its files, and the same query works when the disk does.
//
//   test_crash_spill --binary PATH

using namespace ouzel::crash;

namespace {

struct Query {
   const char* what;
   const char* text;
   bool surelySpills = true; ///< not what keeps some memory in any case
};
constexpr Query queries[] = {
    {"sort", "SELECT count(*), sum(n) FROM (SELECT n FROM many ORDER BY t, n OFFSET 10) s"},
    {"sort with a limit", "SELECT n FROM many ORDER BY t, n LIMIT 3 OFFSET 9000"},
    {"window", "SELECT sum(s) FROM (SELECT sum(n) OVER (PARTITION BY n % 500 ORDER BY t, n) s FROM many) w"},
    {"window in pages", "SELECT sum(s) FROM (SELECT lag(n) OVER (ORDER BY t, n) s FROM many) w"},
    {"CTE read twice", "WITH c AS MATERIALIZED (SELECT * FROM many) SELECT count(*) FROM c a, c b WHERE a.n = b.n + 1"},
    {"recursion", "WITH RECURSIVE r(n) AS (SELECT n FROM many UNION ALL SELECT n + 10000 FROM r WHERE n < 40000) "
                  "SELECT count(*), sum(n) FROM r"},
    {"RETURNING", "WITH d AS (UPDATE changed SET n = n RETURNING n) SELECT sum(n) FROM d"},
    {"aggregation", "SELECT count(*) FROM (SELECT n, max(t) FROM many GROUP BY n) g", false},
    {"join", "SELECT count(*) FROM many a JOIN many b ON a.n = b.n AND a.t = b.t", false},
};

std::string text(Client& client, const Query& query) {
   require(client.run(query.text), std::string(query.what) + ": " + client.message());
   std::string out;
   for (const auto& row : client.rows())
      for (const std::string& value : row)
         out += value + ' ';
   return out;
}

long memoryOfQueries(Client& client) {
   require(client.run("SELECT sum(bytes) FROM ouzel_stat_memory WHERE name = 'queries'"), client.message());
   return std::atol(client.rows().at(0).at(0).c_str());
}

} // namespace

int main(int count, char** arguments) {
   if (count != 3 || std::string(arguments[1]) != "--binary") {
      std::fprintf(stderr, "usage: %s --binary PATH\n", arguments[0]);
      return 2;
   }
   const Directory directory;
   struct Fault {
      const char* point;
      const char* error;
      const char* sqlstate;
   };
   constexpr Fault faults[] = {{"spill.allocate", "enospc", "53100"},
                               {"spill.write", "enospc", "53100"},
                               {"spill.write", "eio", "58030"},
                               {"spill.read", "eio", "58030"}};
   int failed = 0;
   for (const Fault& fault : faults) {
      const std::string isBroken = directory.path + "/broken";
      std::filesystem::remove_all(directory.path + "/data");
      ServerProcess server(arguments[2], directory.path,
                           {"--threads", "2", "--memory-limit", "256MB", "--log-level", "error"},
                           {{"OUZEL_TEST_POINTS", std::string(fault.point) + "=" + fault.error + "@" + isBroken}});
      require(server.isRunning(), "the server does not start");
      Client client(server.port());
      for (const char* statement :
           {"CREATE TABLE many (n int, t text)", "CREATE TABLE changed (n int)",
            "INSERT INTO many SELECT g, repeat(md5(g::text), 3) FROM generate_series(1, 10000) g",
            "INSERT INTO changed SELECT n FROM many", "SET ouzel.spill_all = on"})
         require(client.run(statement), client.message());
      const long before = memoryOfQueries(client);
      for (const Query& query : queries) {
         const std::string what = std::string(query.what) + ", " + fault.point + " " + fault.error;
         const std::string expected = text(client, query);
         std::ofstream(isBroken).put('x');
         const bool isDone = client.run(query.text);
         require(!isDone || !query.surelySpills, what + ": no error");
         require(isDone || client.sqlstate() == fault.sqlstate,
                 what + ": " + client.sqlstate() + " " + client.message());
         std::filesystem::remove(isBroken);
         const long after = memoryOfQueries(client);
         require(after <= before, what + ": " + std::to_string(after) + " bytes stay behind");
         require(text(client, query) == expected, what + ": another answer afterwards");
         failed += !isDone;
      }
      require(server.stop() == 0, "shutdown");
   }
   std::printf("%d queries failed as they should\n", failed);
   return 0;
}
