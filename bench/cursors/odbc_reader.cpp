// Reads all rows of a query through an ODBC driver, as a program does that binds columns and fetches row by row. The
// columns are those of `readings` in bench/cursors/run.
//    odbc_reader CONNECTION_STRING QUERY
// Prints the rows, a sum over all values that other readers of the same rows print too, and the seconds it took.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sql.h>
#include <sqlext.h>

namespace {

SQLHANDLE made(SQLSMALLINT kind, SQLHANDLE parent) {
   SQLHANDLE out = SQL_NULL_HANDLE;
   if (!SQL_SUCCEEDED(::SQLAllocHandle(kind, parent, &out))) std::exit(2);
   return out;
}

void require(SQLRETURN result, SQLSMALLINT kind, SQLHANDLE handle, const char* what) {
   if (SQL_SUCCEEDED(result)) return;
   SQLCHAR state[6] = "", message[1024] = "";
   SQLSMALLINT length = 0;
   ::SQLGetDiagRec(kind, handle, 1, state, nullptr, message, sizeof message, &length);
   std::fprintf(stderr, "%s: %s %s\n", what, reinterpret_cast<char*>(state), reinterpret_cast<char*>(message));
   std::exit(1);
}

SQLCHAR* text(char* of) {
   return reinterpret_cast<SQLCHAR*>(of);
}

} // namespace

int main(int argc, char** argv) {
   if (argc != 3) return 2;
   const SQLHANDLE environment = made(SQL_HANDLE_ENV, SQL_NULL_HANDLE);
   ::SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, reinterpret_cast<SQLPOINTER>(SQL_OV_ODBC3), 0);
   const SQLHANDLE connection = made(SQL_HANDLE_DBC, environment);
   require(::SQLDriverConnect(connection, nullptr, text(argv[1]), SQL_NTS, nullptr, 0, nullptr, SQL_DRIVER_NOPROMPT),
           SQL_HANDLE_DBC, connection, "connect");
   ::SQLSetConnectAttr(connection, SQL_ATTR_AUTOCOMMIT, reinterpret_cast<SQLPOINTER>(SQL_AUTOCOMMIT_OFF), 0);
   const SQLHANDLE statement = made(SQL_HANDLE_STMT, connection);

   const auto begin = std::chrono::steady_clock::now();
   require(::SQLExecDirect(statement, text(argv[2]), SQL_NTS), SQL_HANDLE_STMT, statement, "execute");
   SQLINTEGER id = 0;
   SQLBIGINT big = 0;
   char amount[64], name[256], at[64];
   SQLLEN lengths[5];
   ::SQLBindCol(statement, 1, SQL_C_SLONG, &id, sizeof id, &lengths[0]);
   ::SQLBindCol(statement, 2, SQL_C_SBIGINT, &big, sizeof big, &lengths[1]);
   ::SQLBindCol(statement, 3, SQL_C_CHAR, amount, sizeof amount, &lengths[2]);
   ::SQLBindCol(statement, 4, SQL_C_CHAR, name, sizeof name, &lengths[3]);
   ::SQLBindCol(statement, 5, SQL_C_CHAR, at, sizeof at, &lengths[4]);
   uint64_t rows = 0, sum = 0;
   while (true) {
      const SQLRETURN result = ::SQLFetch(statement);
      if (result == SQL_NO_DATA) break;
      require(result, SQL_HANDLE_STMT, statement, "fetch");
      ++rows;
      sum += static_cast<uint64_t>(id) + static_cast<uint64_t>(big);
      sum += static_cast<uint64_t>(lengths[2] + lengths[3] + lengths[4]);
   }
   ::SQLCloseCursor(statement);
   ::SQLEndTran(SQL_HANDLE_DBC, connection, SQL_COMMIT);
   const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
   std::printf("%llu %llu %.4f\n", static_cast<unsigned long long>(rows), static_cast<unsigned long long>(sum),
               took.count());
   return 0;
}
