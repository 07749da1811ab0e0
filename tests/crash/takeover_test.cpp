#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <unistd.h>

#include "tests/crash/server_process.hpp"

// Two servers and one database. The first server is stopped (SIGSTOP) under load, at a random time or at a test point
// on the way to the disk. The second server takes over, and the first one continues (SIGCONT). All rows that either
// server acknowledged are in the database, and the first server ends by itself.
//
//   test_crash_takeover --binary PATH [--rounds N] [--seed N]

using namespace ouzel::crash;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int clients = 4;
std::string binary;
std::vector<std::string> flags = {"--threads",   "2",     "--memory-limit",        "512MB", "--lease-seconds", "1",
                                  "--log-level", "error", "--checkpoint-wal-size", "1MB"};

std::vector<std::string> takingOver() {
   auto with = flags;
   with.push_back("--take-over");
   return with;
}

/// Clients that insert different numbers until stop() or until the server refuses.
class Load {
public:
   Load(int port, int64_t firstNumber) {
      for (int c = 0; c < clients; ++c)
         threads_.emplace_back([this, port, number = firstNumber + c]() mutable {
            Client client(port);
            for (; !isStopping && client.isConnected(); number += clients) {
               const bool isWell = client.run("INSERT INTO t VALUES (" + std::to_string(number) + ")");
               const std::lock_guard lock(mutex_);
               if (isWell) {
                  acknowledged.insert(number);
                  if (hasWoken) ++acknowledgedLate;
               } else {
                  errors.insert(client.sqlstate());
                  if (client.sqlstate() != "08007" && client.sqlstate() != "25006" && client.sqlstate() != "57P01" &&
                      !client.sqlstate().empty())
                     fail("a client got " + client.sqlstate() + ": " + client.message());
               }
               if (number % 100 == 0) needsCheckpoint = true;
            }
         });
      threads_.emplace_back([this, port] {
         Client client(port);
         while (!isStopping && client.isConnected()) {
            if (needsCheckpoint.exchange(false)) client.run("CHECKPOINT");
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
         }
      });
   }
   ~Load() { finish(); }
   void finish() {
      isStopping = true;
      join();
   }
   void join() {
      for (auto& thread : threads_)
         if (thread.joinable()) thread.join();
   }
   size_t count() {
      const std::lock_guard lock(mutex_);
      return acknowledged.size();
   }

   std::atomic<bool> isStopping{false}, hasWoken{false}, needsCheckpoint{false};
   std::set<int64_t> acknowledged; ///< read after the threads are joined
   int acknowledgedLate = 0;
   std::set<std::string> errors;

private:
   std::mutex mutex_; ///< guards the three members above
   std::vector<std::thread> threads_;
};

std::set<int64_t> present(Client& client) {
   require(client.run("SELECT n FROM t"), "SELECT: " + client.message());
   std::set<int64_t> numbers;
   for (const auto& row : client.rows())
      require(numbers.insert(std::atoll(row[0].c_str())).second, "a row is there twice");
   return numbers;
}

void requireAll(const std::set<int64_t>& expected, const std::set<int64_t>& found, const std::string& whose) {
   for (const int64_t number : expected)
      require(found.contains(number),
              "row " + std::to_string(number) + " was acknowledged by " + whose + " and is lost");
}

