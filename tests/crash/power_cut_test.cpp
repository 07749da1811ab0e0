#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "common/error/sql_error.hpp"
#include "common/hash/hash.hpp"
#include "io/crypto/encryption_key.hpp"
#include "io/sim/disk.hpp"
#include "storage/version/write_conflict.hpp"
#include "tests/crash/model.hpp"

// Power cuts. A child process opens a database on a simulated disk, checks it against the model, runs transactions, and
// loses power before, in or after some operation of the disk. The disk's image after the cut is the next child's disk.
// The workers' positions are in memory shared with the parent. A transaction that was acknowledged must be in the
// database. One whose COMMIT was not sent must not be there. One in between may be there, and its outcome must not
// change once a start has seen it.
//
//   test_crash_power [--cuts N] [--seed N] [--verbose]
//
// A series of 25 cuts uses one database. Every third series has several workers, whose threads make it unrepeatable;
// the other series are the same for the same seed. The database of every fourth series is encrypted. In some rounds the
// disk is full or an operation fails.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;
using io::sim::Disk;
using io::sim::Loss;
using io::sim::Operation;

namespace {

constexpr size_t workersMax = 3, imageMax = size_t{256} << 20, outcomesMax = 4096;
constexpr uint64_t cutsPerSeries = 25;
constexpr int cutStatus = 10;

/// The outcome of a transaction as the worker saw it.
enum class Outcome : uint8_t { Unknown, Committed, Failed };

/// Memory shared by parent and child.
struct Shared {
   struct Worker {
      std::atomic<uint64_t> confirmed; ///< transactions durably acknowledged, or seen after a start
      std::atomic<uint64_t> sent;      ///< transactions whose COMMIT was sent
      std::atomic<Outcome> outcomes[outcomesMax];
      std::atomic<int64_t> counter; ///< a durable lower bound of the counter
   };
   Worker workers[workersMax];
   std::atomic<uint64_t> operations, opens, checks;
   char problem[2000];
   uint64_t imageSize;
   char image[imageMax];
};

Shared* shared;
bool isVerbose = false;

struct Round {
   uint64_t seed, series, number;
   size_t workers;
};

[[noreturn]] void fail(const std::string& what) {
   std::snprintf(shared->problem, sizeof shared->problem, "%s", what.c_str());
   ::_exit(1);
}

/// Cuts the power at one operation of the disk, and fails some operations before it.
class Fate {
public:
   Fate(Disk& disk, const Round& round)
      : disk_(disk), random_(hashU64(round.seed ^ hashU64(round.series << 32 | round.number))) {
      loss_ = static_cast<Loss>(random_.below(4));
      cutsAfter_ = random_.oneIn(2);
      // A start takes about 30 operations.
      cutAt_ = 1 + random_.below(uint64_t{1} << (3 + random_.below(9)));
      if (random_.oneIn(5)) failAt_ = 1 + random_.below(cutAt_);
      if (random_.oneIn(5)) fullAt_ = 1 + random_.below(cutAt_);
   }

   int operator()(Operation operation, const std::string& path, bool isAfter) {
      if (!isAfter) {
         ++count_;
         shared->operations.fetch_add(1, std::memory_order_relaxed);
      }
      if (isVerbose && count_ + 12 > cutAt_)
         std::fprintf(stderr, "  %s operation %lu: %d %s\n", isAfter ? "after" : "before", count_.load(),
                      static_cast<int>(operation), path.c_str());
      if (count_ >= cutAt_ && isAfter == cutsAfter_) cut();
      if (isAfter) return 0;
      if (count_ == failAt_) {
         hasFailed_ = true;
         return -EIO;
      }
      // A full disk: a few operations that need space find none.
      const bool needsSpace = operation != Operation::Sync && operation != Operation::SyncDirectory &&
                              operation != Operation::Unlink && operation != Operation::Truncate &&
                              !(operation == Operation::Write && path.ends_with(".wal"));
      if (fullAt_ != 0 && count_ >= fullAt_ && needsSpace && fullFor_ > 0) {
         --fullFor_;
         return -ENOSPC;
      }
      return 0;
   }

   /// Whether an operation has failed with EIO: then a transaction may end with 58030, or the process may end.
   bool hasFailed() const { return hasFailed_; }
   bool wasFull() const { return fullAt_ != 0 && count_ >= fullAt_; }

