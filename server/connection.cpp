#include "server/connection.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/socket.h>

#include "common/audit/audit.hpp"
#include "common/env/clock.hpp"
#include "common/env/random.hpp"
#include "common/error/check.hpp"
#include "common/log/crash_report.hpp"
#include "common/log/log.hpp"
#include "common/thread/wait_scope.hpp"
#include "protocol/startup.hpp"
#include "server/authentication.hpp"

namespace ouzel::server {

namespace {

constexpr size_t readBytesMin = size_t{8} << 10, readBytesMax = size_t{1} << 20;
constexpr int lingerMs = 2;                           // wait for a busy client's next message: saves two hand-overs
constexpr int waitSliceMs = 250;                      // a blocked session looks for a shutdown this often
constexpr int64_t shutdownGraceNanos = 5'000'000'000; // for a client that does not read its last answer

SqlError shutdownError() {
   return SqlError(sqlstate::adminShutdown, "terminating connection due to administrator command");
}

/// True for startup packets that the event loop answers itself.
bool isRequestCode(std::string_view payload) {
   return payload.size() >= 4 && protocol::loadInt16(payload.data()) == 1234;
}

/// As the lines of log_connections show them. Clients of a Unix-domain socket have no port.
std::string hostAndPort(const io::PeerAddress& peer) {
   return fmt::format("host={}{}", peer.host, peer.isLocal ? "" : fmt::format(" port={}", peer.port));
}

} // namespace

Connection::Connection(ConnectionContext& context, io::FileDescriptor socket, io::PeerAddress peer,
                       protocol::BackendKey key)
   : context_(context), peer_(std::move(peer)), key_(key), stream_(io::makePlainStream(std::move(socket))),
     memory_(context.factory.ledger()) {
   log_.processId = key.processId;
   log_.host = peer_.host;
   if (!peer_.isLocal) log_.port = std::to_string(peer_.port);
   log_.startMicros = wallClockMicros();
   openedNanos_ = steadyNanos();
   protocol::Session::Options options;
   options.offersTls = context.tls != nullptr && !peer_.isLocal;
   options.key = key;
   options.mockSecret = context.mockSecret;
   options.log = &log_;
   session_.reset(
       new protocol::Session(*this, *this, std::move(options))); // make_unique cannot convert to the private bases
}

Connection::~Connection() {
   close();
}

void Connection::close() {
   if (!session_) return;
   const LogScope scope(log_);
   const bool wasOpen = session_->backend() != nullptr;
   context_.registry.remove(key_.processId); // before the Backend is destroyed
   session_.reset();
   if (wasOpen && log_.logsEnd) logEnd();
   if (wasOpen && isAuditOn())
      audit({.reason = "session",
             .className = "connection",
             .command = "DISCONNECT",
             .session = &log_,
             .durationMicros = (steadyNanos() - openedNanos_) / 1000});
}

void Connection::logReceived() {
   if (std::exchange(isReceptionLogged_, true) || !logsConnections()) return;
   logLine(LogLevel::Log, "connection received: " + hostAndPort(peer_));
}

void Connection::logAuthorized(const protocol::StartupRequest& request) const {
   std::string message = fmt::format("connection authorized: user={} database={}", request.user, request.database);
   for (const auto& [name, value] : request.settings)
      if (name == "application_name" && !value.empty()) message += " application_name=" + value;
   if (stream_->isEncrypted()) message += fmt::format(" SSL enabled ({})", stream_->encryption());
   logLine(LogLevel::Log, message);
}

void Connection::logEnd() {
   const int64_t millis = (steadyNanos() - openedNanos_) / 1'000'000;
   logLine(LogLevel::Log, fmt::format("disconnection: session time: {}:{:02}:{:02}.{:03} user={} database={} {}",
                                      millis / 3'600'000, millis / 60'000 % 60, millis / 1000 % 60, millis % 1000,
                                      log_.user, log_.database, hostAndPort(peer_)));
}

bool Connection::isInTransaction() const {
   const Backend* backend = session_ ? session_->backend() : nullptr;
   return backend != nullptr && backend->transactionStatus() != TransactionStatus::Idle;
}

io::StreamStatus Connection::readSome() {
   const size_t missing = reader_.missing(session_->phase());
   const size_t wanted = std::clamp(missing, readBytesMin, readBytesMax);
   size_t moved = 0;
   const io::StreamStatus status = stream_->read(reader_.prepare(wanted), wanted, moved);
   DCHECK(moved <= wanted);
   if (status == io::StreamStatus::Done) reader_.commit(moved);
   if (status == io::StreamStatus::Closed) inputEnded_ = true;
   return status;
}

Connection::Next Connection::gather() {
   if (isRefused_) return Next::WaitDeadline; // a hang-up does not bring the answer forward
   const LogScope scope(log_);
   try {
      if (handshaking_) {
         switch (stream_->handshake()) {
         case io::StreamStatus::Done: handshaking_ = false; break;
         case io::StreamStatus::WouldRead: return Next::WaitInput;
         case io::StreamStatus::WouldWrite: return Next::WaitOutput;
         case io::StreamStatus::Closed: return Next::Close;
         }
      }
      return gatherReady();
   } catch (const SqlError& error) {
      pendingError_ = error;
      return Next::Run;
   }
}

Connection::Next Connection::gatherReady() {
   while (true) {
      while (auto frame = reader_.next(session_->phase())) {
         if (frame->type != 0 || !isRequestCode(frame->payload)) {
            pending_ = frame;
            hasMoreInput_ = reader_.buffered() != 0;
            return Next::Run;
         }
         switch (session_->handle(*frame)) {
         case protocol::Session::Next::Continue: break;
         case protocol::Session::Next::StartTls:
            startTls();
            return gather(); // the client's first message may have arrived with the end of the handshake
         case protocol::Session::Next::Refuse: // of passwords, which session threads check
         case protocol::Session::Next::Close: return Next::Close;
         }
      }
      switch (readSome()) {
      case io::StreamStatus::Done: break;
      case io::StreamStatus::WouldRead: return Next::WaitInput;
      case io::StreamStatus::WouldWrite: return Next::WaitOutput;
      case io::StreamStatus::Closed: return Next::Run; // a session thread rolls back an open transaction
      }
   }
}

void Connection::startTls() {
   // Plain bytes behind the request may come from an attacker in between (CVE-2021-23214).
   if (reader_.buffered() != 0)
      throw SqlError(sqlstate::protocolViolation, "received unencrypted data after SSL request");
   stream_ = context_.tls->accept(stream_->release());
   handshaking_ = true;
}

Connection::Next Connection::run() {
   DCHECK(session_ != nullptr);
   DCHECK(!mayWait_); // one thread at a time
   prepareThreadForCrash();
   const LogScope scope(log_);
   logReceived();
   mayWait_ = true;
   Next next = Next::Close;
   bool lingered = false; // waited lingerMs, and no input came
   try {
      while (true) {
         if (pendingError_) {
            session_->end(*pendingError_);
            break;
         }
         if (shutdownRequested_) {
            session_->end(shutdownError());
            break;
         }
         auto frame = std::exchange(pending_, std::nullopt);
         if (!frame) frame = reader_.next(session_->phase());
         if (frame) {
            lookForHangUp();
            const auto after = session_->handle(*frame);
            if (session_->phase() == protocol::Phase::Ready) isAuthenticated_.store(true, std::memory_order_relaxed);
            if (after == protocol::Session::Next::Continue) continue;
            if (after != protocol::Session::Next::Refuse) break;
            next = keepBackRefusal();
            if (next == Next::WaitDeadline) break;
            next = Next::Close;
            continue;
         }
         if (deliveryRequested_.exchange(false)) session_->deliver();
         if (inputEnded_) {
            if (isInTransaction())
               logLine(LogLevel::Log, "unexpected EOF on client connection with an open transaction");
            break;
         }
         const io::StreamStatus status = readSome();
         if (status == io::StreamStatus::Done || status == io::StreamStatus::Closed) continue;
         if (status == io::StreamStatus::WouldRead && !lingered && !context_.pool->hasWaiting()) {
            lingered = !io::waitReadable(stream_->handle(), lingerMs);
            continue;
         }
         next = status == io::StreamStatus::WouldRead ? Next::WaitInput : Next::WaitOutput;
         break;
      }
   } catch (const SqlError& error) { // invalid message boundaries
      session_->end(error);
   } catch (const std::exception& error) {
      session_->end(SqlError(sqlstate::internalError, error.what()));
   }
   mayWait_ = false;
   if (next == Next::Close) {
      close();
   } else if (next != Next::WaitDeadline) {
      const int64_t millis = session_->isIdle() ? session_->backend()->idleMillisMax() : 0;
      idleDeadline_ = millis > 0 ? steadyNanos() + millis * 1'000'000 : INT64_MAX;
      reader_.releaseIdleMemory();
      session_->releaseIdleMemory();
   }
   return next;
}

void Connection::hangUp() {
   isHungUp_ = true;
   cancelIfGone();
}

void Connection::lookForHangUp() {
   // run() stores hasMoreInput_ and then loads isHungUp_; hangUp() stores isHungUp_ and then loads hasMoreInput_. So at
   // least one of them sees a hang-up that comes while a frame is taken.
   hasMoreInput_ = reader_.buffered() != 0;
   if (isHungUp_) cancelIfGone();
}

void Connection::cancelIfGone() {
   // Input sent before the hang-up is still handled: Terminate may follow the last statement of a script.
   if (!hasMoreInput_ && io::peerIsGone(stream_->handle()))
      context_.registry.cancel(key_.processId, CancelReason::ClientGone);
}

Connection::Next Connection::keepBackRefusal() {
   pendingError_ = session_->refusal();
   const int64_t now = steadyNanos();
   const int64_t nanos =
       context_.failedLogins ? context_.failedLogins->failed(peer_.host, session_->request().user, now) : 0;
   if (nanos == 0) return Next::Run;
   isRefused_ = true;
   idleDeadline_ = now + nanos;
   return Next::WaitDeadline;
}

void Connection::endIdle() {
   if (isRefused_) return;
   if (isInTransaction())
      pendingError_.emplace(sqlstate::idleInTransactionSessionTimeout,
                            "terminating connection due to idle-in-transaction timeout");
   else
      pendingError_.emplace(sqlstate::idleSessionTimeout, "terminating connection due to idle-session timeout");
}

void Connection::forceClose() {
   broken_ = true;
   ::shutdown(stream_->handle(), SHUT_RDWR);
}

void Connection::send(std::string_view bytes) {
   int64_t giveUpAt = 0;
   std::optional<WaitScope> waiting; // from the first wait until all is sent
   while (!bytes.empty()) {
      size_t moved = 0;
      const io::StreamStatus status = stream_->write(bytes.data(), bytes.size(), moved);
      if (status == io::StreamStatus::Done) {
         bytes.remove_prefix(moved);
         continue;
      }
      if (status == io::StreamStatus::Closed || !mayWait_ || broken_) throw protocol::ConnectionLost();
      if (shutdownRequested_) {
         const int64_t now = steadyNanos();
         if (giveUpAt == 0) giveUpAt = now + shutdownGraceNanos;
         if (now > giveUpAt) throw protocol::ConnectionLost();
      }
      if (!waiting) waiting.emplace();
      if (status == io::StreamStatus::WouldWrite)
         io::waitWritable(stream_->handle(), waitSliceMs);
      else
         io::waitReadable(stream_->handle(), waitSliceMs);
   }
}

protocol::Frame Connection::receive(protocol::Phase phase) {
   std::optional<WaitScope> waiting; // from the first wait until the message is complete
   while (true) {
      if (const auto frame = reader_.next(phase)) return *frame;
      if (shutdownRequested_) throw shutdownError();
      const io::StreamStatus status = readSome();
      if (!waiting && (status == io::StreamStatus::WouldRead || status == io::StreamStatus::WouldWrite))
         waiting.emplace();
      switch (status) {
      case io::StreamStatus::Done: break;
      case io::StreamStatus::WouldRead: io::waitReadable(stream_->handle(), waitSliceMs); break;
      case io::StreamStatus::WouldWrite: io::waitWritable(stream_->handle(), waitSliceMs); break;
      case io::StreamStatus::Closed: throw protocol::ConnectionLost();
      }
   }
}

protocol::AuthenticationRule Connection::ruleFor(const protocol::StartupRequest& request) {
   return authenticationRule(context_, peer_, *stream_, request);
}

void Connection::randomBytes(std::span<unsigned char> out) {
   fillRandom(out.data(), out.size());
}

void Connection::cancelRequested(const protocol::BackendKey& key) {
   if (!context_.registry.cancel(key))
      logLine(LogLevel::Log, fmt::format("PID {} in cancel request did not match any process", key.processId));
}

Endpoints Connection::endpoints() const {
   if (peer_.isLocal) return {};
   const io::PeerAddress own = io::localAddress(stream_->handle());
   return {peer_.host, own.host, peer_.port, own.port};
}

std::unique_ptr<Backend> Connection::open(const protocol::StartupRequest& request, NoticeSink& notices) {
   if (context_.failedLogins && session_->asksForPassword()) context_.failedLogins->succeeded(peer_.host, request.user);
   context_.registry.reserve(context_.factory.isSuperuser(request.user));
   if (logsConnections()) logAuthorized(request);
   log_.command = "startup";
   try {
      auto backend = context_.factory.open(request, {endpoints(), key_.processId, &log_}, notices);
      // Before the client may do anything.
      auditOrFail({.reason = "session", .className = "connection", .command = "LOGIN", .session = &log_});
      context_.registry.add(key_, *backend);
      return backend;
   } catch (...) {
      context_.registry.unreserve();
      throw;
   }
}

} // namespace ouzel::server
