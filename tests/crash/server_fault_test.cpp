#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <unistd.h>

#include "tests/crash/server_process.hpp"

// A server that is killed at each test point on the way to the disk (common/error/test_point.hpp), a server whose disk
// is full, and a server whose log cannot be written. After the next start all acknowledged rows are there. A full disk
// fails only the transactions that need space.
//
//   test_crash_faults --binary PATH

using namespace ouzel::crash;

namespace {

/// All test points, in the order in which a commit and a checkpoint reach them.
constexpr const char* points[] = {
    "log.truncate",
    "log.open",
    "log.named",
    "log.opened",
    "log.reserve",
    "commit.appended",
    "log.write",
    "log.sync",
    "log.synced",
    "commit.flushed",
    "commit.published",
    "put.write",
    "put.sync",
    "put.name",
    "put.named",
    "put.done",
    "compaction.rewritten",
    "compaction.published",
    "checkpoint.captured",
    "checkpoint.encoded",
    "manifest.publish",
    "manifest.published",
    "store.remove",
    "log.remove",
};

std::string binary;
const std::vector<std::string> flags = {"--threads", "2", "--memory-limit", "512MB", "--log-level", "error"};

int64_t number(Client& client, const std::string& query) {
   require(client.run(query), query + ": " + client.message());
   return std::atoll(client.rows().at(0).at(0).c_str());
}

/// Rows for a COPY that makes a block.
std::string manyRows(int64_t from) {
   std::string rows;
   for (int64_t i = 0; i < 40'000; ++i)
      rows += std::to_string(from + i) + "\n";
   return rows;
}

void checkFiles(const Directory& directory) {
   const std::string command = binary + " check --data " + directory.path + "/data >/dev/null 2>&1";
   require(std::system(command.c_str()) == 0, "ouzel check");
}

/// Inserts, loads, drops and checkpoints until the connection is lost. Counts sent and acknowledged statements.
struct Load {
   int64_t sent = 0, acknowledged = 0;             ///< rows of `single`, 1 ... n
   int64_t bulkSent = 0, bulkAcknowledged = 0;     ///< loads of `bulk`
   int64_t tablesSent = 0, tablesAcknowledged = 0; ///< times `extra` was dropped and made again; its row has the count

   void run(Client& client) {
      const auto step = [&](int64_t& sentCount, int64_t& acknowledgedCount, auto&& statement) {
         ++sentCount;
         if (!statement()) return false;
         ++acknowledgedCount;
         return true;
      };
      for (int round = 0; round < 4; ++round) {
         for (int i = 0; i < 4; ++i)
            if (!step(sent, acknowledged,
                      [&] { return client.run("INSERT INTO single VALUES (" + std::to_string(sent) + ")"); }))
               return;
         if (!step(bulkSent, bulkAcknowledged, [&] { return client.copyIn("COPY bulk FROM STDIN", manyRows(0)); }))
            return;
         if (!step(tablesSent, tablesAcknowledged, [&] {
                return client.run("BEGIN; DROP TABLE extra; CREATE TABLE extra (n int); INSERT INTO extra VALUES (" +
                                  std::to_string(tablesSent) + "); COMMIT");
             }))
            return;
         if (!client.run("CHECKPOINT")) return;
      }
   }

   void verify(Client& client, const std::string& name) const {
      const auto between = [&](int64_t value, int64_t low, int64_t high, const char* what) {
         require(value >= low && value <= high, name + ": " + what + ": " + std::to_string(value) + ", expected " +
                                                    std::to_string(low) + " to " + std::to_string(high));
      };
      const int64_t rows = number(client, "SELECT count(*) FROM single");
      between(rows, acknowledged, sent, "rows");
      require(rows == 0 || number(client, "SELECT sum(n) FROM single") == rows * (rows + 1) / 2, name + ": other rows");
      const int64_t loaded = number(client, "SELECT count(*) FROM bulk");
      require(loaded % 40'000 == 0, name + ": a load is there in part");
      between(loaded / 40'000, bulkAcknowledged, bulkSent, "loads");
      between(number(client, "SELECT n FROM extra"), tablesAcknowledged, tablesSent, "tables");
   }
};

void prepare(const Directory& directory) {
   ServerProcess server(binary, directory.path, flags);
   require(server.isRunning(), "the server does not start");
   Client client(server.port());
   require(client.run("CREATE TABLE single (n int); CREATE TABLE bulk (n int); CREATE TABLE extra (n int); INSERT INTO "
                      "extra VALUES (0)"),
           client.message());
}

/// Kills the server when it reaches the point for the n-th time. Returns whether it did.
bool killAt(const std::string& point, int times) {
   const Directory directory;
   prepare(directory); // ends with a kill, so the next start replays and truncates a log
   const std::string name = point + " time " + std::to_string(times);
   Load load;
   bool wasReached = true;
   {
      ServerProcess server(binary, directory.path, flags,
                           {{"OUZEL_TEST_POINTS", point + "=kill@" + std::to_string(times)}});
      if (server.isRunning()) {
         Client client(server.port());
         if (client.isConnected()) load.run(client);
         wasReached = !client.isConnected() || !client.run("SELECT 1");
      }
   }
   checkFiles(directory);
   ServerProcess server(binary, directory.path, flags);
   require(server.isRunning(), name + ": no start afterwards; " + directory.path);
   Client client(server.port());
   load.verify(client, name);
   require(client.run("INSERT INTO single VALUES (0)") && client.run("CHECKPOINT"), name + ": " + client.message());
   require(server.stop() == 0, name + ": shutdown");
   return wasReached;
}

/// The disk counts as full while a file exists.
void fullDisk() {
   const Directory directory;
   prepare(directory);
   const std::string isFull = directory.path + "/full";
   const auto setFull = [&](bool full) {
      if (full)
         std::ofstream(isFull).put('x');
      else
         std::filesystem::remove(isFull);
   };
   {
      ServerProcess server(binary, directory.path, flags,
                           {{"OUZEL_TEST_POINTS", "log.reserve=enospc@" + isFull + ";put.write=enospc@" + isFull}});
      require(server.isRunning(), "the server does not start");
      Client writer(server.port()), reader(server.port());
      require(writer.run("INSERT INTO single VALUES (1)"), writer.message());
      const auto refuses = [&](bool isWell, const char* what) {
         require(!isWell && writer.sqlstate() == "53100", std::string(what) + " on a full disk: " + writer.sqlstate());
      };
      for (int round = 0; round < 3; ++round) {
         const int64_t rows = number(reader, "SELECT count(*) FROM single"),
                       loads = number(reader, "SELECT count(*) FROM bulk");
         setFull(true);
         refuses(writer.run("INSERT INTO single VALUES (1000)"), "INSERT");
         refuses(writer.run("BEGIN; DELETE FROM single; CREATE TABLE never (n int); COMMIT"), "DELETE");
         writer.run("ROLLBACK");
         refuses(writer.copyIn("COPY bulk FROM STDIN", manyRows(0)), "COPY");
         refuses(writer.run("CREATE TABLE copied AS SELECT g FROM generate_series(1, 100000) g"), "CREATE TABLE AS");
         refuses(writer.run("CHECKPOINT"), "CHECKPOINT");
         require(number(reader, "SELECT count(*) FROM single") == rows, "readers go on");
         require(number(writer, "SELECT count(*) FROM bulk") == loads, "nothing of a failed load remains");
         setFull(false);
         require(writer.run("INSERT INTO single VALUES (" + std::to_string(rows + 1) + ")"),
                 "INSERT when space is back: " + writer.message());
         require(writer.copyIn("COPY bulk FROM STDIN", manyRows(0)), "COPY when space is back: " + writer.message());
         require(writer.run("CHECKPOINT"), "CHECKPOINT when space is back: " + writer.message());
      }
   }
   checkFiles(directory);
   ServerProcess server(binary, directory.path, flags);
   require(server.isRunning(), "no start after a full disk");
   Client client(server.port());
   require(number(client, "SELECT sum(n) FROM single") == 1 + 2 + 3 + 4, "rows after a full disk");
   require(number(client, "SELECT count(*) FROM bulk") == 3 * 40'000, "loads after a full disk");
   require(number(client, "SELECT count(*) FROM pg_class WHERE relname IN ('never', 'copied')") == 0,
           "tables after a full disk");
   require(server.stop() == 0, "shutdown");
}

/// The log's space is reserved, so a failing write is an error of the device and ends the process.
void brokenLog(const char* point, const char* error) {
   const Directory directory;
   prepare(directory);
   {
      ServerProcess server(binary, directory.path, flags,
                           {{"OUZEL_TEST_POINTS", std::string(point) + "=" + error + "@3"}});
      require(server.isRunning(), "the server does not start");
      Client client(server.port());
      for (int n = 1; n <= 3; ++n)
         require(client.run("INSERT INTO single VALUES (" + std::to_string(n) + ")") == (n < 3),
                 "commit " + std::to_string(n));
      require(server.wait() == 128 + SIGABRT, "an error of the log ends the process");
   }
   ServerProcess server(binary, directory.path, flags);
   Client client(server.port());
   const int64_t rows = number(client, "SELECT count(*) FROM single");
   require(rows == 2 || rows == 3, "rows after an error of the log");
}

} // namespace

int main(int count, char** arguments) {
   if (count != 3 || std::string(arguments[1]) != "--binary") {
      std::fprintf(stderr, "usage: %s --binary PATH\n", arguments[0]);
      return 2;
   }
   binary = arguments[2];
   int kills = 0;
   for (const char* point : points) {
      require(killAt(point, 1), std::string(point) + " was not reached");
      ++kills;
      for (const int times : {2, 7})
         kills += killAt(point, times);
   }
   fullDisk();
   brokenLog("log.write", "eio");
   brokenLog("log.sync", "eio");
   brokenLog("log.sync", "enospc");
   std::printf("%d kills at %zu points, a full disk, a broken log: all well\n", kills, std::size(points));
   return 0;
}
