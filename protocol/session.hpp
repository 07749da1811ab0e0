#pragma once
#include <memory>
#include <optional>
#include <string>

#include "common/log/session.hpp"
#include "protocol/doorkeeper.hpp"
#include "protocol/error_response.hpp"
#include "protocol/frame.hpp"
#include "protocol/message_reader.hpp"
#include "protocol/result_writer.hpp"
#include "protocol/scram.hpp"
#include "protocol/startup.hpp"
#include "protocol/transport.hpp"

namespace ouzel::protocol {

/// The server's side of one connection, from the first packet to the last: decides what each message means in the
/// present phase and answers it.
///
///   Startup ──StartupPacket(trust)──────────────────────────────► Ready ──Terminate──► Closed
///      │  ▲ SSLRequest, GSSENCRequest answered                     ▲ │
///      │  └──┘                                                     │ └─ anything FATAL ─► Closed
///      └─StartupPacket(scram)─► Authentication ─SASLInitial─ SASLResponse
///
/// Rules of Ready, after PostgresMain:
/// 1. An error in an extended-protocol message makes everything up to the next Sync be ignored (drainToSync_); in any
///    other message ReadyForQuery follows the error at once.
/// 2. ReadyForQuery is sent after Query, FunctionCall and Sync and tells the transaction status of that moment.
/// 3. Output is handed to the transport at ReadyForQuery, Flush, errors, before COPY input is awaited, and when there
///    is much of it.
/// 4. CopyData, CopyDone and CopyFail outside COPY were sent for a COPY that has failed and are ignored.
///
/// Owns the Backend. Owns no socket and starts no thread: handle() runs on whichever thread the server gives it, one
/// message at a time.
class Session : private NoticeSink {
public:
   struct Options {
      bool offersTls = false;
      BackendKey key;
      std::string mockSecret;    ///< salts for users that do not exist
      LogSession* log = nullptr; ///< of the connection; null: errors are not logged
   };
   /// The caller's next step after a message.
   enum class Next : uint8_t {
      Continue,
      StartTls, ///< 'S' was sent: start TLS; bytes buffered behind the request are an error
      Refuse,   ///< a password was wrong: end() the session with refusal(), at a time of the caller's choice
      Close,
   };

   Session(Transport& transport, Doorkeeper& doorkeeper, Options options);
   ~Session() override;

   Phase phase() const { return phase_; }
   /// Process one message. Never throws; when the client is lost the answer is Close.
   Next handle(const Frame& frame);
   /// End the session with a FATAL error: FrameReader has thrown, or the server ends the session on its own.
   Next end(const SqlError& fatal);

   /// After Next::Refuse.
   const SqlError& refusal() const { return *refusal_; }

   /// Null before authentication has succeeded. Any thread may call cancel() on it while the session lives.
   Backend* backend() const { return backend_.get(); }
   /// True when ReadyForQuery was the last message: the client has to send next.
   bool isIdle() const { return isIdle_; }
   /// Sends the client the messages of NOTIFY that have come while the session was idle.
   void deliver();
   const StartupRequest& request() const { return request_; }
   bool asksForPassword() const {
      return rule_.method == AuthenticationMethod::ScramSha256 || rule_.method == AuthenticationMethod::Md5;
   }
   /// Free buffers while the session is idle.
   void releaseIdleMemory();

private:
   void notice(const Notice& notice) override;

   // session_startup.cpp
   Next handleFirstPacket(std::string_view payload);
   Next answerEncryptionRequest(bool canStart);
   void startAuthentication(StartupPacket packet);
   void chooseMechanism(std::string_view mechanism);
   void handlePassword(std::string_view payload);
   void askForMd5();
   void handleMd5Answer(std::string_view payload);
   /// The password was right.
   void accepted(std::string_view method);
   void authenticated();

   // session.cpp: simple protocol and dispatch
   void handleReady(const Frame& frame);
   void handleQuery(std::string_view payload);
   void readyForQuery();
   void writeNotifications();
   void reportError(const SqlError& error, bool isExtended);
   void logError(const SqlError& error, ErrorSeverity severity, std::string_view logDetail = {}) const;
   /// Nobody has logged in: a record of the audit.
   void auditRefusal(const SqlError& error) const;
   void flush();
   /// As the backend converts texts now; without one, it is UTF-8.
   ClientText clientText() const { return ClientText(backend_ ? backend_->clientEncoding() : CharacterEncoding::Utf8); }
   std::string readName(MessageReader& reader) const;

   // session_extended.cpp
   void handleParse(MessageReader reader);
   void handleBind(MessageReader reader);
   void handleDescribe(MessageReader reader);
   void handleExecute(MessageReader reader);
   void handleClose(MessageReader reader);
   void handleSync(MessageReader reader);
   void handleFunctionCall(MessageReader reader);

   // PROPERTIES
   Transport& transport_;
   Doorkeeper& doorkeeper_;
   const Options options_;
   // STATE
   Phase phase_ = Phase::Startup;
   bool tlsAsked_ = false, gssAsked_ = false;
   bool drainToSync_ = false;
   bool isIdle_ = false;
   StartupRequest request_;
   AuthenticationRule rule_;
   std::unique_ptr<ScramExchange> scram_; ///< once the client has chosen a mechanism
   enum class Sasl : uint8_t { AwaitMechanism, AwaitClientFirst, AwaitClientFinal } sasl_ = Sasl::AwaitMechanism;
   std::string md5Answer_;     ///< what the client has to send
   std::string wrongPassword_; ///< what the log says of a password that fails, and clients do not learn
   std::string logDetail_;     ///< the same once it has failed
   std::optional<SqlError> refusal_;
   std::string out_;
   std::string query_; ///< the text of the Query message at hand
   std::unique_ptr<Backend> backend_;
   ResultWriter results_;
};

} // namespace ouzel::protocol
