#include "tests/crash/spill_queries.hpp"

#include "tests/crash/server_process.hpp"

namespace ouzel::crash {

const std::vector<SpillQuery> spillQueries = {
    // Sorts: runs, merge passes, the last merge.
    {"sort", "SELECT count(*), sum(n) FROM (SELECT n FROM many ORDER BY t, n OFFSET 10) s"},
    {"sort with a limit", "SELECT n FROM many ORDER BY t, n LIMIT 3 OFFSET 9000"},
    {"sort, all rows to the client", "SELECT n, t FROM many ORDER BY t, n"},
    {"DISTINCT ON", "SELECT count(*), sum(n) FROM (SELECT DISTINCT ON (t) n FROM many ORDER BY t, n DESC) d"},
    {"sort, an error while it is read", "SELECT sum(1 / (n - 15000)) FROM (SELECT n FROM many ORDER BY n OFFSET 1) s",
     true, "22012"},
    // Windows: over the merge, partitions in pages.
    {"window", "SELECT sum(s) FROM (SELECT sum(n) OVER (PARTITION BY n % 500 ORDER BY t, n) s FROM many) w"},
    {"window in pages", "SELECT sum(s) FROM (SELECT lag(n) OVER (ORDER BY t, n) s FROM many) w"},
    {"window, left early", "SELECT n, lag(n) OVER (ORDER BY t, n) FROM many LIMIT 3"},
    {"window, an error while it is read",
     "SELECT sum(1 / (s - 15000)) FROM (SELECT lag(n) OVER (ORDER BY n) s FROM many) w", true, "22012"},
    // Operators that keep rows as batches.
    {"CTE read twice", "WITH c AS MATERIALIZED (SELECT * FROM many) SELECT count(*) FROM c a, c b WHERE a.n = b.n + 1"},
    {"CTE, left early", "WITH c AS MATERIALIZED (SELECT * FROM many) (SELECT n FROM c LIMIT 2) UNION ALL SELECT 7 FROM "
                        "(SELECT n FROM c LIMIT 1) x"},
    {"recursion", "WITH RECURSIVE r(n) AS (SELECT n FROM many UNION ALL SELECT n + 17000 FROM r WHERE n < 40000) "
                  "SELECT count(*), sum(n) FROM r"},
    {"RETURNING", "WITH d AS (UPDATE changed SET n = n RETURNING n) SELECT sum(n) FROM d"},
    // Aggregation: full hash tables, groups united while they are read, inputs that wait for their group.
    {"aggregation", "SELECT count(*), min(m) FROM (SELECT n, max(t) m FROM many GROUP BY n) g"},
    // HAVING needs every group: without it the limit would choose three groups before they are formed.
    {"aggregation, left early",
     "SELECT count(*) FROM (SELECT n, max(t) FROM many GROUP BY n HAVING max(t) <> '' LIMIT 3) g"},
    {"aggregation, an error while it is read",
     "SELECT count(1 / (15000 - n)) FROM (SELECT n, max(t) m FROM many GROUP BY n) g WHERE m <> ''", true, "22012"},
    {"grouping sets",
     "SELECT count(*), sum(s) FROM (SELECT n, t, sum(k) s FROM many GROUP BY GROUPING SETS ((n), (t), ())) g"},
    {"DISTINCT aggregates", "SELECT count(*), sum(c) FROM (SELECT k, count(DISTINCT t) c FROM many GROUP BY k) g"},
    {"ordered aggregates",
     "SELECT sum(length(s)) FROM (SELECT n % 300, string_agg(t, ',' ORDER BY t DESC) s FROM many GROUP BY 1) g"},
    {"large states", "SELECT sum(cardinality(a)) FROM (SELECT k, array_agg(t) a FROM many GROUP BY k) g"},
    {"DISTINCT", "SELECT count(*) FROM (SELECT DISTINCT n, t FROM many) d"},
    // Joins: spilled build and probe rows, split partitions, chunks of the build side, build rows returned at the end.
    {"join", "SELECT count(*), sum(a.n) FROM many a JOIN many b ON a.n = b.n AND a.t = b.t"},
    {"join, left early",
     "SELECT count(*) FROM (SELECT a.t FROM many a JOIN many b ON a.n = b.n AND a.t = b.t LIMIT 3) j"},
    {"join, an error while it is read",
     "SELECT sum(1 / (a.n - 15000 + length(b.t) - length(a.t))) FROM many a JOIN many b ON a.n = b.n AND a.t = b.t",
     true, "22012"},
    {"full join",
     "SELECT count(a.n), count(b.n) FROM many a FULL JOIN (SELECT n * 2 AS n, t FROM many) b ON a.n = b.n"},
    {"join with one key", "SELECT count(*), sum(length(b.t)) FROM (SELECT n % 2 AS n FROM many WHERE n <= 2000) a "
                          "JOIN (SELECT n % 2 AS n, t FROM few) b ON a.n = b.n"},
    {"anti join", "SELECT count(*) FROM many WHERE t NOT IN (SELECT t || 'x' FROM many)"},
    {"nested loops", "SELECT count(*), sum(b.n) FROM many a JOIN few b ON b.n > a.n % 250 + length(a.t)"},
    {"nested loops, rows that met nothing", "SELECT count(*), count(b.n) FROM few b FULL JOIN (SELECT n, t FROM many "
                                            "WHERE n <= 2000) a ON true AND b.n + a.n = -1 "
                                            "OR b.n > a.n"},
    // Set operations.
    {"EXCEPT", "SELECT count(*) FROM (SELECT n, t FROM many EXCEPT SELECT n, t FROM many WHERE k < 100) e"},
    {"INTERSECT ALL", "SELECT count(*) FROM (SELECT t FROM many INTERSECT ALL SELECT t FROM many WHERE k < 1000) i"},
    {"UNION, sorted",
     "SELECT count(*), min(n) FROM (SELECT n, t FROM many UNION SELECT n + 1, t FROM many ORDER BY t, n "
     "OFFSET 1) u"},
};

void setUpSpillTables(Client& client) {
   for (const char* statement :
        {"CREATE TABLE many (n int, k int, t text)", "CREATE TABLE few (n int, t text)", "CREATE TABLE changed (n int)",
         "INSERT INTO many SELECT g, g * 7 % 3000, repeat(md5(g::text), 2) FROM generate_series(1, 17000) g",
         "INSERT INTO few SELECT n, t FROM many WHERE n <= 300", "INSERT INTO changed SELECT n FROM many"})
      require(client.run(statement), client.message());
}

void makeSpill(Client& client) {
   for (const char* statement : {"SET ouzel.spill_all = on", "SET memory_limit = '1MB'"})
      require(client.run(statement), client.message());
}

std::string answerOf(Client& client, const SpillQuery& query) {
   if (query.sqlstate) {
      require(!client.run(query.text) && client.sqlstate() == query.sqlstate,
              std::string(query.what) + ": " + client.sqlstate() + " " + client.message());
      return client.sqlstate();
   }
   require(client.run(query.text), std::string(query.what) + ": " + client.sqlstate() + " " + client.message());
   std::string out;
   for (const auto& row : client.rows())
      for (const std::string& value : row)
         out += value + ' ';
   return out;
}

} // namespace ouzel::crash
