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

} // namespace

Connection::Connection(ConnectionContext& context, io::FileDescriptor socket, io::PeerAddress peer,
                       protocol::BackendKey key)
   : context_(context), peer_(std::move(peer)), key_(key), stream_(io::makePlainStream(std::move(socket))),
     memory_(context.factory.ledger()) {
   log_.processId = key.processId;
   log_.host = peer_.host;
   log_.port = std::to_string(peer_.port);
   log_.startMicros = wallClockMicros();
   openedNanos_ = steadyNanos();
   protocol::Session::Options options;
   options.offersTls = context.tls != nullptr;
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
   logLine(LogLevel::Log, fmt::format("connection received: host={} port={}", peer_.host, peer_.port));
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
   logLine(LogLevel::Log,
           fmt::format("disconnection: session time: {}:{:02}:{:02}.{:03} user={} database={} host={} port={}",
                       millis / 3'600'000, millis / 60'000 % 60, millis / 1000 % 60, millis % 1000, log_.user,
                       log_.database, peer_.host, peer_.port));
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
            if (after != protocol::Session::Next::Continue) break;
            continue;
         }
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
   } else {
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

void Connection::endIdle() {
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

protocol::AuthenticationRule Connection::ruleOfTransport(const protocol::StartupRequest& request) const {
   using Kind = ServerOptions::ClientCertificates;
   protocol::AuthenticationRule rule{protocol::AuthenticationMethod::Trust, ""};
   const auto reject = [&](std::string refusal, std::string hint, std::string doom) {
      rule.method = protocol::AuthenticationMethod::Reject;
      rule.refusal = std::move(refusal);
      rule.hint = std::move(hint);
      rule.doom = std::move(doom);
   };
   if (context_.requiresTls && !stream_->isEncrypted()) {
      reject(fmt::format("connection of user \"{}\" to database \"{}\" is not encrypted, and this server requires SSL",
                         request.user, request.database),
             "Connect with sslmode=require, or a stricter mode.", "");
   } else if (context_.clientCertificates != Kind::Off) {
      const std::optional<std::string> name = stream_->peerName();
      if (!name)
         reject("connection requires a valid client certificate", "", "");
      else if (context_.clientCertificates == Kind::VerifyFull && *name != request.user)
         reject(fmt::format("certificate authentication failed for user \"{}\"", request.user), "",
                fmt::format("The certificate's common name is \"{}\".", *name));
   }
   return rule;
}

protocol::AuthenticationRule Connection::ruleFor(const protocol::StartupRequest& request) {
   protocol::AuthenticationRule rule = ruleOfTransport(request);
   if (rule.method == protocol::AuthenticationMethod::Reject) return rule;
   if (peer_.isLoopback && context_.trustsLoopback) return rule;
   rule.method = protocol::AuthenticationMethod::ScramSha256;
   rule.channelBinding = stream_->channelBinding();
   try {
      rule.verifier = context_.factory.passwordVerifier(request.user);
      if (rule.verifier.empty()) {
         rule.doom = fmt::format("User \"{}\" has no password assigned.", request.user);
      } else if (context_.factory.isPasswordExpired(request.user)) {
         rule.doom = fmt::format("User \"{}\" has an expired password.", request.user);
         rule.verifier.clear();
      }
   } catch (const SqlError&) {
      // The exchange runs to its end and fails there, as with a wrong password.
      rule.doom = fmt::format("Role \"{}\" does not exist.", request.user);
   }
   return rule;
}

void Connection::randomBytes(std::span<unsigned char> out) {
   fillRandom(out.data(), out.size());
}

void Connection::cancelRequested(const protocol::BackendKey& key) {
   if (!context_.registry.cancel(key))
      logLine(LogLevel::Log, fmt::format("PID {} in cancel request did not match any process", key.processId));
}

std::unique_ptr<Backend> Connection::open(const protocol::StartupRequest& request, NoticeSink& notices) {
   context_.registry.reserve(context_.factory.isSuperuser(request.user));
   if (logsConnections()) logAuthorized(request);
   log_.command = "startup";
   try {
      const io::PeerAddress own = io::localAddress(stream_->handle());
      auto backend = context_.factory.open(
          request, {{peer_.host, own.host, peer_.port, own.port}, key_.processId, &log_}, notices);
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
