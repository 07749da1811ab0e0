#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "engine/core/database.hpp"
#include "engine/core/session.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/parser.hpp"
#include "tests/fuzz/slt_seeds.hpp"
#include "tests/fuzz/target.hpp"

// Input: any SQL text. The target parses, binds, optimises and runs it against the tables of tests/sql, and rolls back.
// Each .slt file has its own schema. The first byte of an input selects the schema (its lower six bits), the extended
// protocol's calls (64) and vectors of two rows (128). Failures are: a finding of a sanitizer, a failed DCHECK, an
// error XX000, an exception other than SqlError, a statement that ignores its cancellation.

namespace {

using namespace ouzel;
using namespace ouzel::engine;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr auto patience = std::chrono::seconds(60);
#else
constexpr auto patience = std::chrono::seconds(30);
#endif
const bool isVerbose = std::getenv("FUZZ_VERBOSE") != nullptr; // also prints SQL errors
constexpr auto timeLimit = std::chrono::milliseconds(300);

[[noreturn]] void fail(const char* what, const std::string& detail) {
   std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
   std::abort();
}

const std::vector<fuzz::SltFile>& files() {
   static const auto read = fuzz::readSltFiles(OUZEL_SQL_TESTS);
   return read;
}

/// Cancels a statement that takes long, repeatedly, and ends the process when the statement ignores it.
class Watchdog {
public:
   explicit Watchdog(Backend& session) : session_(session), thread_([this] { watch(); }) {}
   ~Watchdog() {
      {
         const std::lock_guard lock(mutex_);
         ended_ = true;
      }
      changed_.notify_all();
      thread_.join();
   }
   void begin() { set(true); }
   void end() { set(false); }

private:
   using Clock = std::chrono::steady_clock;
   void set(bool isRunning) {
      const std::lock_guard lock(mutex_);
      isRunning_ = isRunning;
      begun_ = Clock::now();
   }
   void watch() {
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, timeLimit / 3, [&] { return ended_; })) {
         const auto took = Clock::now() - begun_;
         if (isRunning_ && took > timeLimit) session_.cancel(CancelReason::Request);
         if (isRunning_ && took > patience) fail("hang", "the statement does not stop");
      }
   }

   Backend& session_;
   std::mutex mutex_;
   std::condition_variable changed_;
   bool isRunning_ = false, ended_ = false; // under mutex_
   Clock::time_point begun_;                // under mutex_
   std::thread thread_;
};

class NoNotices : public NoticeSink {
   void notice(const Notice&) override {}
};

/// A client: takes rows, and gives COPY a few lines.
class Client : public ResultSink, private CopySource {
public:
   explicit Client(Backend& session) : session_(session) {}
   void begin(const std::vector<ResultColumn>& columns) override {
      columns_ = &columns;
      encoder_ = &session_.valueEncoder();
   }
   void rows(const Batch& batch) override {
      bytes_.clear();
      ends_.resize(batch.liveRows());
      for (size_t i = 0; i < batch.columns.size(); ++i)
         encoder_->append(batch.columns[i], batch.selection, (*columns_)[i], ValueFormat::Text, bytes_, ends_.data());
   }
   CopySource& beginCopyIn(ValueFormat, uint16_t) override {
      copyRead_ = false;
      return *this;
   }
   void beginCopyOut(ValueFormat, uint16_t) override {}
   void copyRows(std::string_view bytes, std::span<const uint32_t>) override { bytes_ = bytes; }

private:
   std::optional<std::string_view> read() override {
      if (std::exchange(copyRead_, true)) return std::nullopt;
      return "1\ttwo\t3\n\\N\t\\N\t\\N\n";
   }
   Backend& session_;
   const std::vector<ResultColumn>* columns_ = nullptr;
   const ValueEncoder* encoder_ = nullptr;
   std::string bytes_;
   std::vector<uint32_t> ends_;
   bool copyRead_ = false;
};

/// Excludes statements that would end the surrounding transaction, access files, or have lasting effects.
bool isAllowed(const sql::ParsedStatement& statement) {
   if (sql::isNode(statement.node, T_CopyStmt)) return sql::as<::CopyStmt>(statement.node)->filename == nullptr;
   return !sql::isNode(statement.node, T_TransactionStmt) && !sql::isNode(statement.node, T_CheckPointStmt) &&
          !sql::isNode(statement.node, T_AlterSystemStmt);
}