/// `point`: the test point at which the first server stops itself; empty: it is stopped after some time.
void round(const std::string& point, uint64_t times, unsigned random) {
   const Directory directory;
   const std::string name = point.empty() ? "stopped anywhere" : "stopped at " + point;
   ServerProcess::Environment environment;
   if (!point.empty()) environment.push_back({"OUZEL_TEST_POINTS", point + "=stop@" + std::to_string(times)});
   {
      ServerProcess prepare(binary, directory.path, flags);
      require(prepare.isRunning(), "the server does not start");
      Client client(prepare.port());
      require(client.run("CREATE TABLE t (n bigint)"), client.message());
      require(prepare.stop() == 0, "shutdown");
   }
   ServerProcess first(binary, directory.path, flags, environment);
   require(first.isRunning(), "the first server does not start");
   Load load(first.port(), 0);
   std::this_thread::sleep_for(std::chrono::milliseconds(100 + random % 200));
   if (point.empty()) {
      require(!ServerProcess(binary, directory.path, flags).isRunning(), "two servers at once");
      require(!ServerProcess(binary, directory.path, takingOver()).isRunning(), "a live server was taken over");
      first.signal(SIGSTOP);
   } else {
      require(first.waitStopped(), name + ": it has ended");
   }
   const size_t acknowledgedBefore = load.count();
   require(!ServerProcess(binary, directory.path, flags).isRunning(), "taken over without being asked");
   const auto start = Clock::now();
   auto second = std::make_unique<ServerProcess>(binary, directory.path, takingOver());
   require(second->isRunning(), name + ": no take-over");
   const double took = std::chrono::duration<double>(Clock::now() - start).count();
   require(took >= 1, name + ": the lease was not waited for");
   Load other(second->port(), 1'000'000);
   std::this_thread::sleep_for(std::chrono::milliseconds(200));
   load.hasWoken = true;
   first.signal(SIGCONT);
   const int status = first.wait();
   require(status == 1, name + ": the first server ended with " + std::to_string(status));
   load.finish();
   std::this_thread::sleep_for(std::chrono::milliseconds(100));
   other.finish();
   require(other.acknowledged.size() > 10, name + ": the second server does not work");
   {
      Client client(second->port());
      const auto found = present(client);
      requireAll(load.acknowledged, found, "the first");
      requireAll(other.acknowledged, found, "the second");
   }
   second->kill();
   require(std::system((binary + " check --data " + directory.path + "/data >/dev/null 2>&1").c_str()) == 0,
           name + ": ouzel check");
   const auto again = Clock::now();
   ServerProcess third(binary, directory.path, flags); // starts at once: the second server is known to be dead
   require(third.isRunning(), name + ": no start afterwards");
   const double startTook = std::chrono::duration<double>(Clock::now() - again).count();
   Client client(third.port());
   const auto found = present(client);
   requireAll(load.acknowledged, found, "the first");
   requireAll(other.acknowledged, found, "the second");
   require(third.stop() == 0, "shutdown of the third");
   std::string errors;
   for (const auto& error : load.errors)
      errors += " " + (error.empty() ? std::string("closed") : error);
   std::printf("%s: %zu commits, %d acknowledged after the wake-up (all there), %zu by the second; take-over %.2f s, "
               "start after kill %.2f s; errors:%s\n",
               name.c_str(), acknowledgedBefore, load.acknowledgedLate, other.acknowledged.size(), took, startTook,
               errors.c_str());
}

} // namespace

int main(int count, char** arguments) {
   int rounds = 2;
   unsigned seed = std::random_device()();
   for (int i = 1; i + 1 < count; i += 2) {
      const std::string argument = arguments[i];
      if (argument == "--binary") binary = arguments[i + 1];
      if (argument == "--rounds") rounds = std::atoi(arguments[i + 1]);
      if (argument == "--seed") seed = static_cast<unsigned>(std::strtoul(arguments[i + 1], nullptr, 10));
   }
   if (binary.empty()) {
      std::fprintf(stderr, "usage: %s --binary PATH [--rounds N] [--seed N]\n", arguments[0]);
      return 2;
   }
   std::setvbuf(stdout, nullptr, _IOLBF, 0);
   std::minstd_rand random(seed);
   for (int i = 0; i < rounds; ++i)
      round("", 0, static_cast<unsigned>(random()));
   for (const char* point : {"commit.appended", "log.write", "log.synced", "commit.flushed"})
      round(point, 40 + random() % 100, static_cast<unsigned>(random()));
   for (const char* point : {"log.open", "log.named", "checkpoint.encoded", "manifest.publish", "manifest.published"})
      round(point, 3, static_cast<unsigned>(random()));
   std::printf("all well (seed %u)\n", seed);
   return 0;
}
