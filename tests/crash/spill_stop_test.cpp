#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <unistd.h>

#include "tests/crash/server_process.hpp"
#include "tests/crash/spill_queries.hpp"
#include "tests/crash/spill_watch.hpp"

// Queries that are stopped while they spill: by a cancel request, a time-out, a vanished client, or an error of the
// disk. The query is held when it writes or reads its n-th page, stopped, and released. n takes values over all of the
// query's work, so that every phase of every operator is stopped. Afterwards the server has released all of the query's
// resources, and the query gives its answer when it is run again.
//
//   test_crash_spill_stop --binary PATH [--tries N] [--seed N] [--only WHAT]

using namespace ouzel::crash;

namespace {

using Clock = std::chrono::steady_clock;

enum class How { Cancel, Close, Reset, NoSpace, Error, Timeout };
constexpr How allHows[] = {How::Cancel, How::Close, How::Reset, How::NoSpace, How::Error, How::Timeout};
const char* nameOf(How how) {
   constexpr const char* names[] = {"cancel", "close", "reset", "ENOSPC", "EIO", "timeout"};
   return names[static_cast<int>(how)];
}

constexpr const char* points[] = {"spill.put", "spill.get"};
constexpr int timeoutMillis = 20;
/// The longest time until a stopped query ends when it is not waiting, with sanitizers.
constexpr std::chrono::seconds stopsWithin{10};

/// An order to the test point, given by a file: see common/error/test_point.hpp.
class Order {
public:
   Order(const std::string& directory, const char* point) : file_(directory + "/" + point) {}
   void give(uint64_t n, const char* action) {
      std::filesystem::remove(file_ + ".held");
      std::filesystem::remove(file_ + ".count");
      static int number = 0;
      // Written to another file and renamed: the server must not read a half-written order.
      const std::string fresh = file_ + ".new";
      std::ofstream(fresh) << n << ' ' << action << ' ' << ++number;
      std::filesystem::rename(fresh, file_);
   }
   void take() { std::filesystem::remove(file_); }
   bool hasHeld() const { return std::filesystem::exists(file_ + ".held"); }
   uint64_t count() const {
      uint64_t n = 0;
      std::ifstream(file_ + ".count") >> n;
      return n;
   }
   const std::string& file() const { return file_; }

private:
   std::string file_;
};

struct Tally {
   int runs = 0, reached = 0, stopped = 0;
   Clock::duration longest{};
};

/// A directory in memory if the machine has one: a busy disk makes the test ten times slower.
std::string memoryRoot() {
   return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string();
}

class Bench {
public:
   Bench(const std::string& binary, uint64_t seed)
      : orders_{{orderFiles_.path, points[0]}, {orderFiles_.path, points[1]}}, random_(seed),
        server_(binary, directory_.path,
                {"--threads", "2", "--memory-limit", "256MB", "--log-level", "error", "--spill", spill_.path},
                {{"OUZEL_TEST_POINTS", std::string(points[0]) + "=eio@" + orders_[0].file() + ";" + points[1] +
                                           "=eio@" + orders_[1].file()}}) {
      require(server_.isRunning(), "the server does not start");
      Client client(server_.port());
      setUpSpillTables(client);
      watch_ = std::make_unique<SpillWatch>(server_, spill_.path);
      connect();
   }
   void tryQuery(const SpillQuery& query, int tries);
   int stop() { return server_.stop(); }
   Tally tally;

private:
   void connect() {
      client_ = std::make_unique<Client>(server_.port());
      makeSpill(*client_);
   }
   std::vector<uint64_t> moments(uint64_t total, int tries);
   void stopAt(const SpillQuery& query, Order& order, uint64_t n, How how, const std::string& what);
   void interrupt(How how);
   void requireStopped(const SpillQuery& query, How how, bool isDone, const std::string& what);

   Directory directory_, spill_{memoryRoot()}, orderFiles_{memoryRoot()};
   Order orders_[2];
   std::mt19937_64 random_;
   ServerProcess server_;
   std::unique_ptr<SpillWatch> watch_;
   std::unique_ptr<Client> client_;
};

/// The first page, the last page, and a random one from each part between them.
std::vector<uint64_t> Bench::moments(uint64_t total, int tries) {
   std::set<uint64_t> out;
   if (total == 0) return {};
   for (int i = 0; i < tries; ++i) {
      const uint64_t from = total * static_cast<uint64_t>(i) / static_cast<uint64_t>(tries);
      const uint64_t to = total * static_cast<uint64_t>(i + 1) / static_cast<uint64_t>(tries);
      out.insert(1 + from + (to > from ? random_() % (to - from) : 0));
   }
   return {out.begin(), out.end()};
}

void Bench::interrupt(How how) {
   if (how == How::Cancel) {
      PGcancel* cancel = PQgetCancel(client_->get());
      char error[256];
      require(PQcancel(cancel, error, sizeof error) == 1, error); // returns when the server has received the request
      PQfreeCancel(cancel);
   } else if (how == How::Timeout) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2 * timeoutMillis));
   } else {
      client_->breakOff(how == How::Reset);
      std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 4));
   }
}