class Fixture {
public:
   Fixture() : directory_((std::filesystem::temp_directory_path() / "ouzel-fuzz-XXXXXX").string()) {
      if (mkdtemp(directory_.data()) == nullptr) fail("mkdtemp", directory_);
      DatabaseOptions options;
      options.dataDirectory = directory_;
      options.threads = 2;
      options.memoryLimit = size_t{256} << 20;
      database_ = Database::open(options);
      session_ = openSession(*database_, {}, notices_);
      watchdog_ = std::make_unique<Watchdog>(*session_);
      for (size_t i = 0; i < files().size(); ++i) {
         run("CREATE SCHEMA f" + std::to_string(i));
         run(searchPath(i));
         for (const auto& sql : files()[i].setup)
            run(sql);
      }
   }
   ~Fixture() {
      watchdog_.reset();
      session_.reset();
      database_->close();
      database_.reset();
      std::error_code ignored;
      std::filesystem::remove_all(directory_, ignored);
   }

   void tryInput(uint8_t choice, std::string_view sql) {
      if (!mayRun(sql)) return;
      run("BEGIN");
      run(searchPath(choice % 64));
      if ((choice & 128) != 0) run("SET ouzel.vector_size = 2");
      watchdog_->begin();
      if ((choice & 64) != 0)
         guarded([&] { runExtended(sql); });
      else
         guarded([&] { runScript(sql); });
      watchdog_->end();
      run("ROLLBACK");
      run("DEALLOCATE ALL");
   }

private:
   static std::string searchPath(size_t file) {
      return "SET search_path TO f" + std::to_string(file % files().size()) + ", public";
   }

   bool mayRun(std::string_view sql) {
      bool may = true;
      guarded([&] {
         const auto script = sql::ParsedScript::parse(sql);
         for (const auto& statement : script.statements())
            may = may && isAllowed(statement);
      });
      return may;
   }

   void run(const std::string& sql) {
      guarded([&] { runScript(sql); });
   }

   void runScript(std::string_view sql) {
      Client client(*session_);
      const auto script = session_->parseScript(sql);
      while (script->next())
         script->run(client);
   }

   void runExtended(std::string_view sql) {
      Client client(*session_);
      session_->closeStatement("");
      session_->prepare("", sql, {});
      const auto& description = session_->describeStatement("");
      std::vector<RawParameter> parameters(description.parameterTypes.size());
      for (size_t i = 1; i < parameters.size(); i += 2)
         parameters[i] = {false, ValueFormat::Text, "1"};
      session_->bind("", "", parameters, {});
      session_->describePortal("");
      if (session_->execute("", 3, client).kind == ExecuteResult::Kind::Suspended) session_->execute("", 0, client);
      session_->closePortal("");
      session_->sync();
   }

   template <typename Action>
   void guarded(const Action& action) {
      try {
         action();
      } catch (const SqlError& error) {
         if (error.state() == sqlstate::internalError) fail("internal error", error.what());
         if (isVerbose) std::fprintf(stderr, "%s: %s\n", std::string(error.state().text()).c_str(), error.what());
         session_->fail();
      } catch (const std::exception& error) {
         fail("an exception that is no SqlError", error.what());
      }
   }

   std::string directory_;
   NoNotices notices_;
   std::unique_ptr<Database> database_;
   std::unique_ptr<Backend> session_;
   std::unique_ptr<Watchdog> watchdog_;
};

} // namespace

namespace ouzel::fuzz {

bool isText() {
   return true;
}

bool isWellFormed(const std::string& input) {
   try {
      return !sql::ParsedScript::parse(std::string_view(input).substr(1)).statements().empty();
   } catch (const SqlError&) {
      return false;
   }
}

std::vector<std::string> seeds() {
   std::vector<std::string> all;
   for (size_t i = 0; i < files().size(); ++i)
      for (const auto* list : {&files()[i].setup, &files()[i].records})
         for (const auto& sql : *list)
            for (const size_t way : {size_t{0}, size_t{64}, size_t{128}})
               all.push_back(static_cast<char>(i + way) + sql);
   return all;
}

} // namespace ouzel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   static Fixture fixture;
   if (size > 0) fixture.tryInput(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
   return 0;
}