   [[noreturn]] void cut() {
      const std::string image = disk_.afterCut(random_, loss_);
      if (image.size() > imageMax) fail("the disk has grown too large");
      std::memcpy(shared->image, image.data(), image.size());
      shared->imageSize = image.size();
      ::_exit(cutStatus);
   }

private:
   Disk& disk_;
   io::sim::Random random_;
   Loss loss_;
   bool cutsAfter_;
   uint64_t cutAt_, failAt_ = 0, fullAt_ = 0, fullFor_ = 6;
   std::atomic<uint64_t> count_ = 0;
   std::atomic<bool> hasFailed_ = false;
};

Fate* fate;
Disk* disk;

/// Handles the abort of the process after an error of the log: the disk's image is the next child's disk.
void onAbort(int) {
   if (!fate->hasFailed()) return; // a failed check; the default action follows
   disk->onOperation = [](Operation, const std::string&, bool) -> int { fate->cut(); };
   disk->open("/stopped", O_CREAT);
}

bool mayFail(const SqlError& error) {
   return (error.state() == sqlstate::diskFull && fate->wasFull()) ||
          (error.state() == sqlstate::ioError && fate->hasFailed());
}

/// Checks that the database equals the model after some transaction between the last confirmed and the last sent one.
void verify(ModelDatabase& database, Model& model) {
   Shared::Worker& worker = shared->workers[model.worker];
   const uint64_t sent = worker.sent;
   Model found;
   try {
      found = database.read(model);
   } catch (const std::exception& error) {
      fail(std::string("reading: ") + error.what());
   }
   const uint64_t confirmed = model.done;
   while (found.tables != model.tables) {
      if (model.done >= sent) {
         std::string what = "worker " + std::to_string(model.worker) + ": no state from transaction " +
                            std::to_string(confirmed) + " to " + std::to_string(sent) + " is there; found";
         for (const auto& [number, rows] : found.tables)
            what += " " + std::to_string(number) + ":" + std::to_string(rows.size());
         what += "; expected at last";
         for (const auto& [number, rows] : model.tables)
            what += " " + std::to_string(number) + ":" + std::to_string(rows.size());
         fail(what);
      }
      model.apply(worker.outcomes[model.done % outcomesMax] != Outcome::Failed);
   }
   const auto counter = database.database().counter(counterOf(model.worker));
   const int64_t value = counter ? counter->value : -1;
   if (value < worker.counter) fail("a counter went back");
   worker.counter = value;
   worker.confirmed = model.done;
   worker.sent = model.done;
}

void work(ModelDatabase& database, Model model, uint64_t transactions, bool isShared) {
   Shared::Worker& worker = shared->workers[model.worker];
   int64_t counter = worker.counter;
   for (uint64_t i = 0; i < transactions; ++i) {
      const Step step = model.next();
      auto& outcome = worker.outcomes[model.done % outcomesMax];
      outcome = Outcome::Unknown;
      bool hasEffect = true;
      try {
         // Repeats a transaction whose rows another worker's checkpoint has moved: the next snapshot finds them.
         for (bool isDone = false; !isDone;) {
            try {
               database.run(model, step, [&] { worker.sent = model.done + 1; });
               isDone = true;
            } catch (const WriteConflict&) {
               if (!isShared) throw;
            }
         }
         outcome = Outcome::Committed;
      } catch (const SqlError& error) {
         if (!mayFail(error)) fail(std::string("transaction: ") + error.what());
         outcome = Outcome::Failed;
         hasEffect = false;
      }
      worker.sent = model.done + 1;
      if (step.setsCounter && hasEffect && step.kind != Step::Kind::Abort) counter = static_cast<int64_t>(model.done);
      // A commit without changes does not wait for the log.
      const auto before = model.tables;
      model.apply(hasEffect);
      if (step.isSynchronous && (step.kind != Step::Kind::Delete || before != model.tables) && hasEffect &&
          step.kind != Step::Kind::Abort) {
         worker.confirmed = model.done;
         worker.counter = counter;
      }
      if (!step.checkpoints) continue;
      try {
         database.database().checkpoint();
         worker.confirmed = model.done;
         worker.counter = counter;
      } catch (const SqlError& error) {
         if (!mayFail(error)) fail(std::string("checkpoint: ") + error.what());
      }
   }
}

/// With the key in encrypted rounds.
io::StoreOptions storeOptionsOf(const Round& round) {
   io::StoreOptions options;
   if (round.series % 4 == 3) options.key = io::EncryptionKey::parse(std::string(64, '7'));
   return options;
}

[[noreturn]] void child(const Round& round, std::vector<Model> models) {
   const uint64_t random = hashU64(round.seed + round.series * 1000 + round.number);
   disk = shared->imageSize == 0 ? new Disk(random) : new Disk(random, {shared->image, shared->imageSize});
   fate = new Fate(*disk, round);
   disk->onOperation = [](Operation operation, const std::string& path, bool isAfter) {
      return (*fate)(operation, path, isAfter);
   };
   std::signal(SIGABRT, onAbort);
   io::FileSystem::replace(disk);
   std::unique_ptr<TaskRunner> tasks;
   if (round.workers > 1)
      tasks = std::make_unique<ThreadTaskRunner>(2);
   else
      tasks = std::make_unique<InlineTaskRunner>();
   std::unique_ptr<ModelDatabase> database;
   while (!database) {
      try {
         database = std::make_unique<ModelDatabase>(*tasks, random % 4 == 0 ? 200'000 : uint64_t{1} << 30,
                                                    storeOptionsOf(round));
      } catch (const SqlError& error) {
         if (!mayFail(error)) fail(std::string("start: ") + error.what());
      }
   }
   shared->opens.fetch_add(1);
   for (Model& model : models)
      verify(*database, model);
   database->database().check([](std::string_view fault) { fail("check: " + std::string(fault)); });
   shared->checks.fetch_add(1);
   const uint64_t transactions = 4 + random % 60;
   if (models.size() == 1) {
      work(*database, models[0], transactions, false);
   } else {
      std::vector<std::thread> threads;
      for (const Model& model : models)
         threads.emplace_back([&] { work(*database, model, transactions, true); });
      for (std::thread& thread : threads)
         thread.join();
   }
   if (random % 2 == 0) {
      try {
         database->database().close();
         for (const Model& model : models)
            shared->workers[model.worker].confirmed = shared->workers[model.worker].sent.load();
      } catch (const SqlError& error) {
         if (!mayFail(error)) fail(std::string("close: ") + error.what());
      }
   }
   disk->onOperation = [](Operation, const std::string&, bool) -> int { fate->cut(); };
   disk->open("/end", O_CREAT);
   fail("the end was not reached");
}

/// Runs one child with a power cut. Returns whether all checks passed.
bool cutOnce(const Round& round, std::vector<Model>& models) {
   std::fflush(stderr);
   const pid_t process = ::fork();
   if (process == 0) child(round, models);
   int status = 0;
   ::waitpid(process, &status, 0);
   for (Model& model : models) {
      const Shared::Worker& worker = shared->workers[model.worker];
      while (model.done < worker.confirmed)
         model.apply(worker.outcomes[model.done % outcomesMax] != Outcome::Failed);
   }
   return WIFEXITED(status) && WEXITSTATUS(status) == cutStatus;
}

} // namespace