void Bench::requireStopped(const SpillQuery& query, How how, bool isDone, const std::string& what) {
   if (isDone) return; // the query ended before the stop, or did not need the page
   const char* expected = how == How::NoSpace ? "53100" : how == How::Error ? "58030" : "57014";
   const std::string& state = client_->sqlstate();
   require(state == expected || (query.sqlstate && state == query.sqlstate),
           what + ": " + state + " " + client_->message());
   tally.stopped += state == expected;
}

void Bench::stopAt(const SpillQuery& query, Order& order, uint64_t n, How how, const std::string& what) {
   ++tally.runs;
   if (how == How::NoSpace || how == How::Error) {
      order.give(n, how == How::Error ? "eio" : "enospc");
      const bool isDone = client_->run(query.text);
      order.take();
      ++tally.reached;
      return requireStopped(query, how, isDone, what);
   }
   if (how == How::Timeout)
      require(client_->run("SET statement_timeout = " + std::to_string(timeoutMillis)), client_->message());
   order.give(n, "hold");
   client_->begin(query.text);
   while (!order.hasHeld() && !client_->hasFinished())
      std::this_thread::sleep_for(std::chrono::microseconds(200));
   const bool isHeld = order.hasHeld();
   tally.reached += isHeld;
   if (isHeld || how == How::Close || how == How::Reset) interrupt(how);
   order.take();
   if (how == How::Close || how == How::Reset) {
      tally.stopped += isHeld;
      return connect();
   }
   const auto before = Clock::now();
   const bool isDone = client_->finish();
   const auto took = Clock::now() - before;
   tally.longest = std::max(tally.longest, took);
   require(took < stopsWithin, what + ": goes on after it was told to stop");
   requireStopped(query, how, isDone, what);
   if (how == How::Timeout) require(client_->run("SET statement_timeout = 0"), client_->message());
}

void Bench::tryQuery(const SpillQuery& query, int tries) {
   for (Order& order : orders_)
      order.give(0, "count");
   const std::string expected = answerOf(*client_, query);
   watch_->requireRest(query.what);
   for (Order& order : orders_) {
      const uint64_t total = order.count();
      order.take();
      require(total > 0 || !query.surelySpills || &order != &orders_[0], std::string(query.what) + ": does not spill");
      for (const How how : allHows) {
         if (how == How::NoSpace && &order != &orders_[0]) continue;
         for (const uint64_t n : moments(total, tries)) {
            const std::string what = std::string(query.what) + ", " + nameOf(how) + " at " + order.file() + " " +
                                     std::to_string(n) + " of " + std::to_string(total);
            stopAt(query, order, n, how, what);
            watch_->requireRest(what);
            require(client_->run("SELECT count(*) FROM few") && client_->rows()[0][0] == "300", what + ": next query");
         }
         if (how != How::Close && how != How::Error) continue;
         require(answerOf(*client_, query) == expected, std::string(query.what) + ": another answer afterwards");
         watch_->requireRest(std::string(query.what) + ", again");
      }
   }
}

} // namespace

int main(int count, char** arguments) {
   std::string binary, only;
   int tries = 1;
   uint64_t seed = 1;
   for (int i = 1; i + 1 < count; i += 2) {
      const std::string flag = arguments[i];
      if (flag == "--binary") binary = arguments[i + 1];
      if (flag == "--tries") tries = std::atoi(arguments[i + 1]);
      if (flag == "--seed") seed = std::strtoull(arguments[i + 1], nullptr, 10);
      if (flag == "--only") only = arguments[i + 1];
   }
   if (binary.empty()) {
      std::fprintf(stderr, "usage: %s --binary PATH [--tries N] [--seed N] [--only WHAT]\n", arguments[0]);
      return 2;
   }
   Bench bench(binary, seed);
   for (const SpillQuery& query : spillQueries) {
      if (!only.empty() && only != query.what) continue;
      const auto before = Clock::now();
      const Tally was = bench.tally;
      bench.tryQuery(query, tries);
      std::printf("%s: %d of %d stopped, %.1f s\n", query.what, bench.tally.stopped - was.stopped,
                  bench.tally.runs - was.runs, std::chrono::duration<double>(Clock::now() - before).count());
      std::fflush(stdout);
   }
   require(bench.stop() == 0, "shutdown");
   std::printf("%d runs, %d reached their page, %d stopped by it; %.0f ms at most until a cancelled one had ended\n",
               bench.tally.runs, bench.tally.reached, bench.tally.stopped,
               std::chrono::duration<double, std::milli>(bench.tally.longest).count());
   return 0;
}
