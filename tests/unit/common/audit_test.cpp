#include "common/audit/audit.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "common/audit/chain.hpp"
#include "common/audit/check.hpp"
#include "common/audit/classes.hpp"
#include "common/audit/files.hpp"

using namespace ouzel;

// Records of the audit, their chain, and their files.

namespace {

constexpr int64_t second = 1'000'000;

/// A directory of its own with audit files in it.
class AuditDirectory {
public:
   AuditDirectory() {
      static int count = 0;
      path_ = std::filesystem::temp_directory_path() /
              ("ouzel-audit-" + std::to_string(getpid()) + "-" + std::to_string(count++));
      std::filesystem::remove_all(path_);
   }
   ~AuditDirectory() { std::filesystem::remove_all(path_); }
   AuditDirectory(const AuditDirectory&) = delete;
   AuditDirectory& operator=(const AuditDirectory&) = delete;

   AuditSettings settings(bool chains = true) const {
      AuditSettings out;
      out.isOn = true;
      out.chains = chains;
      out.files.directory = path_.string();
      out.files.filename = "audit-%S.json";
      return out;
   }
   std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
   std::filesystem::path path_;
};

std::string contentOf(const std::string& file) {
   std::ostringstream out;
   out << std::ifstream(file, std::ios::binary).rdbuf();
   return out.str();
}

void overwrite(const std::string& file, const std::string& content) {
   std::ofstream(file, std::ios::binary) << content;
}

std::string record(uint64_t number, const std::string& more = "") {
   return "{\"number\":" + std::to_string(number) + ",\"command\":\"SELECT" + more + "\"}\n";
}

/// The findings, each in a line, and the counts.
std::string checked(const std::vector<std::string>& files) {
   std::string out;
   const AuditCheck found = checkAudit(
       files, [&](const std::string& finding) { out += std::filesystem::path(finding).filename().string() + "\n"; });
   return out + std::to_string(found.records) + " records, " + std::to_string(found.broken) + " broken, " +
          std::to_string(found.torn) + " torn, " + std::to_string(found.lost) + " lost, " +
          std::to_string(found.unchained) + " unchained";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
   const size_t at = text.find(what);
   CATCH_REQUIRE(at != std::string::npos);
   return text.replace(at, what.size(), with);
}

} // namespace

CATCH_TEST_CASE("classes of ouzel.audit", "[audit]") {
   const auto parse = [](std::string_view list) {
      std::string badWord;
      const auto classes = parseAuditClasses(list, badWord);
      return classes ? std::to_string(*classes) : badWord;
   };
   CATCH_CHECK(parse("none") == "0");
   CATCH_CHECK(parse("READ, write") == "3");
   CATCH_CHECK(parse("all,-misc") == "15");
   CATCH_CHECK(parse("-misc,all") == "31");
   CATCH_CHECK(parse("ddl,role,none,read") == "1");
   CATCH_CHECK(parse("read,reed") == "reed");
   CATCH_CHECK(parse("read,") == "");
   CATCH_CHECK(auditClassName(audit_class::role) == "role");
}

CATCH_TEST_CASE("a record as JSON", "[audit]") {
   LogSession session;
   session.processId = 42;
   session.host = "10.0.0.7";
   session.port = "5000";
   session.user = "ann";
   session.database = "sales";
   session.application = "a\"b";
   const std::vector<AuditObject> objects{{"public.v", "view", {"SELECT", "UPDATE"}, ""},
                                          {"public.t", "table", {"SELECT"}, "bob"}};
   AuditRecord full{.reason = "class", .className = "read", .command = "SELECT", .session = &session};
   full.role = "deputy";
   full.objects = &objects;
   full.rows = 0;
   full.state = "22012";
   full.message = "division\nby zero";
   full.durationMicros = 1234567;
   full.statement = "select 1/0";
   CATCH_CHECK(
       auditJson(full) ==
       "\"pid\":42,\"session_id\":\"386d4380.2a\",\"user\":\"ann\",\"session_user\":\"ann\",\"role\":\"deputy\","
       "\"host\":\"10.0.0.7\",\"port\":5000,\"database\":\"sales\",\"application\":\"a\\\"b\",\"reason\":"
       "\"class\",\"class\":\"read\",\"command\":\"SELECT\",\"objects\":[{\"name\":\"public.v\",\"kind\":"
       "\"view\",\"privileges\":[\"SELECT\",\"UPDATE\"]},{\"name\":\"public.t\",\"kind\":\"table\","
       "\"privileges\":[\"SELECT\"],\"as\":\"bob\"}],\"rows\":0,\"result\":\"error\",\"state\":\"22012\","
       "\"message\":\"division\\nby zero\",\"duration_ms\":1234.567,\"statement\":\"select 1/0\"");
   const std::string server = auditJson({.reason = "session", .className = "server", .command = "AUDIT START"});
   CATCH_CHECK(server == "\"pid\":" + std::to_string(getpid()) +
                             ",\"reason\":\"session\",\"class\":\"server\",\"command\":\"AUDIT START\","
                             "\"result\":\"ok\"");
}

