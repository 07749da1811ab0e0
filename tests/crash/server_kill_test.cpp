#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "common/hash/hash.hpp"
#include "tests/crash/bucket.hpp"
#include "tests/crash/database_work.hpp"
#include "tests/crash/made_objects.hpp"
#include "tests/crash/server_process.hpp"

// A server under load is killed with SIGKILL at random times. Clients transfer money between accounts, insert, load
// with COPY, create and drop databases and relations of all kinds (made_objects.hpp), commit with and without waiting
// and in two phases, and checkpoint. Each transaction also inserts a row into `done`.
//
// After the restart: acknowledged transactions are there; failed and uncommitted ones are not; one that was in flight
// is there completely or not at all; the sum of all accounts is unchanged; `ouzel check` finds no problem.
//
// The database is in a directory or, with --object-server, in a bucket. In a bucket some loads are large enough to be
// uploaded in parts, and after each orderly shutdown the bucket must hold only objects that the database needs. With
// --no-log commits wait for the bucket, and the files of a killed server are removed.
//
//   test_crash_server --binary PATH [--object-server PATH [--no-log] [--faults NAME=VALUE,...]] [--kills N] [--seed N]
//                     [--clients N] [--check-every N] [--keep]

using namespace ouzel;
using namespace ouzel::crash;

namespace {

constexpr int accounts = 100;
constexpr const char* initialBalance = "1000";

struct Options {
   std::string binary;
   std::string objectServer; ///< empty: the database is in a directory
   std::string faults;       ///< faults of the object server
   uint64_t kills = 20, seed = 1, checkEvery = 5;
   int clients = 4;
   bool keeps = false, hasNoLog = false;
};

/// The transactions of one client since the last start.
struct Work {
   struct Transaction {
      int64_t number;
      bool isAcknowledged;
      bool isLasting; ///< acknowledged by a commit that waited
      int64_t items;  ///< rows it inserted to `item`
      int64_t loaded; ///< rows it inserted to `load`
      int64_t table;  ///< number of the table that it creates (> 0) or drops (< 0)
   };
   std::vector<Transaction> sent; ///< COMMIT was sent and has not failed; the last may be in flight
   std::set<int64_t> failed;
};

std::string tableName(int client, int64_t number) {
   return "t_" + std::to_string(client) + "_" + std::to_string(number);
}

std::string preparedName(int client, int64_t number) {
   return std::to_string(client) + "_" + std::to_string(number);
}

/// Runs transactions until the connection is lost.
class Worker {
public:
   /// `loads`: all transactions are large loads. `alwaysWaits`: all commits wait, independent of the session's setting.
   Worker(int client, uint64_t seed, int port, int64_t first, bool loads, bool alwaysWaits)
      : databases(client, port), client_(client), state_(seed), port_(port), first_(first), number_(first),
        loads_(loads), alwaysWaits_(alwaysWaits) {}

   void run() {
      Client connection(port_);
      if (!connection.isConnected()) return;
      while (step(connection)) {
      }
   }

   Work work;
   int64_t next() const { return number_; }
   DatabaseWork databases;

private:
   uint64_t below(uint64_t bound) {
      state_ = hashU64(state_ + 1);
      return (state_ >> 16) % bound;
   }

