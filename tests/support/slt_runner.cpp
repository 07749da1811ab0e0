// Runs sqllogictest files against a server that speaks PostgreSQL's protocol, and records expectations from one.
//
//   slt_runner [--record] [--extended] [--init SQL]... [--restart COMMAND] CONNINFO FILE...
//
// Records are separated by blank lines; # starts a comment outside of them:
//   statement ok                      the SQL follows
//   statement error (42P01) @15 text  code, position (0: none) and message are compared; @ and text may be left out
//   query [rowsort]                   the SQL, then ---- and the rows as text, columns separated by tabs, NULL as NULL,
//                                     the empty string as (empty)
//   connection NAME                   later records use this connection (made when first named; "default" to start
//   with) restart                           stops the server with SIGTERM and starts it again (--restart), drops all
//   connections skip CONFIG...                    this file does not run under these --config names
// A statement may end with COPYDATA on its own line and then the lines that COPY FROM STDIN reads.
// --record replaces every expectation by what the server answers. Each file starts with an empty schema public.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <libpq-fe.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Options {
   bool record = false, extended = false;
   std::vector<std::string> init;
   std::string restart, config, conninfo;
};

struct Record {
   int line = 0;
   std::string head, sql, copyData;
   bool hasCopy = false;
   std::vector<std::string> expected;
};

struct Answer {
   std::string state, message; // of the first error
   int position = 0;
   std::vector<std::string> rows;
   bool lost = false;
};

std::string escapeCell(const char* text) {
   std::string out;
   for (; *text; ++text)
      if (*text == '\n')
         out += "\\n";
      else if (*text == '\t')
         out += "\\t";
      else
         out += *text;
   return out.empty() ? "(empty)" : out;
}

class Connections {
public:
   explicit Connections(const Options& options) : options_(options) {}
   ~Connections() { closeAll(); }

   PGconn* get(const std::string& name) {
      PGconn*& connection = open_[name];
      if (connection) return connection;
      connection = PQconnectdb(options_.conninfo.c_str());
      if (PQstatus(connection) != CONNECTION_OK) {
         std::fprintf(stderr, "cannot connect: %s", PQerrorMessage(connection));
         std::exit(3);
      }
      PQsetNoticeProcessor(
          connection, [](void*, const char*) {}, nullptr);
      PQclear(PQexec(connection, "SET client_min_messages = warning"));
      for (const std::string& sql : options_.init) {
         PGresult* result = PQexec(connection, sql.c_str());
         if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) {
            std::fprintf(stderr, "--init %s: %s", sql.c_str(), PQresultErrorMessage(result));
            std::exit(3);
         }
         PQclear(result);
      }
      return connection;
   }
   void closeAll() {
      for (auto& [name, connection] : open_)
         PQfinish(connection);
      open_.clear();
   }

private:
   const Options& options_;
   std::map<std::string, PGconn*> open_;
};

void addRows(PGresult* result, Answer& answer) {
   for (int row = 0; row < PQntuples(result); ++row) {
      std::string line;
      for (int column = 0; column < PQnfields(result); ++column) {
         if (column) line += '\t';
         line += PQgetisnull(result, row, column) ? "NULL" : escapeCell(PQgetvalue(result, row, column));
      }
      answer.rows.push_back(line);
   }
}

void copyOut(PGconn* connection, Answer& answer) {
   char* buffer = nullptr;
   int size;
   while ((size = PQgetCopyData(connection, &buffer, 0)) > 0) {
      std::string line(buffer, static_cast<size_t>(size));
      if (!line.empty() && line.back() == '\n') line.pop_back();
      answer.rows.push_back(escapeCell(line.c_str()));
      PQfreemem(buffer);
   }
}

