#include "common/log/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "common/log/files.hpp"
#include "common/log/formats.hpp"
#include "common/log/line_prefix.hpp"
#include "common/log/secrets.hpp"
#include "common/log/time_text.hpp"

using namespace ouzel;

// The log's forms, its files, and what it must not show.

namespace {

constexpr int64_t second = 1'000'000, day = 86'400 * second;
constexpr int64_t noon = 9557 * day + day / 2 + 1'234'567; // 2026-03-02 12:00:01.234567 UTC

struct Fixture {
   LogSession session;
   std::atomic<uint64_t> transaction{77};
   uint64_t localTransaction = 25, lines = 0;
   LogSettings settings;
   LogRecord record{.level = LogLevel::Error, .message = "division by zero", .state = "22012"};

   Fixture() {
      session.processId = 42;
      session.host = "10.0.0.7";
      session.port = "5000";
      session.startMicros = noon - 3600 * second;
      session.user = "ann";
      session.database = "sales";
      session.application = "psql";
      session.command = "SELECT";
      session.statement = "select 1/0";
      session.localTransaction = &localTransaction;
      session.transactionId = &transaction;
   }
   LogEntry entry(bool ofSession = true, LogVerbosity verbosity = LogVerbosity::Default) {
      return {record,
              ofSession ? &session : nullptr,
              ofSession ? "client backend" : "postmaster",
              ofSession ? session.statement : "",
              noon,
              noon - day,
              ofSession ? 42 : 7,
              ofSession ? session.lines : lines,
              9,
              verbosity};
   }
   std::string prefix(const char* pattern, bool ofSession = true) {
      settings.linePrefix = pattern;
      std::string out;
      appendPrefix(out, entry(ofSession), settings);
      return out;
   }
};

std::string contents(const std::string& path) {
   std::ifstream file(path);
   return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A directory for log files; stderr comes back at the end.
class LogDirectory {
public:
   LogDirectory() : path_((std::filesystem::temp_directory_path() / "ouzel-log-XXXXXX").string()), stderr_(dup(2)) {
      CATCH_REQUIRE(mkdtemp(path_.data()) != nullptr);
   }
   ~LogDirectory() {
      dup2(stderr_, 2);
      close(stderr_);
      std::filesystem::remove_all(path_);
   }
   const std::string& path() const { return path_; }
   std::vector<std::string> names() const {
      std::vector<std::string> found;
      for (const auto& entry : std::filesystem::directory_iterator(path_))
         found.push_back(entry.path().filename());
      std::sort(found.begin(), found.end());
      return found;
   }

private:
   std::string path_;
   const int stderr_;
};

} // namespace

CATCH_TEST_CASE("thresholds of the log rank LOG above ERROR", "[log]") {
   CATCH_CHECK(passes(LogLevel::Log, LogLevel::Error));
   CATCH_CHECK(passes(LogLevel::Log, LogLevel::Log));
   CATCH_CHECK_FALSE(passes(LogLevel::Log, LogLevel::Fatal));
   CATCH_CHECK(passes(LogLevel::Log, LogLevel::Debug5));
   CATCH_CHECK_FALSE(passes(LogLevel::Error, LogLevel::Log));
   CATCH_CHECK(passes(LogLevel::Fatal, LogLevel::Log));
   CATCH_CHECK_FALSE(passes(LogLevel::Notice, LogLevel::Warning));
   CATCH_CHECK(passes(LogLevel::Warning, LogLevel::Warning));
   CATCH_CHECK(levelNamed("debug3") == LogLevel::Debug3);
}

CATCH_TEST_CASE("escapes of log_line_prefix", "[log]") {
   Fixture f;
   CATCH_CHECK(f.prefix("%m [%p] ") == "2026-03-02 12:00:01.234 UTC [42] ");
   CATCH_CHECK(f.prefix("%t|%s|%n") == "2026-03-02 12:00:01 UTC|2026-03-02 11:00:01 UTC|1772452801.234");
   CATCH_CHECK(f.prefix("%u@%d/%a %r %h %b") == "ann@sales/psql 10.0.0.7(5000) 10.0.0.7 client backend");
   CATCH_CHECK(f.prefix("%i %e %c %v %x %Q [%P] 100%%") == "SELECT 22012 69a56db1.2a 42/25 77 9 [] 100%");
   CATCH_CHECK(f.prefix("<%8u><%-8u><%2u>") == "<     ann><ann     ><ann>");
   CATCH_CHECK(f.prefix("%q%u") == "ann");
   CATCH_CHECK(f.prefix("%z%", true) == "");
   CATCH_CHECK(f.prefix("%p %u%d%a%r|%q%u ", false) == "7 |");
   CATCH_CHECK(f.prefix("%b %v<%3u>", false) == "postmaster <   >");
   f.session.user = "ann\n2026-03-02 12:00:01 LOG:  forged\x1b[2J";
   CATCH_CHECK(f.prefix("%u") == "ann?2026-03-02 12:00:01 LOG:  forged?[2J"); // a client chooses its name
   f.session.user.clear();
   f.session.application.clear();
   f.localTransaction = 0;
   f.transaction = 0;
   CATCH_CHECK(f.prefix("%u %a %v %x") == "[unknown] [unknown] 42/0 0");
}

CATCH_TEST_CASE("lines count by session and by process", "[log]") {
   Fixture f;
   CATCH_CHECK(f.prefix("%l") == "1");
   CATCH_CHECK(f.prefix("%l") == "2");
   CATCH_CHECK(f.prefix("%l", false) == "1");
}

CATCH_TEST_CASE("times of the log follow log_timezone", "[log]") {
   const LogZone zone = [](int64_t) { return LogZoneOffset{-5 * 3600, "EST"}; };
   CATCH_CHECK(timeText(zone, noon, true) == "2026-03-02 07:00:01.234 EST");
   CATCH_CHECK(timeText(zone, noon, std::string("%Y%m%d-%H%M%S-%Z-%%")) == "20260302-070001-EST-%");
   CATCH_CHECK(timeText({}, -1, true) == "1999-12-31 23:59:59.999 UTC");
}

CATCH_TEST_CASE("a record as text", "[log]") {
   Fixture f;
   f.settings.linePrefix = "[%l] ";
   f.record.detail = "first\nsecond";
   f.record.hint = "Do not divide.";
   f.record.context = "COPY t, line 1";
   f.record.position = 8;
   std::string out;
   appendTextLines(out, f.entry(), f.settings);
   CATCH_CHECK(out == "[1] ERROR:  division by zero at character 8\n"
                      "[2] DETAIL:  first\n\tsecond\n"
                      "[3] HINT:  Do not divide.\n"
                      "[4] CONTEXT:  COPY t, line 1\n"
                      "[5] STATEMENT:  select 1/0\n");
   out.clear();
   appendTextLines(out, f.entry(true, LogVerbosity::Terse), f.settings);
   CATCH_CHECK(out == "[6] ERROR:  division by zero at character 8\n[7] STATEMENT:  select 1/0\n");
   out.clear();
   f.record = {.message = "division by zero", .internalQuery = "select x/0", .internalPosition = 9};
   f.record.level = LogLevel::Error;
   appendTextLines(out, f.entry(), f.settings);
   CATCH_CHECK(out ==
               "[8] ERROR:  division by zero at character 9\n[9] QUERY:  select x/0\n[10] STATEMENT:  select 1/0\n");
   out.clear();
   f.record = {.level = LogLevel::Log, .message = "hello"};
   appendTextLines(out, f.entry(false, LogVerbosity::Verbose), f.settings);
   CATCH_CHECK(out.starts_with("[1] LOG:  00000: hello\n[2] LOCATION:  "));
   CATCH_CHECK(out.find(", log_test.cpp:") != std::string::npos);
}

CATCH_TEST_CASE("a record as CSV and JSON", "[log]") {
   Fixture f;
   f.record.detail = "say \"no\"\tor\n\x01";
   f.record.position = 8;
   std::string out;
   appendCsvLine(out, f.entry(), f.settings);
   CATCH_CHECK(out == "2026-03-02 12:00:01.234 UTC,\"ann\",\"sales\",42,\"10.0.0.7:5000\",69a56db1.2a,1,\"SELECT\","
                      "2026-03-02 11:00:01 UTC,42/25,77,ERROR,22012,\"division by zero\","
                      "\"say \"\"no\"\"\tor\n\x01\",,,,,\"select 1/0\",8,,\"psql\",\"client backend\",,9\n");
   out.clear();
   appendJsonLine(out, f.entry(), f.settings);
   CATCH_CHECK(out == "{\"timestamp\":\"2026-03-02 12:00:01.234 UTC\",\"user\":\"ann\",\"dbname\":\"sales\",\"pid\":42,"
                      "\"remote_host\":\"10.0.0.7\",\"remote_port\":5000,\"session_id\":\"69a56db1.2a\",\"line_num\":2,"
                      "\"ps\":\"SELECT\",\"session_start\":\"2026-03-02 11:00:01 UTC\",\"vxid\":\"42/25\",\"txid\":77,"
                      "\"error_severity\":\"ERROR\",\"state_code\":\"22012\",\"message\":\"division by zero\","
                      "\"detail\":\"say \\\"no\\\"\\tor\\n\\u0001\",\"statement\":\"select 1/0\",\"cursor_position\":8,"
                      "\"application_name\":\"psql\",\"backend_type\":\"client backend\",\"query_id\":9}\n");
   out.clear();
   f.record.internalQuery = "select \"x\"/0";
   f.record.internalPosition = 11;
   appendCsvLine(out, f.entry(), f.settings);
   CATCH_CHECK(out.find(",,\"select \"\"x\"\"/0\",11,,\"select 1/0\",8,") != std::string::npos);
   out.clear();
   appendJsonLine(out, f.entry(), f.settings);
   CATCH_CHECK(out.find("\"internal_query\":\"select \\\"x\\\"/0\",\"internal_position\":11,") != std::string::npos);
   out.clear();
   f.record = {.message = "ready"};
   appendJsonLine(out, f.entry(false), f.settings);
   CATCH_CHECK(out ==
               "{\"timestamp\":\"2026-03-02 12:00:01.234 UTC\",\"pid\":7,\"session_id\":\"69a42a41.7\",\"line_num\":1,"
               "\"session_start\":\"2026-03-01 12:00:01 UTC\",\"txid\":0,\"error_severity\":\"LOG\","
               "\"message\":\"ready\",\"backend_type\":\"postmaster\",\"query_id\":9}\n");
}

CATCH_TEST_CASE("passwords are not shown", "[log]") {
   const auto shown = [](std::string_view sql) {
      const MaskedStatement masked = maskSecrets(sql);
      return masked.isMasked() ? masked.text : std::string("(as it is)");
   };
   CATCH_CHECK(shown("create role a password 'x''y' login") == "create role a password '***' login");
   CATCH_CHECK(shown("ALTER USER a WITH ENCRYPTED PASSWORD E'x\\'y'") == "ALTER USER a WITH ENCRYPTED PASSWORD '***'");
   CATCH_CHECK(shown("alter role a password $$x$$; select 'y'") == "alter role a password '***'; select 'y'");
   CATCH_CHECK(shown("alter role a password $p$x$$y$p$") == "alter role a password '***'");
   CATCH_CHECK(shown("alter role a password U&'x'") == "alter role a password '***'");
   CATCH_CHECK(shown("alter role a password 'x'\n'y'") == "alter role a password '***'\n'***'");
   CATCH_CHECK(shown("alter role a password /* '1' */ 'x' -- 'y'") == "alter role a password /* '1' */ '***' -- 'y'");
   CATCH_CHECK(shown("alter role a password 'x") == "alter role a password '***'");
   CATCH_CHECK(shown("select 1; alter /**/ role \"a\" pasword 'x'") == "select 1; alter /**/ role \"a\" pasword '***'");
   CATCH_CHECK(shown("alter role a valid until '2030-01-01'") == "(as it is)");
   CATCH_CHECK(shown("select 'password', 'x'") == "(as it is)");
   CATCH_CHECK(shown("update users set password = 'x'") == "(as it is)"); // data, as in PostgreSQL's log
   CATCH_CHECK(shown("select $1") == "(as it is)");
   // Settings that are called after secrets, whatever their values look like.
   CATCH_CHECK(shown("SET app.db_password = 'x'; select 'y'") == "SET app.db_password = '***'; select 'y'");
   CATCH_CHECK(shown("set local app.api_key to x, 7 ;") == "set local app.api_key to '***' ;");
   CATCH_CHECK(shown("alter database d set \"app\".\"token\" = 'x'") ==
               "alter database d set \"app\".\"token\" = '***'");
   CATCH_CHECK(shown("alter role a set work_mem = '1MB'") == "(as it is)");
   CATCH_CHECK(shown("alter role a in database d set app.password = 'x'") ==
               "alter role a in database d set app.password = '***'");
   CATCH_CHECK(shown("alter role \"set\" pasword 'x'") == "alter role \"set\" pasword '***'");
   CATCH_CHECK(shown("set password_encryption = md5") == "(as it is)");
   CATCH_CHECK(shown("set work_mem = '1MB'; select 'secret'") == "(as it is)");
   CATCH_CHECK(shown("select set_config('app.secret', 'x', true), 'y'") ==
               "select set_config('app.secret', '***', true), 'y'");
   CATCH_CHECK(shown("select set_config('app.user', 'x', true)") == "(as it is)");
   // Keys of user mappings, also where they do not belong, and passwords without quotes.
   CATCH_CHECK(
       shown("alter user mapping for a server s options (set secret_access_key 'x', set session_token $$y$$)") ==
       "alter user mapping for a server s options (set secret_access_key '***', set session_token '***')");
   CATCH_CHECK(shown("create server s foreign data wrapper s3 options (url 's3://b/c', secret_access_key 'x')") ==
               "create server s foreign data wrapper s3 options (url 's3://b/c', secret_access_key '***')");
   CATCH_CHECK(shown("create usermapping for a server s options (secret_access_key 'x')") ==
               "create usermapping for a server s options (secret_access_key '***')");
   CATCH_CHECK(shown("alter role a password xyz valid until 'infinity'") ==
               "alter role a password '***' valid until 'infinity'");
   CATCH_CHECK(shown("alter role a password \"xyz\"") == "alter role a password '***'");
   CATCH_CHECK(shown("alter role a password null") == "(as it is)");
   // Addresses and connection strings.
   CATCH_CHECK(shown("copy t from 's3://id:x/y@b/c'") == "copy t from 's3://***@b/c'");
   CATCH_CHECK(shown("copy t from 's3://id:x@b/c'") == "copy t from 's3://***@b/c'");
   CATCH_CHECK(shown("copy t to 's3://b/c@d?region=eu&secret_key=x'") == "copy t to 's3://b/c@d?***'");
   CATCH_CHECK(shown("copy t to 's3://b/c?region=eu'") == "(as it is)");
   CATCH_CHECK(shown("create subscription s connection 'host=h password = x' publication p") ==
               "create subscription s connection '***' publication p");
   CATCH_CHECK(maskSecrets("create role a password 'x y'").hideIn("bad \"x y\" here") == "bad '***' here");
   CATCH_CHECK(shown("") == "(as it is)");
   CATCH_CHECK(maskSecrets("alter role a password 'x").hideIn("unterminated quoted string at or near \"'x\"") ==
               "unterminated quoted string at or near \"'***'\"");
   CATCH_CHECK(mayHoldSecret("ALTER ROLE a PASSWORD 'x'"));
   CATCH_CHECK_FALSE(mayHoldSecret("select 'x'"));
}

CATCH_TEST_CASE("log files rotate by age and size and are opened anew", "[log]") {
   const LogDirectory directory;
   LogFiles files;
   LogSettings settings;
   settings.usesFiles = true;
   settings.directory = directory.path() + "/some/log";
   settings.filename = "d%d_%H%M.log";
   settings.fileMode = 0640;
   settings.writes[static_cast<size_t>(LogFormat::Json)] = true;
   settings.rotationBytes = 100;
   settings.truncates = true;
   CATCH_REQUIRE(files.configure(settings, noon).empty());
   const std::string base = settings.directory + "/";
   files.write(LogFormat::Text, "one\n", noon);
   files.write(LogFormat::Json, "{}\n", noon);
   CATCH_CHECK(contents(base + "d02_1200.log") == "one\n");
   CATCH_CHECK(contents(base + "d02_1200.json") == "{}\n");
   CATCH_CHECK(files.path(LogFormat::Text) == base + "d02_1200.log");
   CATCH_CHECK(files.path(LogFormat::Csv).empty());
   struct stat status {};
   CATCH_REQUIRE(stat((base + "d02_1200.log").c_str(), &status) == 0);
   CATCH_CHECK((status.st_mode & 0777) == 0640);
   // What a library writes to stderr is in the text file too.
   CATCH_CHECK(write(2, "library\n", 8) == 8);
   CATCH_CHECK(contents(base + "d02_1200.log") == "one\nlibrary\n");

   // By size: to a new name only, and without truncation.
   const std::string large(100, 'x');
   files.write(LogFormat::Text, large, noon);
   files.write(LogFormat::Text, "same minute\n", noon + second);
   CATCH_CHECK(contents(base + "d02_1200.log").ends_with("same minute\n"));
   files.write(LogFormat::Text, "next\n", noon + 60 * second);
   CATCH_CHECK(contents(base + "d02_1201.log") == "next\n");
   files.write(LogFormat::Json, "{}\n", noon + 60 * second); // it was not full
   CATCH_CHECK(contents(base + "d02_1200.json") == "{}\n{}\n");

   // By age: at midnight, even if the first line comes later; what is there of that name goes.
   std::ofstream(base + "d03_0000.log") << "of last month\n";
   files.write(LogFormat::Text, "new day\n", noon + 13 * 3600 * second);
   CATCH_CHECK(contents(base + "d03_0000.log") == "new day\n");
   CATCH_CHECK(files.path(LogFormat::Json) == base + "d03_0000.json");

   // A file that logrotate has renamed.
   std::filesystem::rename(base + "d03_0000.log", base + "d03.1");
   files.write(LogFormat::Text, "old\n", noon + 13 * 3600 * second);
   CATCH_CHECK(files.reopen(noon + 12 * 3600 * second).empty());
   files.write(LogFormat::Text, "reopened\n", noon + 13 * 3600 * second);
   CATCH_CHECK(contents(base + "d03.1") == "new day\nold\n");
   CATCH_CHECK(contents(base + "d03_0000.log") == "reopened\n");

   settings.directory = base + "d03.1/log";
   CATCH_CHECK(files.configure(settings, noon) ==
               "could not create log directory \"" + settings.directory + "\": Not a directory");
}

CATCH_TEST_CASE("records of many threads are whole and in the order of their times", "[log]") {
   const LogDirectory directory;
   LogSettings settings;
   settings.usesFiles = true;
   settings.directory = directory.path();
   settings.filename = "all.log";
   settings.linePrefix = "%l ";
   configureLog(settings);
   constexpr int threads = 8, each = 500;
   std::vector<std::thread> running;
   for (int t = 0; t < threads; ++t)
      running.emplace_back([t] {
         LogSession session;
         session.processId = t;
         session.statement = "select\n2";
         const LogScope scope(session);
         for (int i = 0; i < each; ++i)
            logLine(i % 2 ? LogLevel::Error : LogLevel::Debug1, std::to_string(t) + " " + std::to_string(i));
      });
   for (std::thread& thread : running)
      thread.join();
   flushLog();
   std::ifstream file(directory.path() + "/all.log");
   std::array<int, threads> last;
   last.fill(-1);
   int records = 0;
   for (std::string line; std::getline(file, line);) {
      int number = 0, thread = 0, i = 0;
      CATCH_REQUIRE(std::sscanf(line.c_str(), "%d ERROR:  %d %d", &number, &thread, &i) == 3);
      CATCH_REQUIRE(i > last[static_cast<size_t>(thread)]);
      last[static_cast<size_t>(thread)] = i;
      CATCH_REQUIRE(number == i); // two lines each: 1 and 2 for the records 1, 3 and 4 for 3, ...
      ++records;
      CATCH_REQUIRE(std::getline(file, line));
      CATCH_REQUIRE(line == std::to_string(number + 1) + " STATEMENT:  select");
      CATCH_REQUIRE(std::getline(file, line));
      CATCH_REQUIRE(line == "\t2");
   }
   CATCH_CHECK(records == threads * each / 2);
   CATCH_CHECK(currentLogFile(LogFormat::Text) == directory.path() + "/all.log");
   configureLog(LogSettings());
   CATCH_CHECK(currentLogFile(LogFormat::Text).empty());
   CATCH_CHECK_FALSE(reopenLog());
}
