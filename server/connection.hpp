#pragma once
#include <atomic>
#include <memory>
#include <optional>

#include "io/net/stream.hpp"
#include "protocol/session.hpp"
#include "server/session_factory.hpp"
#include "server/session_pool.hpp"
#include "server/session_registry.hpp"

namespace ouzel::server {

/// What all connections of a server share. Outlives them.
struct ConnectionContext {
   SessionFactory& factory;
   SessionRegistry& registry;
   const io::TlsContext* tls = nullptr; ///< null: TLS is not offered
   std::string mockSecret;
   const SessionPool* pool = nullptr;
};

/// One client: its socket, the bytes that came in, and its protocol session.
///
/// Threads: owned in turns. The event loop owns it while it waits for input (gather()); once there is a message a
/// session thread owns it and works off all there are (run()). Both happen one after the other, never at once.
/// hangUp(), requestShutdown(), forceClose() and the is...() flags may be called by the event loop at any time.
class Connection : private protocol::Transport, private protocol::Doorkeeper {
public:
   /// What has to happen next with the connection.
   enum class Next : uint8_t { WaitInput, WaitOutput, Run, Close };

   Connection(ConnectionContext& context, io::FileDescriptor socket, io::PeerAddress peer, protocol::BackendKey key);
   ~Connection() override;

   /// Event loop: read what has come. Answers cancel and encryption requests itself, so that a cancel gets through when
   /// all session threads are busy.
   Next gather();
   /// Session thread: process complete messages until there are none. Never throws.
   Next run();
   /// Session thread: end the session and roll back what it left open.
   void close();

   /// The peer closed its side while a statement runs: cancel it, unless more input waits; then the last one of that.
   void hangUp();
   /// Say 57P01 at the next chance; the statement itself is cancelled through the registry.
   void requestShutdown() { shutdownRequested_ = true; }
   /// The time until which the client may stay silent, once run() has returned; INT64_MAX: no limit.
   int64_t idleDeadline() const { return idleDeadline_.load(std::memory_order_relaxed); }
   /// Event loop, while it owns it: the deadline has passed. The next run() says so and ends the session.
   void endIdle();
   /// Break the socket: whoever waits on it finds it closed.
   void forceClose();

   int handle() const { return stream_->handle(); }
   const io::PeerAddress& peer() const { return peer_; }
   bool isAuthenticated() const { return isAuthenticated_.load(std::memory_order_relaxed); }
   /// Inside a transaction block: others may be waiting for it. Asked by the owner only.
   bool isInTransaction() const;

   /// True from when it was handed to the session pool until it waits for input again.
   std::atomic<bool> isRunning{false};

private:
   void send(std::string_view bytes) override;
   protocol::Frame receive(protocol::Phase phase) override;

   protocol::AuthenticationRule ruleFor(const protocol::StartupRequest& request) override;
   void randomBytes(std::span<unsigned char> out) override;
   void cancelRequested(const protocol::BackendKey& key) override;
   std::unique_ptr<protocol::Backend> open(const protocol::StartupRequest& request,
                                           protocol::ClientVoice& voice) override;

   io::StreamStatus readSome();
   Next gatherReady();
   void startTls();
   /// Session thread, before each frame: the poller tells of a hang-up once only, maybe long before its input ends.
   void lookForHangUp();
   void cancelIfGone();

   // PROPERTIES
   ConnectionContext& context_;
   const io::PeerAddress peer_;
   const protocol::BackendKey key_;
   // STATE
   std::unique_ptr<io::Stream> stream_;
   protocol::FrameReader reader_;
   std::unique_ptr<protocol::Session> session_;
   std::optional<protocol::Frame> pending_; // found by gather(), not yet handled
   std::optional<SqlError> pendingError_;   // the stream is out of step
   bool handshaking_ = false;               // of TLS
   bool inputEnded_ = false;
   std::atomic<int64_t> idleDeadline_{INT64_MAX};
   bool mayWait_ = false; // on a session thread; the event loop never blocks on a client
   std::atomic<bool> isHungUp_{false}, hasMoreInput_{false};
   std::atomic<bool> isAuthenticated_{false}, shutdownRequested_{false}, broken_{false};
};

} // namespace ouzel::server