int main(int argumentCount, char** arguments) {
   uint64_t cuts = 300,
            seed = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % 1'000'000;
   uint64_t firstSeries = 0;
   for (int i = 1; i < argumentCount; ++i) {
      const std::string_view argument = arguments[i];
      if (argument == "--verbose") {
         isVerbose = true;
      } else if (i + 1 < argumentCount && argument == "--cuts") {
         cuts = std::strtoull(arguments[++i], nullptr, 10);
      } else if (i + 1 < argumentCount && argument == "--seed") {
         seed = std::strtoull(arguments[++i], nullptr, 10);
      } else if (i + 1 < argumentCount && argument == "--series") {
         firstSeries = std::strtoull(arguments[++i], nullptr, 10);
      } else {
         std::fprintf(stderr, "usage: %s [--cuts N] [--seed N] [--series N] [--verbose]\n", arguments[0]);
         return 2;
      }
   }
   void* memory =
       ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (memory == MAP_FAILED) return std::perror("mmap"), 2;
   shared = static_cast<Shared*>(memory);
   const auto start = std::chrono::steady_clock::now();
   uint64_t done = 0, transactions = 0;
   for (uint64_t series = firstSeries; done < cuts; ++series) {
      Round round{seed, series, 0, series % 3 == 2 ? size_t{2} + series % 2 : 1};
      std::vector<Model> models;
      for (size_t worker = 0; worker < round.workers; ++worker) {
         models.push_back({hashU64(seed + series), worker, 0, {}});
         shared->workers[worker].confirmed = shared->workers[worker].sent = 0;
         shared->workers[worker].counter = -1;
      }
      shared->imageSize = 0;
      for (; round.number < cutsPerSeries && done < cuts; ++round.number, ++done) {
         if (cutOnce(round, models)) continue;
         std::printf("FAILED: seed %lu series %lu cut %lu: %s\n  %s --seed %lu --series %lu --cuts %lu\n", seed, series,
                     round.number, shared->problem, arguments[0], seed, series, round.number + 1);
         return 1;
      }
      for (const Model& model : models)
         transactions += model.done;
   }
   std::printf(
       "%lu power cuts, %lu starts checked, %lu transactions, %lu disk operations in %.1f s (seed %lu): all well\n",
       done, shared->checks.load(), transactions, shared->operations.load(),
       std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), seed);
   return 0;
}