   /// Runs one transaction. False: the connection is lost.
   bool step(Client& connection) {
      const int64_t n = number_++;
      if (!loads_ && below(30) == 0) return databases.step(connection, n);
      const std::string row = "(" + std::to_string(client_) + "," + std::to_string(n) + ")";
      const bool waits = below(4) != 0;
      Work::Transaction transaction{n, false, waits || alwaysWaits_, 0, 0, 0};
      std::vector<std::string> statements;
      std::string copied;
      const uint64_t kind = below(20);
      if (loads_) {
         // Digits of a hash do not compress: about 20 MB, uploaded in parts.
         transaction.loaded = 250'000 + static_cast<int64_t>(below(100'000));
         statements.push_back("INSERT INTO load SELECT " + std::to_string(client_) + "," + std::to_string(n) +
                              ", md5(g::text), md5((g + " + std::to_string(n) + ")::text) FROM generate_series(1, " +
                              std::to_string(transaction.loaded) + ") g");
      } else if (kind < 9) {
         const auto amount = std::to_string(below(50) + 1);
         const uint64_t from = below(accounts), to = (from + 1 + below(accounts - 1)) % accounts;
         statements.push_back("UPDATE account SET balance = balance - " + amount +
                              " WHERE id = " + std::to_string(from));
         statements.push_back("UPDATE account SET balance = balance + " + amount + " WHERE id = " + std::to_string(to));
      } else if (kind < 15) {
         transaction.items = static_cast<int64_t>(below(kind == 14 ? 5000 : 20) + 1);
         statements.push_back("INSERT INTO item SELECT " + std::to_string(client_) + "," + std::to_string(n) +
                              ", g FROM generate_series(1, " + std::to_string(transaction.items) + ") g");
      } else if (kind < 16) {
         // Whole row groups become blocks before the commit.
         transaction.items = static_cast<int64_t>(below(below(8) == 0 ? 70'000 : 3000) + 1);
         for (int64_t i = 0; i < transaction.items; ++i)
            copied += std::to_string(client_) + "\t" + std::to_string(n) + "\t" + std::to_string(i) + "\n";
      } else if (kind < 17 && !tables_.empty()) {
         transaction.table = -*tables_.begin();
         statements = removal(tableName(client_, *tables_.begin()), *tables_.begin());
      } else if (kind < 19) {
         transaction.table = n;
         statements = creation(tableName(client_, n), n);
      } else {
         if (client_ == 0 && below(3) == 0 && !connection.run("CHECKPOINT")) return connection.isConnected();
         // Deletes no rows of this run, because they are counted after the kill.
         statements.push_back("DELETE FROM item WHERE client = " + std::to_string(client_) + " AND n < " +
                              std::to_string(std::min(n - 300, first_)));
      }
      bool isWell = connection.run("BEGIN");
      if (isWell && !waits) isWell = connection.run("SET LOCAL synchronous_commit = off");
      for (const std::string& statement : statements)
         isWell = isWell && connection.run(statement);
      if (isWell && !copied.empty()) isWell = connection.copyIn("COPY item FROM STDIN", copied);
      isWell = isWell && connection.run("INSERT INTO done VALUES " + row);
      if (isWell && below(12) == 0) { // rolls back instead of committing
         work.failed.insert(n);
         return connection.run("ROLLBACK") || connection.isConnected();
      }
      if (!isWell) {
         work.failed.insert(n); // COMMIT was not sent
         if (!connection.isConnected() || connection.sqlstate().empty()) return false;
         if (connection.sqlstate().substr(0, 2) != "40") fail(connection.message());
         return connection.run("ROLLBACK") || connection.isConnected();
      }
      if (transaction.table == 0 && transaction.loaded == 0 && copied.empty() && below(8) == 0)
         return commitInTwoPhases(connection, transaction);
      work.sent.push_back(transaction);
      if (!connection.run("COMMIT")) {
         if (!connection.isConnected() || connection.sqlstate().empty()) return false;
         if (connection.sqlstate().substr(0, 2) != "40") fail(connection.message());
         work.sent.pop_back();
         work.failed.insert(n);
         return true;
      }
      work.sent.back().isAcknowledged = true;
      if (transaction.table > 0) tables_.insert(transaction.table);
      if (transaction.table < 0) tables_.erase(-transaction.table);
      return true;
   }

   /// From the acknowledgement of PREPARE TRANSACTION on the transaction cannot be lost: verify() finishes it.
   bool commitInTwoPhases(Client& connection, Work::Transaction transaction) {
      const std::string name = preparedName(client_, transaction.number);
      if (!connection.run("PREPARE TRANSACTION '" + name + "'")) {
         work.failed.insert(transaction.number);
         if (!connection.isConnected() || connection.sqlstate().empty()) return false;
         fail(connection.message());
      }
      transaction.isAcknowledged = transaction.isLasting = true;
      work.sent.push_back(transaction);
      if (transaction.items > 0 && below(3) == 0) return true; // verify() finishes it; nobody waits for its rows
      if (connection.run("COMMIT PREPARED '" + name + "'")) return true;
      if (connection.isConnected() && !connection.sqlstate().empty()) fail(connection.message());
      return false;
   }

   const int client_;
   uint64_t state_;
   const int port_;
   const int64_t first_; ///< number of its first transaction
   int64_t number_;
   const bool loads_, alwaysWaits_;
   std::set<int64_t> tables_; ///< tables that this run made
};

void query(Client& client, const std::string& statement) {
   if (!client.run(statement)) fail(statement + ": " + client.message());
}

int64_t one(Client& client, const std::string& statement) {
   query(client, statement);
   return std::atoll(client.rows().at(0).at(0).c_str());
}

/// Commits the prepared transactions whose PREPARE was acknowledged, and rolls the others back.
void finishPrepared(Client& client, const std::vector<std::unique_ptr<Worker>>& workers) {
   std::set<std::string> acknowledged;
   for (size_t c = 0; c < workers.size(); ++c)
      for (const auto& transaction : workers[c]->work.sent)
         acknowledged.insert(preparedName(static_cast<int>(c), transaction.number));
   query(client, "SELECT gid FROM pg_prepared_xacts");
   const auto rows = client.rows();
   for (const auto& row : rows)
      query(client, (acknowledged.contains(row[0]) ? "COMMIT PREPARED '" : "ROLLBACK PREPARED '") + row[0] + "'");
}

/// Compares the database with the workers' records. Returns the number of transactions in the database.
uint64_t verify(Client& client, const std::vector<std::unique_ptr<Worker>>& workers, int64_t firstNumber,
                int64_t& doneBefore) {
   finishPrepared(client, workers);
   if (one(client, "SELECT sum(balance) FROM account") != accounts * std::atoll(initialBalance))
      fail("money has come or gone");
   if (one(client, "SELECT count(*) FROM account") != accounts) fail("accounts have come or gone");
   std::map<int, std::set<int64_t>> done;
   query(client, "SELECT client, n FROM done WHERE n >= " + std::to_string(firstNumber));
   for (const auto& row : client.rows())
      if (!done[std::atoi(row[0].c_str())].insert(std::atoll(row[1].c_str())).second)
         fail("a transaction is there twice");
   std::map<std::pair<int, int64_t>, int64_t> items;
   query(client, "SELECT client, n, count(*) FROM item WHERE n >= " + std::to_string(firstNumber) + " GROUP BY 1, 2");
   for (const auto& row : client.rows())
      items[{std::atoi(row[0].c_str()), std::atoll(row[1].c_str())}] = std::atoll(row[2].c_str());
   std::map<std::pair<int, int64_t>, int64_t> loaded;
   query(client, "SELECT client, n, count(*), sum(length(a) + length(b)) FROM load GROUP BY 1, 2");
   for (const auto& row : client.rows()) {
      const int64_t rows = std::atoll(row[2].c_str());
      loaded[{std::atoi(row[0].c_str()), std::atoll(row[1].c_str())}] = rows;
      if (std::atoll(row[3].c_str()) != rows * 64) fail("what was loaded has another length");
   }
   std::set<std::string> tables;
   query(client, "SELECT relname FROM pg_class WHERE relname LIKE 't\\_%' AND relkind IN ('r', 'p', 'm')");
   for (const auto& row : client.rows())
      tables.insert(row[0]);
   uint64_t found = 0;
   std::set<std::string> expected;
   for (size_t c = 0; c < workers.size(); ++c) {
      const auto& present = done[static_cast<int>(c)];
      const Work& work = workers[c]->work;
      // Commits that did not wait may be lost, in reverse order.
      size_t settled = 0;
      for (size_t i = 0; i < work.sent.size(); ++i)
         if (work.sent[i].isAcknowledged && work.sent[i].isLasting) settled = i + 1;
      bool isEnd = false;
      for (size_t i = 0; i < work.sent.size(); ++i) {
         const auto& transaction = work.sent[i];
         const bool isThere = present.contains(transaction.number);
         const std::string name = "client " + std::to_string(c) + " transaction " + std::to_string(transaction.number);
         if (!isThere && i < settled) fail(name + " was acknowledged and is lost");
         if (isThere && isEnd) fail(name + " is there, but not the one before");
         isEnd |= !isThere;
         found += isThere;
         const auto requireAll = [&](const char* table, const auto& counts, int64_t rows) {
            const auto it = counts.find({static_cast<int>(c), transaction.number});
            const int64_t there = it == counts.end() ? 0 : it->second;
            if (there == (isThere ? rows : 0)) return;
            fail(name + " is there in part: " + std::to_string(there) + " of " + std::to_string(rows) + " rows of " +
                 table + ", and " + (isThere ? "1" : "no") + " row of done");
         };
         requireAll("item", items, transaction.items);
         requireAll("load", loaded, transaction.loaded);
         if (isThere && transaction.table > 0) expected.insert(tableName(static_cast<int>(c), transaction.table));
         if (isThere && transaction.table < 0) expected.erase(tableName(static_cast<int>(c), -transaction.table));
      }
      for (const int64_t number : work.failed)
         if (present.contains(number)) fail("client " + std::to_string(c) + ": a transaction without COMMIT is there");
      if (present.size() > work.sent.size()) fail("transactions nobody sent are there");
   }
   if (tables != expected)
      fail("there are " + std::to_string(tables.size()) + " tables, expected " + std::to_string(expected.size()));
   for (const std::string& table : tables) {
      const int64_t number = std::atoll(table.substr(table.rfind('_') + 1).c_str());
      if (one(client, "SELECT count(*) FROM " + table) != 1) fail("table " + table + " has lost its row");
      if (one(client, proof(table, number)) != 1) fail("table " + table + " has lost what belongs to it");
      for (const std::string& statement : removal(table, number))
         query(client, statement);
   }
   doneBefore += static_cast<int64_t>(found);
   if (one(client, "SELECT count(*) FROM done") != doneBefore) fail("older transactions are lost");
   return found;
}

void checkFiles(const Options& options, const std::string& directory, const std::string& data) {
   const std::string log = options.hasNoLog ? "" : " --wal " + directory + "/wal";
   const std::string command = options.binary + " check --data '" + data + "'" + log + " >" + directory + "/check 2>&1";
   const int status = std::system(command.c_str());
   if (status != 0) fail("ouzel check: see " + directory + "/check");
}

/// Checks that the bucket holds only objects that the database needs. REQUIRES: a server has been started and shut down
/// since the last kill.
void checkBucket(const Bucket& bucket) {
   const std::vector<std::string> leftovers = bucket.leftovers();
   for (const std::string& name : leftovers)
      std::fprintf(stderr, "left over: %s\n", name.c_str());
   if (!leftovers.empty()) fail("there are objects that nobody needs");
}

/// Figures of a run.
struct Totals {
   uint64_t transactions = 0, cutUploads = 0;
   double recovery = 0, recoveryMax = 0; ///< seconds
};

void createTables(int port) {
   Client client(port);
   query(client, "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL)");
   query(client, std::string("INSERT INTO account SELECT g, ") + initialBalance + " FROM generate_series(0, 99) g");
   query(client, "CREATE TABLE done (client int, n bigint)");
   query(client, "CREATE TABLE item (client int, n bigint, i bigint)");
   query(client, "CREATE TABLE load (client int, n bigint, a text, b text)");
}

void run(const Options& options, const std::string& directory) {
   const auto start = std::chrono::steady_clock::now();
   std::unique_ptr<Bucket> bucket;
   std::string data = directory + "/data";
   if (!options.objectServer.empty()) {
      bucket = std::make_unique<Bucket>(options.objectServer, directory, options.faults);
      data = bucket->address();
      for (const auto& [name, value] : Bucket::environment())
         ::setenv(name.c_str(), value.c_str(), 1); // for `ouzel check`, too
   }
   std::vector<std::string> flags = {"--threads",   "2",     "--memory-limit", "1GB",
                                     "--log-level", "error", "--data",         data}; // the last --data counts
   const std::string temporary = directory + "/tmp";
   if (options.hasNoLog) {
      std::filesystem::create_directory(temporary);
      ::setenv("TMPDIR", temporary.c_str(), 1);
      flags.insert(flags.end(), {"--commit", "object_store"});
   } else { // the log in another directory; automatic checkpoints, too
      flags.insert(flags.end(), {"--wal", directory + "/wal", "--checkpoint-wal-size", "1MB"});
   }
   const auto startServer = [&](const std::string& after) {
      auto server = std::make_unique<ServerProcess>(options.binary, directory, flags);
      if (!server->isRunning()) fail(after + ": the server does not start; see " + directory + "/log");
      return server;
   };
   Totals totals;
   int64_t firstNumber = 1, doneBefore = 0;
   auto server = startServer("at first");
   createTables(server->port());
   for (uint64_t round = 0; round < options.kills; ++round) {
      const uint64_t random = hashU64(options.seed ^ hashU64(round));
      const bool isHeavy = bucket && round % 10 == 9;
      std::vector<std::unique_ptr<Worker>> workers;
      std::vector<std::thread> threads;
      for (int c = 0; c < options.clients; ++c)
         workers.push_back(std::make_unique<Worker>(c, random + static_cast<uint64_t>(c), server->port(), firstNumber,
                                                    isHeavy && c == 0, options.hasNoLog));
      for (const auto& worker : workers)
         threads.emplace_back([&worker = *worker] { worker.run(); });
      std::this_thread::sleep_for(std::chrono::microseconds(5'000 + random % (isHeavy ? 1'500'000 : 120'000)));
      server->kill();
      for (std::thread& thread : threads)
         thread.join();
      if (options.hasNoLog) {
         std::filesystem::remove_all(temporary);
         std::filesystem::create_directory(temporary);
      }
      if (bucket) totals.cutUploads += bucket->pendingUploads();
      const bool checks = round % options.checkEvery == 0;
      if (checks) checkFiles(options, directory, data);
      const auto before = std::chrono::steady_clock::now();
      server = startServer("kill " + std::to_string(round));
      const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      totals.recovery += took;
      totals.recoveryMax = std::max(totals.recoveryMax, took);
      {
         Client client(server->port());
         totals.transactions += verify(client, workers, firstNumber, doneBefore);
         for (const auto& worker : workers)
            worker->databases.verify(client, server->port());
         if (isHeavy) query(client, "TRUNCATE load");
         if (round % 25 == 24) query(client, "CHECKPOINT");
      }
      for (const auto& worker : workers)
         firstNumber = std::max(firstNumber, worker->next());
      if (bucket && checks) {
         if (server->stop() != 0) fail("the server did not stop well");
         checkBucket(*bucket);
         server = startServer("after a good end");
      }
   }
   if (server->stop() != 0) fail("the server did not stop well");
   checkFiles(options, directory, data);
   if (bucket) {
      checkBucket(*bucket);
      std::printf("%zu objects in the bucket, none of them left over; %lu uploads in parts were cut off\n",
                  bucket->objects(), totals.cutUploads);
   }
   const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
   std::printf(
       "%lu kills, %lu transactions found as they should be, %.1f s, %.2f s a kill; starts took %.3f s, at most %.3f s "
       "(seed %lu): all well\n",
       options.kills, totals.transactions, seconds, seconds / static_cast<double>(options.kills),
       totals.recovery / static_cast<double>(options.kills), totals.recoveryMax, options.seed);
}

} // namespace

