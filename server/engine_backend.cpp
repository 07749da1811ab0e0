#include "server/engine_backend.hpp"

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "engine/core/database.hpp"
#include "server/engine_factory.hpp"

namespace ouzel::server {

namespace {

std::vector<protocol::ResultColumn> translate(const std::vector<engine::ResultColumn>& columns) {
   std::vector<protocol::ResultColumn> result;
   result.reserve(columns.size());
   for (const auto& column : columns)
      result.push_back({column.name, column.type, column.representation, column.tableOid, column.attribute});
   return result;
}

protocol::ExecuteResult translate(engine::ExecuteResult result) {
   using From = engine::ExecuteResult::Kind;
   using To = protocol::ExecuteResult::Kind;
   const To kind = result.kind == From::Complete    ? To::Complete
                   : result.kind == From::Suspended ? To::Suspended
                                                    : To::Empty;
   return {kind, std::move(result.tag)};
}

protocol::Format formatOf(bool binary) {
   return binary ? protocol::Format::Binary : protocol::Format::Text;
}

/// The engine's sink in front of the protocol's. Lives as long as one statement runs.
class SinkAdapter : public engine::ResultSink, private engine::CopySource {
public:
   SinkAdapter(protocol::ResultSink& sink, std::vector<protocol::Format> requested)
      : sink_(sink), requested_(std::move(requested)) {}

   void begin(const std::vector<engine::ResultColumn>& columns) override {
      shape_.returnsRows = true;
      shape_.columns = translate(columns);
      shape_.formats = protocol::expandFormats(requested_, columns.size());
      sink_.begin(shape_);
   }
   void rows(const Batch& batch) override { sink_.rows(batch); }
   engine::CopySource& beginCopyIn(bool binary, uint16_t columns) override {
      source_ = &sink_.beginCopyIn({formatOf(binary), columns});
      return *this;
   }
   void beginCopyOut(bool binary, uint16_t columns) override { sink_.beginCopyOut({formatOf(binary), columns}); }
   void copyRows(std::string_view bytes, std::span<const uint32_t> ends) override { sink_.copyRows(bytes, ends); }

private:
   std::optional<std::string_view> read() override {
      DCHECK(source_ != nullptr); // beginCopyIn() sets it and returns this object
      return source_->read();
   }

   protocol::ResultSink& sink_;
   protocol::CopySource* source_ = nullptr;
   const std::vector<protocol::Format> requested_;
   protocol::ResultShape shape_;
};

/// Run a statement, or a portal's next rows, and count it.
template <typename Body>
protocol::ExecuteResult counted(StatementCounters& counters, Body&& body) {
   struct Count {
      StatementCounters& counters;
      const int64_t start = steadyNanos();
      bool isOver = true;
      ~Count() {
         counters.nanos.fetch_add(static_cast<uint64_t>(steadyNanos() - start), std::memory_order_relaxed);
         if (isOver) counters.statements.fetch_add(1, std::memory_order_relaxed);
      }
   } count{counters};
   protocol::ExecuteResult result = translate(body());
   count.isOver = result.kind == protocol::ExecuteResult::Kind::Complete;
   return result;
}

class ScriptAdapter : public protocol::Script {
public:
   ScriptAdapter(std::unique_ptr<engine::Script> script, StatementCounters& counters)
      : script_(std::move(script)), counters_(counters) {}

