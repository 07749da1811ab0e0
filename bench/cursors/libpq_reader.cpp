// Reads all rows of a query through libpq, which costs the least of all clients: here shows what cursors cost a server.
// The columns are those of `readings` in bench/cursors/run.
//    libpq_reader CONNECTION_STRING QUERY FETCH
// FETCH 0: the plain query in single-row mode; otherwise by a cursor, so many rows at a time. Prints the rows, a sum
// over all values that other readers of the same rows print too, and the seconds it took.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <libpq-fe.h>
#include <string>

namespace {

PGconn* connection;
uint64_t rows, sum;

void run(const std::string& sql) {
   PGresult* const result = ::PQexec(connection, sql.c_str());
   if (::PQresultStatus(result) != PGRES_COMMAND_OK) {
      std::fprintf(stderr, "%s: %s", sql.c_str(), ::PQerrorMessage(connection));
      std::exit(1);
   }
   ::PQclear(result);
}

void take(PGresult* result) {
   const ExecStatusType status = ::PQresultStatus(result);
   if (status != PGRES_TUPLES_OK && status != PGRES_SINGLE_TUPLE) {
      std::fprintf(stderr, "%s", ::PQerrorMessage(connection));
      std::exit(1);
   }
   const int count = ::PQntuples(result);
   rows += static_cast<uint64_t>(count);
   for (int row = 0; row < count; ++row) {
      sum += std::strtoull(::PQgetvalue(result, row, 0), nullptr, 10);
      sum += std::strtoull(::PQgetvalue(result, row, 1), nullptr, 10);
      for (int column = 2; column < 5; ++column)
         sum += static_cast<uint64_t>(::PQgetlength(result, row, column));
   }
   ::PQclear(result);
}

void readPlain(const char* query) {
   ::PQsendQuery(connection, query);
   ::PQsetSingleRowMode(connection);
   while (PGresult* result = ::PQgetResult(connection))
      take(result);
}

void readByCursor(const char* query, const std::string& count) {
   run(std::string("DECLARE reading NO SCROLL CURSOR FOR ") + query);
   const std::string fetch = "FETCH " + count + " FROM reading";
   for (uint64_t before = UINT64_MAX; before != rows;) {
      before = rows;
      take(::PQexec(connection, fetch.c_str()));
   }
   run("CLOSE reading");
}

} // namespace

int main(int argc, char** argv) {
   if (argc != 4) return 2;
   connection = ::PQconnectdb(argv[1]);
   if (::PQstatus(connection) != CONNECTION_OK) {
      std::fprintf(stderr, "%s", ::PQerrorMessage(connection));
      return 1;
   }
   const std::string count = argv[3];
   const auto begin = std::chrono::steady_clock::now();
   run("BEGIN");
   count == "0" ? readPlain(argv[2]) : readByCursor(argv[2], count);
   run("COMMIT");
   const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
   std::printf("%llu %llu %.4f\n", static_cast<unsigned long long>(rows), static_cast<unsigned long long>(sum),
               took.count());
   ::PQfinish(connection);
   return 0;
}
