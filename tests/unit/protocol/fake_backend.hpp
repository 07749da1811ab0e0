#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/session.hpp"

// A backend with a few invented statements, which together reach all parts of the protocol:
//
//   rows N        N rows of one int4 column "n": 1, 2, ...       echo          one text column, one parameter: that
//   fail          22012                                           copyin        COPY FROM STDIN, counts bytes and
//   pieces begin commit  transaction block                               copyout       COPY TO STDOUT of two rows
//   notice        says something first                            shutdown      57P01
//   crash         throws something that is no SqlError            set           changes a reported setting
//   sleep         waits until it is cancelled

namespace ouzel::protocol::test {

class FakeBackend : public Backend {
public:
   explicit FakeBackend(NoticeSink& notices) : notices_(notices) {}

   std::vector<std::pair<std::string, std::string>> reportedParameters() override;
   std::vector<std::pair<std::string, std::string>> changedParameters() override;
   const ValueEncoder& valueEncoder() override;
   TransactionStatus transactionStatus() const override { return status_; }
   std::unique_ptr<Script> parseScript(std::string_view sql) override;
   void prepare(std::string_view name, std::string_view sql, std::span<const Oid> parameterTypes) override;
   const StatementDescription& describeStatement(std::string_view name) override;
   void bind(std::string_view portal, std::string_view statement, std::span<const RawParameter> parameters,
             std::span<const ValueFormat> resultFormats) override;
   PortalDescription describePortal(std::string_view name) override;
   ExecuteResult execute(std::string_view portal, uint64_t maxRows, ResultSink& sink) override;
   void closeStatement(std::string_view name) override { statements_.erase(std::string(name)); }
   void closePortal(std::string_view name) override { portals_.erase(std::string(name)); }
   void sync() override;
   void fail() noexcept override;
   void cancel(CancelReason reason) noexcept override;

private:
   friend class FakeScript;
   struct Statement {
      std::string text;
      StatementDescription description;
   };
   struct Portal {
      std::string text;
      StatementDescription description;
      std::vector<ValueFormat> formats;
      std::string parameter;
      int next = 1;
   };
   static Statement describe(std::string_view text);
   Portal& requirePortal(std::string_view name);
   ExecuteResult run(Portal& portal, uint64_t maxRows, ResultSink& sink);

   NoticeSink& notices_;
   TransactionStatus status_ = TransactionStatus::Idle;
   bool settingChanged_ = false;
   std::mutex mutex_;
   std::condition_variable cancelled_;
   std::optional<CancelReason> cancelReason_; // under mutex_
   std::map<std::string, Statement> statements_;
   std::map<std::string, Portal> portals_;
};

class FakeDoorkeeper : public Doorkeeper {
public:
   AuthenticationRule rule{AuthenticationMethod::Trust, ""};
   std::vector<BackendKey> cancelled;
   /// Opens sessions in the place of a FakeBackend.
   std::function<std::unique_ptr<Backend>(const StartupRequest&, NoticeSink&)> openBackend;

   AuthenticationRule ruleFor(const StartupRequest&) override { return rule; }
   void randomBytes(std::span<unsigned char> out) override {
      for (size_t i = 0; i < out.size(); ++i)
         out[i] = static_cast<unsigned char>(i);
   }
   void cancelRequested(const BackendKey& key) override { cancelled.push_back(key); }
   std::unique_ptr<Backend> open(const StartupRequest& request, NoticeSink& notices) override;
};

/// A client over a session without sockets. Collects the bytes that the session sends; COPY reads from the same input.
class Conversation : private Transport {
public:
   explicit Conversation(Session::Options options = {false, {7, 9}, "secret"}) : session(*this, doorkeeper, options) {}

   /// Feeds bytes, processes all complete messages as the server's loop does, and returns the session's answer in
   /// readable form.
   std::string say(const std::string& bytes);
   /// As say(), but returns raw bytes.
   std::string sayRaw(const std::string& bytes);
   /// Does the start-up as user "postgres" without a password.
   std::string connect();

   FakeDoorkeeper doorkeeper;
   Session session;
   Session::Next last = Session::Next::Continue;
   bool clientGone = false;

private:
   void send(std::string_view bytes) override;
   Frame receive(Phase phase) override;

   MemoryLedger ledger_{SIZE_MAX};
   Reservation memory_{ledger_};
   FrameReader reader_{memory_};
   std::string received_;
};

std::string message(char type, const std::string& payload);
std::string startupPacket(const std::vector<std::pair<std::string, std::string>>& parameters,
                          uint32_t version = 196608);
std::string int16(int value);
std::string int32(int64_t value);
std::string cstring(const std::string& text);
std::string query(const std::string& sql);
std::string parse(const std::string& name, const std::string& sql);
std::string bind(const std::string& portal, const std::string& statement,
                 const std::vector<std::string>& parameters = {}, const std::vector<int>& resultFormats = {});
std::string describe(char kind, const std::string& name);
std::string execute(const std::string& portal, int maxRows = 0);
std::string syncMessage();
/// One line per message of the server: "T n", "D 1|NULL", "C SELECT 1", "E ERROR 22012 division by zero", "Z I".
std::string readable(std::string_view bytes);

} // namespace ouzel::protocol::test