CATCH_TEST_CASE("the chain is SHA-256 over the hash before and the record's bytes", "[audit]") {
   AuditChain chain;
   const std::string first = chain.link("{\"number\":1,\"a\":\"b\"}"), zeros = firstChainHash();
   // printf '%064d{"number":1,"a":"b","previous":"%064d"' 0 0 | sha256sum
   const std::string hash = "3f12285257ba2d63a0367f49bde87130d879183da17ba38d7cac834f2e4f95a0";
   CATCH_CHECK(first == "{\"number\":1,\"a\":\"b\",\"previous\":\"" + zeros + "\",\"hash\":\"" + hash + "\"}");
   const auto line = parseAuditLine(first);
   CATCH_REQUIRE(line);
   CATCH_CHECK(line->number == 1);
   CATCH_CHECK(line->previous == zeros);
   CATCH_CHECK(line->hash == hash);
   const std::string next =
       chain.link("{\"number\":2,\"a\":\"\\\",\\\"hash\\\":\\\"\"}"); // the parsed line points into it
   const auto second = parseAuditLine(next);
   CATCH_REQUIRE(second);
   CATCH_CHECK_FALSE(second->previous);
   CATCH_CHECK(second->hash == chain.last());
   for (const std::string& torn : {first.substr(0, first.size() - 1), first.substr(1), std::string("{\"number\":"),
                                   std::string("{\"number\":x,}"), std::string()})
      CATCH_CHECK_FALSE(parseAuditLine(torn));
}