int main(int count, char** arguments) {
   Options options;
   for (int i = 1; i < count; ++i) {
      const std::string argument = arguments[i];
      const char* value = i + 1 < count ? arguments[i + 1] : "";
      if (argument == "--keep") {
         options.keeps = true;
         continue;
      }
      if (argument == "--no-log") {
         options.hasNoLog = true;
         continue;
      }
      if (argument == "--binary") options.binary = value;
      if (argument == "--object-server") options.objectServer = value;
      if (argument == "--faults") options.faults = value;
      if (argument == "--kills") options.kills = std::strtoull(value, nullptr, 10);
      if (argument == "--seed") options.seed = std::strtoull(value, nullptr, 10);
      if (argument == "--clients") options.clients = std::atoi(value);
      if (argument == "--check-every") options.checkEvery = std::strtoull(value, nullptr, 10);
      ++i;
   }
   if (options.binary.empty() || (options.hasNoLog && options.objectServer.empty())) {
      std::fprintf(stderr,
                   "usage: %s --binary PATH [--object-server PATH [--no-log] [--faults NAME=VALUE,...]] [--kills N] "
                   "[--seed N] [--clients N] [--check-every N] [--keep]\n",
                   arguments[0]);
      return 2;
   }
   std::string directory = (std::filesystem::temp_directory_path() / "ouzel-kill-XXXXXX").string();
   if (!::mkdtemp(directory.data())) return std::perror("mkdtemp"), 2;
   run(options, directory);
   if (!options.keeps) std::filesystem::remove_all(directory);
   return 0;
}