Answer run(PGconn* connection, const Record& record, bool extended) {
   Answer answer;
   const int sent = extended && !record.hasCopy
                        ? PQsendQueryParams(connection, record.sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0)
                        : PQsendQuery(connection, record.sql.c_str());
   if (!sent) {
      answer.lost = true;
      answer.message = PQerrorMessage(connection);
      return answer;
   }
   while (PGresult* result = PQgetResult(connection)) {
      switch (PQresultStatus(result)) {
      case PGRES_TUPLES_OK:
         addRows(result, answer);
         break;
      case PGRES_COPY_IN:
         PQputCopyData(connection, record.copyData.data(), static_cast<int>(record.copyData.size()));
         PQputCopyEnd(connection, nullptr);
         break;
      case PGRES_COPY_OUT:
         copyOut(connection, answer);
         break;
      case PGRES_FATAL_ERROR: {
         const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
         if (!answer.state.empty()) break;
         answer.state = state ? state : "?????";
         const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
         answer.message = message ? message : PQresultErrorMessage(result);
         const char* position = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION);
         answer.position = position ? std::atoi(position) : 0;
         break;
      }
      default:
         break;
      }
      PQclear(result);
      if (PQstatus(connection) == CONNECTION_BAD) {
         answer.lost = true;
         break;
      }
   }
   return answer;
}

std::string errorHead(const Answer& answer) {
   std::string head = "statement error (" + answer.state + ")";
   if (answer.position) head += " @" + std::to_string(answer.position);
   std::string message = answer.message;
   std::replace(message.begin(), message.end(), '\n', ' ');
   return head + " " + message;
}

/// Empty when the answer is what the record expects, else what is wrong.
std::string compare(const Record& record, const Answer& answer) {
   if (answer.lost) return "connection lost: " + answer.message;
   const bool isQuery = record.head.rfind("query", 0) == 0;
   if (record.head.rfind("statement error", 0) == 0) {
      if (answer.state.empty()) return "an error was expected";
      // A record may stop after the code or after the position; what it leaves out is not compared.
      const std::string got = errorHead(answer);
      const bool agrees = got == record.head || got.rfind(record.head + " ", 0) == 0;
      return agrees ? "" : "expected: " + record.head + "\n  got:      " + got;
   }
   if (!answer.state.empty()) return "error " + answer.state + ": " + answer.message;
   if (!isQuery || answer.rows == record.expected) return "";
   std::string text = "rows differ";
   for (size_t i = 0; i < std::max(answer.rows.size(), record.expected.size()); ++i) {
      const std::string want = i < record.expected.size() ? record.expected[i] : "<no row>";
      const std::string got = i < answer.rows.size() ? answer.rows[i] : "<no row>";
      if (want == got) continue;
      text += "\n  row " + std::to_string(i + 1) + " expected: " + want + "\n  row " + std::to_string(i + 1) +
              " got:      " + got;
      break;
   }
   return text + "\n  (" + std::to_string(record.expected.size()) + " rows expected, " +
          std::to_string(answer.rows.size()) + " got)";
}

/// Reads one record: its head line was `head`. Leaves the stream after the blank line that ends it.
Record readRecord(std::istream& in, const std::string& head, int& line) {
   Record record;
   record.head = head;
   record.line = line;
   enum { Sql, Copy, Rows } part = Sql;
   std::string text;
   while (std::getline(in, text)) {
      ++line;
      if (text.empty()) break;
      if (part == Sql && text == "----") {
         part = Rows;
      } else if (part == Sql && text == "COPYDATA") {
         part = Copy;
         record.hasCopy = true;
      } else if (part == Sql) {
         record.sql += (record.sql.empty() ? "" : "\n") + text;
      } else if (part == Copy) {
         record.copyData += text + "\n";
      } else {
         record.expected.push_back(text);
      }
   }
   return record;
}

