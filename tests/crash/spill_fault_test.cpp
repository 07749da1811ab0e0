#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/crash/server_process.hpp"
#include "tests/crash/spill_queries.hpp"

// Full and broken disks while queries spill. The query ends with 53100 or 58030, in any phase, and releases its memory
// and files. The same query succeeds when the disk works again.
//
//   test_crash_spill --binary PATH

using namespace ouzel::crash;

namespace {

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
      setUpSpillTables(client);
      makeSpill(client);
      const long before = memoryOfQueries(client);
      for (const SpillQuery& query : spillQueries) {
         const std::string what = std::string(query.what) + ", " + fault.point + " " + fault.error;
         const std::string expected = answerOf(client, query);
         std::ofstream(isBroken).put('x');
         const bool isDone = client.run(query.text);
         require(!isDone || !query.surelySpills, what + ": no error");
         require(isDone || client.sqlstate() == fault.sqlstate ||
                     (query.sqlstate && client.sqlstate() == query.sqlstate),
                 what + ": " + client.sqlstate() + " " + client.message());
         std::filesystem::remove(isBroken);
         const long after = memoryOfQueries(client);
         require(after <= before, what + ": " + std::to_string(after) + " bytes stay behind");
         require(answerOf(client, query) == expected, what + ": another answer afterwards");
         failed += !isDone;
      }
      require(server.stop() == 0, "shutdown");
   }
   std::printf("%d queries failed as they should\n", failed);
   return 0;
}
