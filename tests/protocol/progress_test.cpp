#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/protocol/support.hpp"

// ouzel_stat_progress: how far a query of another session is.

namespace ouzel::wire {

CATCH_TEST_CASE("progress of a query that another session runs") {
   const Connection worker(sharedServer()), observer(sharedServer());
   worker.run("CREATE TABLE progress_rows AS SELECT g AS a, g % 1000 AS b FROM generate_series(1, 200000) g");
   observer.run("CREATE ROLE progress_other LOGIN");
   const Connection other(sharedServer(), "user=progress_other");
   const std::string pid = worker.run("SELECT pg_backend_pid()");
   const std::string ofWorker = "ouzel_stat_progress WHERE pid = " + pid.substr(0, pid.size() - 1);
   CATCH_CHECK(observer.run("SELECT count(*) FROM " + ofWorker) == "0\n");

   // Each row meets 200 others: 40 million pairs, which takes a while.
   const std::string query = "SELECT count(*), sum(x.a + y.a) FROM progress_rows x JOIN progress_rows y USING (b)";
   CATCH_REQUIRE(PQsendQuery(worker.get(), query.c_str()) == 1);
   std::string seen;
   for (int tries = 0; tries < 2000 && seen.find("running|t|t") == std::string::npos; ++tries) {
      seen = observer.run("SELECT source, state, share BETWEEN 0 AND 1, query_share BETWEEN 0 AND 1 FROM " + ofWorker +
                          " ORDER BY pipeline");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
   }
   CATCH_INFO(seen);
   CATCH_CHECK(seen.find("Seq Scan on progress_rows|") == 0);
   CATCH_CHECK(seen.find("running|t|t") != std::string::npos);
   CATCH_CHECK(other.run("SELECT count(*) FROM " + ofWorker) == "0\n"); // another role's
   char reason[256];
   PGcancel* cancel = PQgetCancel(worker.get());
   CATCH_CHECK(PQcancel(cancel, reason, sizeof reason) == 1);
   PQfreeCancel(cancel);
   while (PGresult* result = PQgetResult(worker.get()))
      PQclear(result);
   CATCH_CHECK(observer.run("SELECT count(*) FROM " + ofWorker) == "0\n");
   worker.run("DROP TABLE progress_rows");
   observer.run("DROP ROLE progress_other");
}

} // namespace ouzel::wire
