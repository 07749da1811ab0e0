#pragma once
#include <atomic>
#include <memory>
#include <optional>

#include "common/log/session.hpp"
#include "io/net/stream.hpp"
#include "protocol/session.hpp"
#include "server/access_rules.hpp"
#include "server/failed_logins.hpp"
#include "server/options.hpp"
#include "server/session_factory.hpp"
#include "server/session_pool.hpp"
#include "server/session_registry.hpp"

namespace ouzel::server {

/// Objects that all connections of a server share. Outlives the connections.
struct ConnectionContext {
   SessionFactory& factory;
   SessionRegistry& registry;
   const io::TlsContext* tls = nullptr; ///< null: TLS is not offered
   std::string mockSecret;
   const SessionPool* pool = nullptr;
   ServerOptions::ClientCertificates clientCertificates = ServerOptions::ClientCertificates::Off;
   bool requiresTls = false, trustsLoopback = true;
   const AccessRules* accessRules = nullptr; ///< null: there are none
   FailedLogins* failedLogins = nullptr;     ///< null: answers are not kept back
};

/// One client: its socket, its unread input, and its protocol session. Shared by the server's table, the event loop and
/// a session thread.
///
///    event loop: gather() --Run--> session pool: run() --WaitInput, WaitOutput--> event loop
///         either --Close--> close()          --WaitDeadline--> event loop: endIdle() --> run()
///
/// Threads: one thread owns the connection at a time. The event loop owns it while it waits for input (gather()). Once
/// a message is complete, a session thread owns it and handles all messages there are (run()). The event loop may call
/// hangUp(), requestShutdown(), requestDelivery(), forceClose() and the is...() flags at any time.
class Connection : private protocol::Transport, private protocol::Doorkeeper {
public:
   /// The next step for the connection.
   enum class Next : uint8_t {
      WaitInput,
      WaitOutput,
      WaitDeadline, ///< whatever the client does: the answer to a wrong password is kept back
      Run,
      Close
   };

   Connection(ConnectionContext& context, io::FileDescriptor socket, io::PeerAddress peer, protocol::BackendKey key);
   ~Connection() override;

   /// Event loop: read the input that has arrived. Answers cancel and encryption requests itself, so that a cancel gets
   /// through while all session threads are busy.
   Next gather();
   /// Session thread: process complete messages until there are none. Never throws.
   Next run();
   /// End the session; its open transaction is rolled back. Called by the owner.
   void close();

   /// Event loop: the peer has closed its side while a statement runs. Cancels the statement if no input is left;
   /// otherwise the statement of the last message is cancelled.
   void hangUp();
   /// Ask the session thread to send 57P01 and end the session; the registry cancels the running statement.
   void requestShutdown() { shutdownRequested_ = true; }
   bool isShutdownRequested() const { return shutdownRequested_; }
   /// Ask the session thread to tell the client of messages of NOTIFY.
   void requestDelivery() { deliveryRequested_ = true; }
   bool isDeliveryRequested() const { return deliveryRequested_; }
   int32_t processId() const { return key_.processId; }
   /// Deadline (steadyNanos()) for the client's next message, valid once run() has returned; INT64_MAX: none.
   int64_t idleDeadline() const { return idleDeadline_.load(std::memory_order_relaxed); }
   /// Event loop, while it owns the connection: the deadline has passed. The next run() sends the error, which after
   /// WaitDeadline is that of the wrong password, and ends the session.
   void endIdle();
   /// Shut the socket down: a thread that waits for the client finds the connection closed.
   void forceClose();

   int handle() const { return stream_->handle(); }
   const io::PeerAddress& peer() const { return peer_; }
   bool isAuthenticated() const { return isAuthenticated_.load(std::memory_order_relaxed); }
   /// True inside a transaction block, which may hold locks that other sessions wait for. For the owner only.
   bool isInTransaction() const;

   /// True from the hand-over to the session pool until the connection waits for input again.
   std::atomic<bool> isRunning{false};

private:
   void send(std::string_view bytes) override;
   protocol::Frame receive(protocol::Phase phase) override;

   protocol::AuthenticationRule ruleFor(const protocol::StartupRequest& request) override;
   void randomBytes(std::span<unsigned char> out) override;
   void cancelRequested(const protocol::BackendKey& key) override;
   std::unique_ptr<Backend> open(const protocol::StartupRequest& request, NoticeSink& notices) override;

   Endpoints endpoints() const;
   /// log_connections and log_disconnections.
   void logReceived();
   void logAuthorized(const protocol::StartupRequest& request) const;
   void logEnd();

   /// A password was wrong. Returns what to wait for; Run: the answer is not kept back.
   Next keepBackRefusal();
   io::StreamStatus readSome();
   Next gatherReady();
   void startTls();
   /// Session thread, before each frame: cancel the session if the peer is gone. The poller reports a hang-up only
   /// once, perhaps long before the input ends.
   void lookForHangUp();
   void cancelIfGone();

   // PROPERTIES
   ConnectionContext& context_;
   const io::PeerAddress peer_;
   const protocol::BackendKey key_;
   // STATE
   LogSession log_; // used by the owner
   bool isReceptionLogged_ = false;
   int64_t openedNanos_ = 0; // steadyNanos() at the accept
   std::unique_ptr<io::Stream> stream_;
   Reservation memory_; ///< of input that waits for the rest of its message
   protocol::FrameReader reader_{memory_};
   std::unique_ptr<protocol::Session> session_;
   std::optional<protocol::Frame> pending_; // complete message that gather() found
   std::optional<SqlError> pendingError_;   // ends the session at the next run()
   bool handshaking_ = false;               // TLS handshake is not complete
   bool inputEnded_ = false;
   bool isRefused_ = false; // `pendingError_` is the answer to a wrong password
   std::atomic<int64_t> idleDeadline_{INT64_MAX};
   bool mayWait_ = false; // true on a session thread; the event loop never blocks on a client
   std::atomic<bool> isHungUp_{false}, hasMoreInput_{false};
   std::atomic<bool> isAuthenticated_{false}, shutdownRequested_{false}, deliveryRequested_{false}, broken_{false};
};

} // namespace ouzel::server