void writeRecord(std::ostream& out, const Record& record, const Answer& answer) {
   const bool isQuery = record.head.rfind("query", 0) == 0;
   if (!answer.state.empty())
      out << errorHead(answer) << "\n";
   else
      out << (isQuery ? record.head : "statement ok") << "\n";
   out << record.sql << "\n";
   if (record.hasCopy) out << "COPYDATA\n" << record.copyData;
   if (isQuery && answer.state.empty()) {
      out << "----\n";
      for (const std::string& row : answer.rows)
         out << row << "\n";
   }
   out << "\n";
}

bool skipped(const std::string& head, const std::string& config) {
   std::istringstream words(head.substr(4));
   for (std::string word; words >> word;)
      if (word == config) return true;
   return false;
}

void runFile(const std::string& path, const Options& options, int& passed, int& failed) {
   std::ifstream in(path);
   if (!in) {
      std::fprintf(stderr, "cannot open %s\n", path.c_str());
      std::exit(2);
   }
   std::ostringstream recorded;
   Connections connections(options);
   std::string current = "default", text;
   PQclear(PQexec(connections.get(current), "DROP SCHEMA IF EXISTS public CASCADE"));
   PQclear(PQexec(connections.get(current), "CREATE SCHEMA public"));
   int line = 0;
   while (std::getline(in, text)) {
      ++line;
      if (text.empty() || text[0] == '#') {
         recorded << text << "\n";
      } else if (text.rfind("connection ", 0) == 0) {
         current = text.substr(11);
         recorded << text << "\n";
      } else if (text.rfind("skip ", 0) == 0) {
         if (skipped(text, options.config)) return;
         recorded << text << "\n";
      } else if (text == "restart") {
         recorded << text << "\n";
         if (options.record || options.restart.empty()) continue;
         connections.closeAll();
         if (std::system(options.restart.c_str()) != 0) {
            std::fprintf(stderr, "%s:%d: restart failed\n", path.c_str(), line);
            std::exit(3);
         }
      } else if (text.rfind("statement ", 0) == 0 || text.rfind("query", 0) == 0) {
         const Record record = readRecord(in, text, line);
         Answer answer = run(connections.get(current), record, options.extended);
         if (text.find("rowsort") != std::string::npos) std::sort(answer.rows.begin(), answer.rows.end());
         if (options.record) {
            writeRecord(recorded, record, answer);
            ++passed;
            continue;
         }
         const std::string wrong = compare(record, answer);
         wrong.empty() ? ++passed : ++failed;
         if (!wrong.empty())
            std::printf("%s:%d: %s\n  in: %s\n", path.c_str(), record.line, wrong.c_str(), record.sql.c_str());
         if (answer.lost) return;
      } else {
         std::fprintf(stderr, "%s:%d: not a record: %s\n", path.c_str(), line, text.c_str());
         std::exit(2);
      }
   }
   if (options.record) std::ofstream(path) << recorded.str();
}

} // namespace

int main(int argc, char** argv) {
   Options options;
   std::vector<std::string> files;
   for (int i = 1; i < argc; ++i) {
      const std::string arg = argv[i];
      if (arg == "--record")
         options.record = true;
      else if (arg == "--extended")
         options.extended = true;
      else if (arg == "--init" && i + 1 < argc)
         options.init.push_back(argv[++i]);
      else if (arg == "--restart" && i + 1 < argc)
         options.restart = argv[++i];
      else if (arg == "--config" && i + 1 < argc)
         options.config = argv[++i];
      else if (options.conninfo.empty())
         options.conninfo = arg;
      else
         files.push_back(arg);
   }
   if (options.conninfo.empty() || files.empty()) {
      std::fprintf(stderr, "usage: slt_runner [--record] [--extended] [--init SQL] [--restart COMMAND] [--config NAME] "
                           "CONNINFO FILE...\n");
      return 2;
   }
   int passed = 0, failed = 0;
   for (const std::string& file : files)
      runFile(file, options, passed, failed);
   std::printf("%d passed, %d failed\n", passed, failed);
   return failed ? 1 : 0;
}
