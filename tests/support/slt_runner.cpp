// Runs sqllogictest files against a server that speaks PostgreSQL's protocol, and records expectations from one.
//
//   slt_runner [--record] [--extended] [--binary] [--restart-each] [--init SQL]... [--restart COMMAND] CONNINFO FILE...
//
// Records are separated by blank lines; # starts a comment outside of them:
//   statement ok                      the SQL follows
//   statement error (42P01) @15 text  code, position (0: none) and message are compared; @ and text may be left out
//   query [rowsort]                   the SQL, then ---- and the rows as text, columns separated by tabs, NULL as NULL,
//                                     the empty string as (empty), a row without columns as (no columns)
//   connection NAME [as ROLE] [in DATABASE]
//                                     later records use this connection (made when first named, for the user ROLE, in
//                                     DATABASE; "default" to start with)
//   disconnect NAME ...               ends a connection, which is named as by `connection`, and goes back to "default"
//   restart                           stops the server with SIGTERM and starts it again (--restart), drops all
//                                     connections
//   skip CONFIG...                    this file does not run under these --config names
//   needs SQL                         this file does not run where the SQL says 0A000, "not supported"
// {DIR} in SQL and messages stands for an empty directory of this file, writable for all users.
// A statement may end with COPYDATA on its own line, followed by the lines that COPY FROM STDIN reads.
// --binary requests binary results where all types are known (binary_text.hpp). --restart-each restarts the server
// after each file and compares the tables' contents before and after. --record replaces every expectation by the
// server's answer. Each file starts with an empty schema public.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <libpq-fe.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/binary_text.hpp"

