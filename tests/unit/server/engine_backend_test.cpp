#include "server/engine_backend.hpp"

#include <catch2/catch.hpp>

#include "engine/core/database.hpp"
#include "protocol/result_writer.hpp"
#include "server/engine_factory.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel;
using namespace ouzel::server;

// The adapter between engine and protocol, with a session that always returns the same rows. The engine's sources are
// not linked here; the needed symbols are defined below.

namespace {

const std::vector<engine::ResultColumn>& fixedColumns() {
   static const std::vector<engine::ResultColumn> columns = {
       {"n", SqlType{oid::int4, -1, 0}, {PhysicalType::I32, 0}, 16390, 1},
       {"d", SqlType{oid::numeric, numericTypmod(15, 2), 0}, {PhysicalType::I64, 2}, 0, 0},
       {"c", SqlType{oid::bpchar, 4 + 5, 100}, {PhysicalType::String, 0}, 0, 0},
       {"t", SqlType{oid::text, -1, 100}, {PhysicalType::String, 0}, 0, 0},
       {"day", SqlType{oid::date, -1, 0}, {PhysicalType::I32, 0}, 0, 0}};
   return columns;
}

class FixedSession;
class FixedScript : public engine::Script {
public:
   explicit FixedScript(engine::Session& session) : session_(session) {}
   bool next() override { return !std::exchange(done_, true); }
   engine::ExecuteResult run(engine::ResultSink& sink) override { return session_.execute("", 0, sink); }

private:
   engine::Session& session_;
   bool done_ = false;
};

class FixedSession : public engine::Session {
public:
   explicit FixedSession(engine::NoticeSink& notices) : notices_(notices) {
      description_.parameterTypes = {oid::int4};
      description_.returnsRows = true;
      description_.columns = fixedColumns();
   }
   std::vector<std::pair<std::string, std::string>> reportedParameters() override { return {{"server_version", "15"}}; }
   std::vector<std::pair<std::string, std::string>> changedParameters() override { return {}; }
   const SessionFormat& format() const override { return format_; }
   std::string objectName(Oid, Oid) override { return "name"; }
   int64_t idleMillisMax() const override { return 0; }
   engine::TransactionStatus transactionStatus() const override { return engine::TransactionStatus::Idle; }
   std::unique_ptr<engine::Script> parseScript(std::string_view) override {
      return std::make_unique<FixedScript>(*this);
   }
   void prepare(std::string_view, std::string_view, std::span<const Oid>) override {}
   const engine::StatementDescription& describeStatement(std::string_view) override { return description_; }
   void bind(std::string_view, std::string_view, std::span<const engine::ParameterValue> parameters) override {
      isBinary_ = parameters[0].binary;
   }
   const engine::StatementDescription& describePortal(std::string_view) override { return description_; }
   engine::ExecuteResult execute(std::string_view, uint64_t, engine::ResultSink& sink) override {
      notices_.notice(
          {engine::Notice::Severity::Warning, sqlstate::warning, isBinary_ ? "binary" : "text", "", "Hint."});
      sink.begin(fixedColumns());
      const int32_t numbers[] = {7, -1};
      const int64_t decimals[] = {-5, 123456};
      const StringView chars[] = {StringView("ab"), StringView("")};
      const StringView texts[] = {StringView("a text of more than twelve bytes"), StringView("")};
      const int32_t days[] = {0, 366};
      const ValidityWord validity[] = {1};
      Batch batch;
      batch.columns = {
          Vector::flat(PhysicalType::I32, numbers, validity), Vector::flat(PhysicalType::I64, decimals, nullptr),
          Vector::flat(PhysicalType::String, chars, nullptr), Vector::flat(PhysicalType::String, texts, nullptr),
          Vector::flat(PhysicalType::I32, days, nullptr)};
      batch.setDense(2);
      sink.rows(batch);
      return {engine::ExecuteResult::Kind::Complete, "SELECT 2"};
   }
   void closeStatement(std::string_view) override {}
   void closePortal(std::string_view) override {}
   void sync() override {}
   void fail() noexcept override {}
   void cancel(engine::CancelReason) noexcept override {}

private:
   engine::NoticeSink& notices_;
   engine::StatementDescription description_;
   SessionFormat format_;
   bool isBinary_ = false;
};

class Doorkeeper : public protocol::test::FakeDoorkeeper {
public:
   std::unique_ptr<protocol::Backend> open(const protocol::StartupRequest& request,
                                           protocol::ClientVoice& voice) override {
      return factory.open(request, {"local", 5}, voice);
   }
   // Never dereferenced: the session above needs no database.
   alignas(16) char place[64];
   EngineFactory factory{*reinterpret_cast<engine::Database*>(place)};
};

class Talk : private protocol::Transport {
public:
   std::string say(const std::string& bytes) {
      reader_.append(bytes);
      while (const auto frame = reader_.next(session_.phase()))
         session_.handle(*frame);
      return protocol::test::readable(std::exchange(received_, {}));
   }

   const StatementCounters& counters() const { return doorkeeper_.factory.counters(); }

private:
   void send(std::string_view bytes) override { received_ += bytes; }
   protocol::Frame receive(protocol::Phase) override { throw protocol::ConnectionLost(); }

   Doorkeeper doorkeeper_;
   protocol::Session session_{*this, doorkeeper_, {}};
   protocol::FrameReader reader_;
   std::string received_;
};

} // namespace

std::unique_ptr<engine::Session> engine::Session::open(engine::Database&, const engine::SessionOptions& options,
                                                       engine::NoticeSink& notices) {
   CATCH_CHECK(options.processId == 5);
   CATCH_CHECK(options.user == "u");
   return std::make_unique<FixedSession>(notices);
}

std::string engine::Database::passwordVerifier(const std::string&) {
   return "";
}

CATCH_TEST_CASE("an engine's rows go out as text and in binary, char(n) padded, with its notices") {
   namespace raw = protocol::test;
   Talk talk;
   CATCH_CHECK(talk.say(raw::startupPacket({{"user", "u"}})).ends_with("Z I\n"));
   const std::string textRows = "D 7|-0.05|ab   |a text of more than twelve bytes|2000-01-01\n"
                                "D NULL|1234.56|     ||2001-01-01\n";
   CATCH_CHECK(talk.say(raw::query("anything")) ==
               "N WARNING 01000 text H:Hint.\n"
               "T n 16390.1 type 23 4 -1 format 0,d 0.0 type 1700 -1 983046 format 0,c 0.0 type 1042 -1 9 format 0,"
               "t 0.0 type 25 -1 -1 format 0,day 0.0 type 1082 4 -1 format 0\n" +
                   textRows + "C SELECT 2\nZ I\n");
   CATCH_CHECK(talk.say(raw::parse("", "x") + raw::bind("", "", {"1"}, {1, 0, 0, 0, 1}) + raw::execute("") +
                        raw::syncMessage()) == "1\n2\nN WARNING 01000 text H:Hint.\nD " + raw::int32(7) +
                                                   "|-0.05|ab   |a text of more than twelve bytes|" + raw::int32(0) +
                                                   "\nD NULL|1234.56|     ||" + raw::int32(366) +
                                                   "\nC SELECT 2\nZ I\n");
   CATCH_CHECK(talk.say(raw::parse("", "x") + raw::bind("", "", {"1"}, {1, 0}) + raw::syncMessage()) ==
               "1\nE ERROR 08P01 bind message has 2 result formats but query has 5 columns\nZ I\n");
   CATCH_CHECK(talk.counters().statements == 2);
   CATCH_CHECK(talk.counters().errors == 1);
   CATCH_CHECK(talk.counters().nanos > 0);
}