CATCH_TEST_CASE("the chain goes on across files and starts, and each kind of break is found", "[audit]") {
   const AuditDirectory directory;
   AuditSettings settings = directory.settings();
   settings.files.rotationBytes = 1;
   {
      AuditFiles files;
      CATCH_REQUIRE(files.configure(settings, 0).empty());
      CATCH_CHECK(files.lastNumber() == 0);
      CATCH_CHECK(files.write(record(1) + record(2), 0).failure.empty());
      CATCH_CHECK(files.write(record(3), second).failure.empty()); // rotates
      CATCH_CHECK(files.path() == directory.file("audit-01.json"));
   }
   const std::string one = directory.file("audit-00.json"), two = directory.file("audit-01.json"),
                     three = directory.file("audit-02.json");
   {
      AuditFiles files;
      CATCH_REQUIRE(files.configure(settings, 2 * second).empty());
      CATCH_CHECK(files.lastNumber() == 3);
      files.write(record(4) + record(5) + record(6), 2 * second);
   }
   CATCH_CHECK(checked({one, two, three}) == "6 records, 0 broken, 0 torn, 0 lost, 0 unchained");
   CATCH_CHECK(checked({two, three}) == "4 records, 0 broken, 0 torn, 0 lost, 0 unchained"); // older ones are gone
   CATCH_CHECK(checked({one, three}) == "audit-02.json:1: BROKEN: record 4 follows a record that is not here\n"
                                        "5 records, 1 broken, 0 torn, 0 lost, 0 unchained");
   const std::string good = contentOf(three);
   const size_t secondLine = good.find('\n') + 1, thirdLine = good.find('\n', secondLine) + 1;
   overwrite(three, replaced(good, "5,\"command\":\"SELECT", "5,\"command\":\"DELETE"));
   CATCH_CHECK(checked({one, two, three}) ==
               "audit-02.json:2: BROKEN: record 5 is not what was written, or the record before it is missing\n"
               "6 records, 1 broken, 0 torn, 0 lost, 0 unchained");
   overwrite(three, good.substr(0, secondLine) + good.substr(thirdLine));
   CATCH_CHECK(checked({three}) ==
               "audit-02.json:2: BROKEN: record 6 is not what was written, or the record before it is missing\n"
               "2 records, 1 broken, 0 torn, 0 lost, 0 unchained");
   overwrite(three, good.substr(0, secondLine) + record(5) + good.substr(thirdLine));
   CATCH_CHECK(checked({three}) == "audit-02.json:2: BROKEN: record 5 has no hash\n"
                                   "audit-02.json:3: BROKEN: record 6 is not what was written, or the record before "
                                   "it is missing\n3 records, 2 broken, 0 torn, 0 lost, 0 unchained");
   overwrite(three, good.substr(0, secondLine) + "nonsense\n" + good.substr(secondLine));
   CATCH_CHECK(checked({three}) == "audit-02.json:3: BROKEN: the line before is not a record\n"
                                   "3 records, 1 broken, 0 torn, 0 lost, 0 unchained");
   overwrite(three, good.substr(secondLine));
   CATCH_CHECK(checked({three}) ==
               "audit-02.json:1: BROKEN: record 5 does not tell the hash before it, and no record is before it\n"
               "2 records, 1 broken, 0 torn, 0 lost, 0 unchained");
   CATCH_CHECK_THROWS(checked({directory.file("none")}));
}

CATCH_TEST_CASE("a line that a crash has cut is torn, and the chain goes on behind it", "[audit]") {
   const AuditDirectory directory;
   const AuditSettings settings = directory.settings();
   const std::string one = directory.file("audit-00.json"), two = directory.file("audit-05.json");
   {
      AuditFiles files;
      CATCH_REQUIRE(files.configure(settings, 0).empty());
      files.write(record(1) + record(2), 0);
   }
   const std::string whole = contentOf(one), cut = whole.substr(0, whole.size() - 10);
   overwrite(one, cut);
   CATCH_CHECK(checked({one}) == "audit-00.json:2: torn: the end of this line is missing\n"
                                 "1 records, 0 broken, 1 torn, 0 lost, 0 unchained");
   CATCH_CHECK(lastRecord(one).number == 1);
   // In the same file and in another one.
   for (const int64_t start : {int64_t{0}, 5 * second}) {
      overwrite(one, cut);
      AuditFiles files;
      CATCH_REQUIRE(files.configure(settings, start).empty());
      CATCH_CHECK(files.lastNumber() == 1);
      files.write(record(2, " 1") + record(3), start);
      CATCH_CHECK(checked(start == 0 ? std::vector{one} : std::vector{one, two}) ==
                  "audit-00.json:2: torn: the end of this line is missing\n"
                  "3 records, 0 broken, 1 torn, 0 lost, 0 unchained");
   }
   // A whole record that somebody has cut is missed by the next one.
   overwrite(one, whole);
   std::filesystem::remove(two);
   {
      AuditFiles files;
      CATCH_REQUIRE(files.configure(settings, 5 * second).empty());
      files.write(record(3), 5 * second);
   }
   CATCH_CHECK(checked({one, two}) == "3 records, 0 broken, 0 torn, 0 lost, 0 unchained");
   overwrite(one, cut);
   CATCH_CHECK(checked({one, two}).find("BROKEN: record 3 follows a record that is not here") != std::string::npos);
}