   bool next() override { return script_->next(); }
   protocol::ExecuteResult run(protocol::ResultSink& sink) override {
      SinkAdapter adapter(sink, {});
      return counted(counters_, [&] { return script_->run(adapter); });
   }

private:
   std::unique_ptr<engine::Script> script_;
   StatementCounters& counters_;
};

} // namespace

EngineBackend::EngineBackend(engine::Database& database, const engine::SessionOptions& options,
                             protocol::ClientVoice& voice, StatementCounters& counters)
   : voice_(voice), counters_(counters), session_(engine::Session::open(database, options, *this)) {
   codec_.setNames([this](Oid type, Oid object) { return session_->objectName(type, object); });
}

EngineBackend::~EngineBackend() = default;

std::vector<std::pair<std::string, std::string>> EngineBackend::reportedParameters() {
   return session_->reportedParameters();
}

std::vector<std::pair<std::string, std::string>> EngineBackend::changedParameters() {
   return session_->changedParameters();
}

const protocol::ValueEncoder& EngineBackend::valueEncoder() {
   codec_.setFormat(session_->format());
   return codec_;
}

protocol::TransactionStatus EngineBackend::transactionStatus() const {
   static_assert(static_cast<int>(engine::TransactionStatus::Idle) ==
                 static_cast<int>(protocol::TransactionStatus::Idle));
   static_assert(static_cast<int>(engine::TransactionStatus::InBlock) ==
                 static_cast<int>(protocol::TransactionStatus::InBlock));
   static_assert(static_cast<int>(engine::TransactionStatus::Failed) ==
                 static_cast<int>(protocol::TransactionStatus::Failed));
   return static_cast<protocol::TransactionStatus>(session_->transactionStatus());
}

std::unique_ptr<protocol::Script> EngineBackend::parseScript(std::string_view sql) {
   return std::make_unique<ScriptAdapter>(session_->parseScript(sql), counters_);
}

void EngineBackend::prepare(std::string_view name, std::string_view sql, std::span<const Oid> parameterTypes) {
   session_->prepare(name, sql, parameterTypes);
}

const protocol::StatementDescription& EngineBackend::describeStatement(std::string_view name) {
   const engine::StatementDescription& description = session_->describeStatement(name);
   statement_.parameterTypes = description.parameterTypes;
   statement_.result = {description.returnsRows, translate(description.columns), {}};
   return statement_;
}

void EngineBackend::bind(std::string_view portal, std::string_view statement,
                         std::span<const protocol::RawParameter> parameters,
                         std::span<const protocol::Format> resultFormats) {
   std::vector<engine::ParameterValue> values;
   values.reserve(parameters.size());
   for (const auto& parameter : parameters)
      values.push_back({parameter.isNull, parameter.format == protocol::Format::Binary, parameter.bytes});
   if (resultFormats.size() > 1) // a wrong count is refused before the portal exists
      protocol::expandFormats(resultFormats, session_->describeStatement(statement).columns.size());
   session_->bind(portal, statement, values);
   if (const auto known = portalFormats_.find(portal); known != portalFormats_.end()) portalFormats_.erase(known);
   if (!resultFormats.empty())
      portalFormats_.emplace(portal, std::vector<protocol::Format>(resultFormats.begin(), resultFormats.end()));
}

const protocol::ResultShape& EngineBackend::describePortal(std::string_view name) {
   const engine::StatementDescription& description = session_->describePortal(name);
   shape_ = {description.returnsRows, translate(description.columns), {}};
   const auto formats = portalFormats_.find(name);
   if (formats != portalFormats_.end())
      shape_.formats = protocol::expandFormats(formats->second, shape_.columns.size());
   return shape_;
}

protocol::ExecuteResult EngineBackend::execute(std::string_view portal, uint64_t maxRows, protocol::ResultSink& sink) {
   const auto formats = portalFormats_.find(portal);
   SinkAdapter adapter(sink, formats == portalFormats_.end() ? std::vector<protocol::Format>() : formats->second);
   return counted(counters_, [&] { return session_->execute(portal, maxRows, adapter); });
}

void EngineBackend::closePortal(std::string_view name) {
   session_->closePortal(name);
   if (const auto known = portalFormats_.find(name); known != portalFormats_.end()) portalFormats_.erase(known);
}

void EngineBackend::sync() {
   session_->sync();
   forgetPortals();
}

void EngineBackend::fail() noexcept {
   counters_.errors.fetch_add(1, std::memory_order_relaxed);
   session_->fail();
   forgetPortals();
}

void EngineBackend::forgetPortals() {
   if (session_->transactionStatus() != engine::TransactionStatus::InBlock) portalFormats_.clear();
}

void EngineBackend::cancel(protocol::CancelReason reason) noexcept {
   switch (reason) {
   case protocol::CancelReason::Request: session_->cancel(engine::CancelReason::Request); break;
   case protocol::CancelReason::ClientGone: session_->cancel(engine::CancelReason::ClientGone); break;
   case protocol::CancelReason::Shutdown: session_->cancel(engine::CancelReason::Shutdown); break;
   }
}

void EngineBackend::notice(const engine::Notice& notice) {
   // Both enumerations list PostgreSQL's severities in its order.
   static_assert(static_cast<int>(engine::Notice::Severity::Warning) ==
                 static_cast<int>(protocol::Notice::Severity::Warning));
   static_assert(static_cast<int>(engine::Notice::Severity::Notice) ==
                 static_cast<int>(protocol::Notice::Severity::Notice));
   voice_.notice({static_cast<protocol::Notice::Severity>(notice.severity), notice.state, notice.message, notice.detail,
                  notice.hint, ""});
}

std::string EngineFactory::passwordVerifier(const std::string& user) {
   return database_.passwordVerifier(user);
}

std::unique_ptr<protocol::Backend> EngineFactory::open(const protocol::StartupRequest& request,
                                                       const ClientInfo& client, protocol::ClientVoice& voice) {
   engine::SessionOptions options;
   options.user = request.user;
   options.database = request.database;
   options.settings = request.settings;
   options.processId = client.processId;
   options.clientAddress = client.address;
   return std::make_unique<EngineBackend>(database_, options, voice, counters_);
}

} // namespace ouzel::server