namespace {

struct Options {
   bool record = false, extended = false, binary = false, restartEach = false;
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
   std::string state, message; // the first error's
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
      std::istringstream words(name);
      std::string info = options_.conninfo, word;
      for (words >> word; words >> word;) {
         const bool isUser = word == "as";
         if (words >> word) info += (isUser ? " user=" : " dbname=") + word;
      }
      connection = PQconnectdb(info.c_str());
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
   void close(const std::string& name) {
      const auto found = open_.find(name);
      if (found == open_.end()) return;
      PQfinish(found->second);
      open_.erase(found);
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

/// One value as text, from its text or binary form.
std::string cellText(const PGresult* result, int row, int column) {
   const char* value = PQgetvalue(result, row, column);
   if (PQfformat(result, column) == 0) return value;
   const std::string_view bytes(value, static_cast<size_t>(PQgetlength(result, row, column)));
   return ouzel::slt::textOfBinary(PQftype(result, column), bytes).value_or("<no value of its type>");
}

/// Whether `sql` changes a setting of text output that the server does not report to clients.
bool changesLooks(const std::string& sql) {
   return sql.find("bytea_output") != std::string::npos || sql.find("extra_float_digits") != std::string::npos;
}

/// Whether binary results of these types can be compared with the recorded text.
bool canAskForBinary(PGconn* connection, const PGresult* description) {
   const auto isSet = [&](const char* name, std::string_view start) {
      const char* value = PQparameterStatus(connection, name);
      return value && std::string_view(value).substr(0, start.size()) == start;
   };
   const bool plainDates = isSet("DateStyle", "ISO") && isSet("IntervalStyle", "postgres") &&
                           std::string_view(PQparameterStatus(connection, "IntervalStyle")) == "postgres";
   const bool utc = isSet("TimeZone", "UTC") || isSet("TimeZone", "Etc/UTC") || isSet("TimeZone", "GMT");
   if (!plainDates || !utc) return false;
   for (int column = 0; column < PQnfields(description); ++column)
      if (!ouzel::slt::hasBinaryText(PQftype(description, column))) return false;
   return PQnfields(description) > 0;
}

void addRows(PGresult* result, Answer& answer) {
   for (int row = 0; row < PQntuples(result); ++row) {
      std::string line = PQnfields(result) == 0 ? "(no columns)" : "";
      for (int column = 0; column < PQnfields(result); ++column) {
         if (column) line += '\t';
         line += PQgetisnull(result, row, column) ? "NULL" : escapeCell(cellText(result, row, column).c_str());
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

/// Prepares the statement and requests binary results if their types allow it. False: the caller runs the statement
/// with text results.
bool sendBinary(PGconn* connection, const Record& record) {
   if (record.hasCopy || record.head.rfind("query", 0) != 0) return false;
   PGresult* prepared = PQprepare(connection, "", record.sql.c_str(), 0, nullptr);
   const bool isPrepared = PQresultStatus(prepared) == PGRES_COMMAND_OK;
   PQclear(prepared);
   if (!isPrepared) return false;
   PGresult* description = PQdescribePrepared(connection, "");
   const bool wanted = PQresultStatus(description) == PGRES_COMMAND_OK && canAskForBinary(connection, description);
   PQclear(description);
   return wanted && PQsendQueryPrepared(connection, "", 0, nullptr, nullptr, nullptr, 1) == 1;
}

/// The directory behind {DIR}, made for each file that uses one and removed by the destructor.
class Directory {
public:
   ~Directory() {
      if (!path_.empty()) std::filesystem::remove_all(path_);
   }
   /// Replaces {DIR} in `text` by the directory's name.
   std::string fillIn(std::string text) {
      for (size_t at; (at = text.find(mark)) != std::string::npos;)
         text.replace(at, mark.size(), path());
      return text;
   }
   std::string takeOut(std::string text) const {
      for (size_t at; !path_.empty() && (at = text.find(path_)) != std::string::npos;)
         text.replace(at, path_.size(), mark);
      return text;
   }

private:
   const std::string& path() {
      if (path_.empty()) {
         path_ = std::filesystem::temp_directory_path() / "ouzel-slt-XXXXXX";
         if (!mkdtemp(path_.data())) std::exit(3);
         std::filesystem::permissions(path_, std::filesystem::perms::all);
      }
      return path_;
   }

   static constexpr std::string_view mark = "{DIR}";
   std::string path_;
};

Answer run(PGconn* connection, const Record& record, bool extended, bool binary) {
   Answer answer;
   const int sent = binary && sendBinary(connection, record) ? 1
                    : extended && !record.hasCopy
                        ? PQsendQueryParams(connection, record.sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0)
                        : PQsendQuery(connection, record.sql.c_str());
   if (!sent) {
      answer.lost = true;
      answer.message = PQerrorMessage(connection);
      return answer;
   }
   while (PGresult* result = PQgetResult(connection)) {
      switch (PQresultStatus(result)) {
      case PGRES_TUPLES_OK: addRows(result, answer); break;
      case PGRES_COPY_IN:
         PQputCopyData(connection, record.copyData.data(), static_cast<int>(record.copyData.size()));
         PQputCopyEnd(connection, nullptr);
         break;
      case PGRES_COPY_OUT: copyOut(connection, answer); break;
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
      default: break;
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

/// Compares an answer with the record. Empty when they agree, else a description of the difference.
std::string compare(const Record& record, const Answer& answer) {
   if (answer.lost) return "connection lost: " + answer.message;
   const bool isQuery = record.head.rfind("query", 0) == 0;
   if (record.head.rfind("statement error", 0) == 0) {
      if (answer.state.empty()) return "an error was expected";
      // A record may stop after the code or after the position: only the given parts are compared.
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

/// Reads the record behind the head line `head`, with the blank line that ends it.
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

/// The contents of all tables of schema public, one line per row.
std::vector<std::string> contents(PGconn* connection) {
   Record list{0,
               "query",
               "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
               "'public'::regnamespace ORDER BY 1",
               "",
               false,
               {}};
   std::vector<std::string> out;
   for (const std::string& table : run(connection, list, false, false).rows) {
      Record copy{0, "query", "COPY public." + table + " TO STDOUT", "", false, {}};
      Answer answer = run(connection, copy, false, false);
      std::sort(answer.rows.begin(), answer.rows.end());
      out.push_back(table + ": " + answer.state + " " + answer.message);
      out.insert(out.end(), answer.rows.begin(), answer.rows.end());
   }
   return out;
}

void restart(const Options& options, Connections& connections, const std::string& path, int line) {
   connections.closeAll();
   if (std::system(options.restart.c_str()) == 0) return;
   std::fprintf(stderr, "%s:%d: restart failed\n", path.c_str(), line);
   std::exit(3);
}

void runFile(const std::string& path, const Options& options, int& passed, int& failed) {
   std::ifstream in(path);
   if (!in) {
      std::fprintf(stderr, "cannot open %s\n", path.c_str());
      std::exit(2);
   }
   std::ostringstream recorded;
   Directory directory;
   Connections connections(options);
   std::string current = "default", text;
   bool looksPlain = true;
   PQclear(PQexec(connections.get(current), "DROP SCHEMA IF EXISTS public CASCADE"));
   PQclear(PQexec(connections.get(current), "CREATE SCHEMA public"));
   PQclear(PQexec(connections.get(current), "ALTER SCHEMA public OWNER TO pg_database_owner")); // as it is at first
   PQclear(PQexec(connections.get(current), "GRANT USAGE ON SCHEMA public TO PUBLIC"));
   int line = 0;
   while (std::getline(in, text)) {
      ++line;
      if (text.empty() || text[0] == '#') {
         recorded << text << "\n";
      } else if (text.rfind("connection ", 0) == 0) {
         current = text.substr(11);
         recorded << text << "\n";
      } else if (text.rfind("disconnect ", 0) == 0) {
         connections.close(text.substr(11));
         current = "default";
         recorded << text << "\n";
      } else if (text.rfind("skip ", 0) == 0) {
         if (skipped(text, options.config)) return;
         recorded << text << "\n";
      } else if (text.rfind("needs ", 0) == 0) {
         const Record probe{line, "query", text.substr(6), "", false, {}};
         if (!options.record && run(connections.get(current), probe, false, false).state == "0A000")
            return void(std::printf("skipped %s: this build lacks %s\n", path.c_str(), text.c_str() + 6));
         recorded << text << "\n";
      } else if (text == "restart") {
         recorded << text << "\n";
         if (options.record || options.restart.empty()) continue;
         restart(options, connections, path, line);
      } else if (text.rfind("statement ", 0) == 0 || text.rfind("query", 0) == 0) {
         const Record record = readRecord(in, text, line);
         Record filled = record;
         filled.sql = directory.fillIn(record.sql);
         Answer answer = run(connections.get(current), filled, options.extended, options.binary && looksPlain);
         answer.message = directory.takeOut(answer.message);
         for (std::string& row : answer.rows)
            row = directory.takeOut(row);
         looksPlain = looksPlain && !changesLooks(record.sql);
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
   if (options.restartEach && !options.record) {
      connections.closeAll(); // rolls back open transactions
      const std::vector<std::string> before = contents(connections.get("default"));
      restart(options, connections, path, line);
      const bool same = contents(connections.get("default")) == before;
      same ? ++passed : ++failed;
      if (!same) std::printf("%s: tables differ after a restart\n", path.c_str());
   }
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
      else if (arg == "--binary")
         options.binary = true;
      else if (arg == "--restart-each")
         options.restartEach = true;
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
      std::fprintf(stderr, "usage: slt_runner [--record] [--extended] [--binary] [--restart-each] [--init SQL] "
                           "[--restart COMMAND] [--config NAME] "
                           "CONNINFO FILE...\n");
      return 2;
   }
   int passed = 0, failed = 0;
   for (const std::string& file : files)
      runFile(file, options, passed, failed);
   std::printf("%d passed, %d failed\n", passed, failed);
   return failed ? 1 : 0;
}
