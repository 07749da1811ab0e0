#pragma once
#include <map>
#include <memory>
#include <string>

#include "engine/core/session.hpp"
#include "protocol/backend.hpp"
#include "server/statement_counters.hpp"
#include "server/value_codec.hpp"

namespace ouzel::server {

/// Puts an engine::Session behind the protocol's Backend: translates descriptions, sinks and notices, and remembers the
/// result formats of portals, which the engine does not need. Threads as for Backend.
class EngineBackend : public protocol::Backend, private engine::NoticeSink {
public:
   /// Throws the errors of engine::Session::open.
   EngineBackend(engine::Database& database, const engine::SessionOptions& options, protocol::ClientVoice& voice,
                 StatementCounters& counters);
   ~EngineBackend() override;

   std::vector<std::pair<std::string, std::string>> reportedParameters() override;
   std::vector<std::pair<std::string, std::string>> changedParameters() override;
   const protocol::ValueEncoder& valueEncoder() override;
   protocol::TransactionStatus transactionStatus() const override;
   int64_t idleMillisMax() const override { return session_->idleMillisMax(); }
   std::unique_ptr<protocol::Script> parseScript(std::string_view sql) override;
   void prepare(std::string_view name, std::string_view sql, std::span<const Oid> parameterTypes) override;
   const protocol::StatementDescription& describeStatement(std::string_view name) override;
   size_t parameterCount(std::string_view statement) override {
      return session_->describeStatement(statement).parameterTypes.size();
   }
   void bind(std::string_view portal, std::string_view statement, std::span<const protocol::RawParameter> parameters,
             std::span<const protocol::Format> resultFormats) override;
   const protocol::ResultShape& describePortal(std::string_view name) override;
   protocol::ExecuteResult execute(std::string_view portal, uint64_t maxRows, protocol::ResultSink& sink) override;
   void closeStatement(std::string_view name) override { session_->closeStatement(name); }
   void closePortal(std::string_view name) override;
   void sync() override;
   void fail() noexcept override;
   void cancel(protocol::CancelReason reason) noexcept override;

private:
   void notice(const engine::Notice& notice) override;
   void forgetPortals();

   protocol::ClientVoice& voice_;
   StatementCounters& counters_;
   ValueCodec codec_;
   std::unique_ptr<engine::Session> session_;
   protocol::StatementDescription statement_; // the last answer of describeStatement()
   protocol::ResultShape shape_;              // the last answer of describePortal()
   /// Result formats from Bind, for portals that are not all text. The entry of a portal that SQL has closed stays
   /// until the name is bound again or the transaction ends.
   std::map<std::string, std::vector<protocol::Format>, std::less<>> portalFormats_;
};

} // namespace ouzel::server