CATCH_TEST_CASE("the last record of a file is found behind long ones", "[audit]") {
   const AuditDirectory directory;
   AuditFiles files;
   CATCH_REQUIRE(files.configure(directory.settings(), 0).empty());
   files.write(record(7, std::string(300'000, 'x')), 0);
   const LastRecord last = lastRecord(files.path());
   CATCH_CHECK(last.number == 7);
   CATCH_CHECK(last.hash.size() == chainDigits);
   CATCH_CHECK(lastRecord(directory.file("none")).number == 0);
}

CATCH_TEST_CASE("a full disk leaves whole lines, and the chain goes on when there is space again", "[audit]") {
   // RLIMIT_FSIZE would end the process; /dev/full fails each write.
   const AuditDirectory directory;
   AuditFiles files;
   AuditSettings settings = directory.settings();
   CATCH_REQUIRE(files.configure(settings, 0).empty());
   CATCH_CHECK(files.write(record(1), 0).failure.empty());
   std::filesystem::create_symlink("/dev/full", directory.file("audit-01.json"));
   settings.files.rotationBytes = 1;
   CATCH_REQUIRE(files.configure(settings, second).empty()); // as after SIGHUP
   const AuditFiles::Written failed = files.write(record(2) + record(3), second);
   CATCH_CHECK(failed.bytes == 0);
   CATCH_CHECK(failed.failure ==
               "could not write to audit file \"" + directory.file("audit-01.json") + "\": No space left on device");
   CATCH_REQUIRE(files.configure(settings, 2 * second).empty());
   CATCH_CHECK(files.write(record(4), 2 * second).failure.empty());
   CATCH_CHECK(checked({directory.file("audit-00.json"), directory.file("audit-02.json")}) ==
               "audit-02.json:1: 2 records before record 4 could not be written by the server\n"
               "2 records, 0 broken, 0 torn, 2 lost, 0 unchained");
}

CATCH_TEST_CASE("records of many threads have their numbers in order", "[audit]") {
   const AuditDirectory directory;
   AuditSettings settings = directory.settings();
   settings.files.filename = "audit.json";
   CATCH_CHECK_FALSE(isAuditOn());
   audit({.reason = "class", .className = "read", .command = "SELECT"}); // for nobody
   configureAudit(settings);
   CATCH_CHECK(isAuditOn());
   CATCH_CHECK(currentAuditFile() == directory.file("audit.json"));
   std::vector<std::thread> threads;
   for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
         for (int n = 0; n < 500; ++n)
            audit({.reason = "class", .className = "read", .command = "SELECT"});
      });
   for (std::thread& thread : threads)
      thread.join();
   configureAudit(AuditSettings());
   CATCH_CHECK_FALSE(isAuditOn());
   const std::string content = contentOf(directory.file("audit.json"));
   CATCH_CHECK(checked({directory.file("audit.json")}) == "2002 records, 0 broken, 0 torn, 0 lost, 0 unchained");
   CATCH_CHECK(content.find("\"command\":\"AUDIT START\"") < content.find("SELECT"));
   CATCH_CHECK(content.find("\"command\":\"AUDIT STOP\"") > content.rfind("SELECT"));
}

CATCH_TEST_CASE("statements fail while records cannot be written that have to be", "[audit]") {
   const AuditDirectory directory;
   AuditSettings settings = directory.settings();
   settings.files.filename = "audit.json";
   settings.isRequired = true;
   const AuditRecord select{.reason = "class", .className = "read", .command = "SELECT"};
   configureAudit(settings);
   auditOrFail(select);
   requireAudit();
   settings.files.filename = "full.json";
   std::filesystem::create_symlink("/dev/full", directory.file("full.json"));
   configureAudit(settings);
   CATCH_CHECK_THROWS_WITH(auditOrFail(select), "could not write the audit record of a statement");
   CATCH_CHECK_THROWS(requireAudit());
   settings.files.filename = "audit.json";
   configureAudit(settings); // there is space again
   requireAudit();
   auditOrFail(select);
   configureAudit(AuditSettings());
   const std::string content = contentOf(directory.file("audit.json"));
   // START, SELECT, RELOAD, the SELECT that failed, RELOAD, SELECT, STOP: nothing is lost.
   CATCH_CHECK(checked({directory.file("audit.json")}) == "7 records, 0 broken, 0 torn, 0 lost, 0 unchained");
}
