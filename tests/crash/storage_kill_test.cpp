#include <catch2/catch.hpp>
#include <csignal>
#include <poll.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error/sql_error.hpp"
#include "common/hash/hash.hpp"
#include "tests/unit/storage/database_fixture.hpp"

// A child process runs a fixed sequence of transactions and reports each acknowledged commit through a pipe. It is
// killed with SIGKILL at a random time. The next child (and the test itself) must find exactly the effects of the
// acknowledged transactions, or of those and the one in flight.

using namespace ouzel;
using namespace ouzel::storage;
using namespace ouzel::storage::test;

namespace {

constexpr uint64_t seed = 20261121;

enum class Step { InsertFew, InsertMany, InsertBulk, Delete, Checkpoint };

struct Plan {
   Step step;
   int64_t first;
   size_t count;
   int64_t modulus; ///< Delete: rows whose number is a multiple of it
};

/// The content of transaction `n`. Row numbers are unique in the whole sequence.
Plan planOf(uint64_t n) {
   const uint64_t random = hashU64(seed + n);
   Plan plan{};
   plan.first = static_cast<int64_t>(n) * 100'000;
   plan.modulus = static_cast<int64_t>(random >> 32) % 5 + 3;
   switch (random % 8) {
   case 0: plan.step = Step::InsertMany, plan.count = 5000; break;
   case 1: plan.step = Step::InsertBulk, plan.count = 40'000; break;
   case 2:
   case 3: plan.step = Step::Delete; break;
   case 4: plan.step = Step::Checkpoint; break;
   default: plan.step = Step::InsertFew, plan.count = random % 50; break;
   }
   return plan;
}

void applyToModel(std::set<int64_t>& model, uint64_t n) {
   if (n == 0) return;
   const Plan plan = planOf(n);
   for (size_t i = 0; i < plan.count; ++i)
      model.insert(model.end(), plan.first + static_cast<int64_t>(i));
   if (plan.step == Step::Delete) std::erase_if(model, [&](int64_t row) { return row % plan.modulus == 0; });
}

/// The table of transaction 0; the catalog is its storage id.
StorageId tableOf(DatabaseFixture& f) {
   return static_cast<StorageId>(std::stoull(f.catalog));
}

void run(DatabaseFixture& f, uint64_t n) {
   auto transaction = f.database->begin();
   if (n == 0) {
      const auto id = f.database->createTable(*transaction, intAndText())->id();
      f.commit(*transaction, std::to_string(static_cast<uint64_t>(id)) + " ");
      return;
   }
   const Plan plan = planOf(n);
   const auto table = f.database->find(tableOf(f));
   if (plan.count > 0)
      appendRows(*table, *transaction, plan.first, plan.count,
                 plan.step == Step::InsertBulk ? AppendMode::Bulk : AppendMode::Small);
   if (plan.step == Step::Delete) {
      const Snapshot snapshot = transaction->snapshot();
      std::vector<RowId> ids;
      for (const ReadRow& row : readRows(*table, snapshot))
         if (row.number % plan.modulus == 0) ids.push_back(row.id);
      table->deleteRows(*transaction, snapshot, ids);
   }
   f.commit(*transaction);
   if (plan.step == Step::Checkpoint) f.database->checkpoint();
}

/// Number of transactions in effect, derived from the rows: `atLeast` or `atLeast` + 1; -1 when the rows fit neither.
int64_t matchModel(const std::vector<int64_t>& found, std::set<int64_t>& model, uint64_t atLeast) {
   if (std::equal(found.begin(), found.end(), model.begin(), model.end())) return static_cast<int64_t>(atLeast);
   applyToModel(model, atLeast);
   if (std::equal(found.begin(), found.end(), model.begin(), model.end())) return static_cast<int64_t>(atLeast + 1);
   return -1;
}

[[noreturn]] void child(const std::string& directory, uint64_t first, int acknowledgements) {
   try {
      DatabaseFixture f(directory, 3'000'000);
      for (uint64_t n = first;; ++n) {
         run(f, n);
         if (::write(acknowledgements, &n, sizeof n) != sizeof n) ::_exit(2);
      }
   } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      ::_exit(3);
   }
}

} // namespace

CATCH_TEST_CASE("a server killed at any instant loses nothing acknowledged and keeps nothing half done") {
   TemporaryDirectory temporary;
   const std::string data = temporary.path() + "/data";
   std::set<int64_t> model;
   uint64_t done = 0;
   for (int round = 0; round < 25; ++round) {
      int ends[2];
      CATCH_REQUIRE(::pipe(ends) == 0);
      const pid_t process = ::fork();
      CATCH_REQUIRE(process >= 0);
      if (process == 0) {
         ::close(ends[0]);
         child(data, done, ends[1]);
      }
      ::close(ends[1]);
      const auto readAcknowledgement = [&] {
         uint64_t n;
         if (::read(ends[0], &n, sizeof n) != sizeof n) return false;
         CATCH_REQUIRE(n == done);
         applyToModel(model, n);
         done = n + 1;
         return true;
      };
      // Every other round waits for some commits, however slow the machine is; the other rounds may be killed at once.
      for (int i = 0; i < 3 && round % 2 == 1; ++i)
         CATCH_REQUIRE(readAcknowledgement());
      const uint64_t random = hashU64(seed ^ static_cast<uint64_t>(round) << 20);
      ::usleep(static_cast<useconds_t>(20'000 + random % 150'000));
      ::kill(process, SIGKILL);
      int status = 0;
      ::waitpid(process, &status, 0);
      CATCH_REQUIRE(WIFSIGNALED(status));
      while (readAcknowledgement()) {
      }
      ::close(ends[0]);
      CATCH_INFO("round " << round << ", " << done << " transactions acknowledged");
      // Opened read-only: otherwise this process, which lives on, would hold the writer's lease.
      std::unique_ptr<DatabaseFixture> opened;
      try {
         opened = std::make_unique<DatabaseFixture>(data, uint64_t{1} << 30, true);
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::undefinedFile) throw;
      }
      if (!opened || opened->catalog.empty()) {
         CATCH_REQUIRE(done == 0);
         continue;
      }
      DatabaseFixture& f = *opened;
      const int64_t found =
          done == 0 ? 1 : matchModel(readNumbers(*f.database, *f.database->find(tableOf(f))), model, done);
      CATCH_REQUIRE(found >= 0);
      done = static_cast<uint64_t>(found);
      f.database->check([](std::string_view fault) { CATCH_FAIL(std::string(fault)); });
   }
   CATCH_CHECK(done > 25);
}
