#include "server/server.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "common/env/clock.hpp"
#include "common/env/random.hpp"
#include "common/log/log.hpp"
#include "server/places.hpp"

namespace ouzel::server {

namespace {

constexpr uint64_t listenerTag = uint64_t{1} << 63;
constexpr int64_t second = 1'000'000'000;
constexpr int64_t authenticationTimeoutNanos = 60 * second;
constexpr uint32_t spareConnections = 64; // above max_connections: for cancel requests and refused clients
constexpr int tickMs = 1000;
constexpr auto shutdownPatience = std::chrono::seconds(20), forcePatience = std::chrono::seconds(10);

template <typename T>
T randomValue() {
   T value{};
   fillRandom(&value, sizeof value);
   return value;
}

std::string randomSecret() {
   std::string secret(32, '\0');
   fillRandom(secret.data(), secret.size());
   return secret;
}

void requirePasswordBeyondLoopback(const ServerOptions& options, SessionFactory& factory) {
   if (needsPassword(options) && factory.passwordVerifier("postgres").empty()) throwNoPassword(options);
}

void logTlsWarnings(const io::TlsContext& tls) {
   for (const std::string& warning : tls.warnings())
      logRecord({.level = LogLevel::Warning,
                 .message = warning,
                 .hint = "Clients that verify it refuse to connect. Put a new certificate in its place and reload."});
}

} // namespace

Server::Server(const ServerOptions& options, SessionFactory& factory)
   : options_(options), accessRules_(options), failedLogins_(options.authenticationDelayMillis),
     registry_(options.connectionsMax, options.reservedConnections), context_{factory, registry_, nullptr,
                                                                              randomSecret(), &pool_},
     pool_(options.sessionThreadsMax) {
   context_.clientCertificates = options.clientCertificates;
   context_.requiresTls = options.requiresTls;
   context_.trustsLoopback = options.trustsLoopback;
   context_.accessRules = &accessRules_;
   context_.failedLogins = &failedLogins_;
   requirePasswordBeyondLoopback(options, factory);
   if (!options.tlsCertificateFile.empty()) {
      tls_ = std::make_unique<io::TlsContext>(tlsFiles(options));
      context_.tls = tls_.get();
      logTlsWarnings(*tls_);
   }
   if (const uint64_t handles = io::raiseHandleLimit(); handles < options.connectionsMax + spareConnections + 64)
      logRecord({.level = LogLevel::Warning,
                 .message = fmt::format("only {} file handles are allowed; fewer than max_connections ({}) fit",
                                        handles, options.connectionsMax),
                 .hint = "Raise `ulimit -n` (LimitNOFILE of a service), or lower max_connections."});
   listeners_ = io::listenTcp(options.listen, options.port);
   if (!options.socketDirectory.empty()) {
      const uint16_t port = listeners_.front().port;
      socketPath_.emplace(options.socketDirectory, port);
      listeners_.push_back(io::listenUnix(*socketPath_, port));
   }
   factory.setSessionControl(this);
}

void Server::reload(const ServerOptions& options) {
   reloadTls(options);
   accessRules_.reload(options);
}

void Server::reloadTls(const ServerOptions& options) {
   if (!tls_ || options.tlsCertificateFile.empty()) return;
   try {
      tls_->reload(tlsFiles(options));
      logTlsWarnings(*tls_);
   } catch (const SqlError& error) {
      logRecord({.level = LogLevel::Error,
                 .message = std::string(error.what()) + "; the old certificate stays in use",
                 .state = error.state().text(),
                 .detail = error.detailText(),
                 .hint = error.hintText()});
   }
}

Server::~Server() {
   shutdown();
   context_.factory.setSessionControl(nullptr);
}

void Server::start() {
   for (size_t i = 0; i < listeners_.size(); ++i)
      poller_.add(listeners_[i].socket.get(), listenerTag | i, io::Poller::Interest::Input);
   loopThread_ = std::thread([this] { loop(); });
}

uint32_t Server::connections() const {
   MutexLock lock(mutex_);
   return static_cast<uint32_t>(connections_.size());
}

Server::ConnectionPointer Server::find(uint64_t id) const {
   MutexLock lock(mutex_);
   const auto found = connections_.find(id);
   return found == connections_.end() ? nullptr : found->second.connection;
}

void Server::remove(uint64_t id) {
   MutexLock lock(mutex_);
   connections_.erase(id);
   if (connections_.empty()) allGone_.notify_all();
}

void Server::loop() {
   while (!stopped_) {
      for (const io::Poller::Event& event : poller_.wait(waitMs())) {
         if ((event.tag & listenerTag) != 0)
            acceptAll(event.tag & ~listenerTag);
         else
            onEvent(event.tag);
      }
      if (stopping_) {
         endAll();
      } else {
         if (hasRequests_.exchange(false)) runRequested();
         if (starting_ > 0) dropSlowStarters();
         endIdle();
         if (acceptPausedUntil_ != 0 && acceptPausedUntil_ <= steadyNanos()) {
            acceptPausedUntil_ = 0;
            for (size_t i = 0; i < listeners_.size(); ++i)
               poller_.arm(listeners_[i].socket.get(), listenerTag | i, io::Poller::Interest::Input);
         }
      }
   }
}

int Server::waitMs() const {
   const int tick = starting_ > 0 || acceptPausedUntil_ != 0 ? tickMs : -1;
   const int64_t deadline = idleDeadline_;
   if (deadline == INT64_MAX) return tick;
   const int64_t left = std::clamp<int64_t>((deadline - steadyNanos() + 999'999) / 1'000'000, 0, INT32_MAX);
   return tick < 0 ? static_cast<int>(left) : std::min(tick, static_cast<int>(left));
}

void Server::expectIdleDeadline(int64_t deadline) {
   int64_t known = idleDeadline_;
   while (deadline < known)
      if (idleDeadline_.compare_exchange_weak(known, deadline)) return poller_.wake();
}

void Server::endIdle() {
   const int64_t now = steadyNanos();
   if (now < idleDeadline_) return;
   idleDeadline_ = INT64_MAX; // before the search: sessions that become idle from now on report their own deadline
   std::vector<std::pair<uint64_t, ConnectionPointer>> over;
   int64_t next = INT64_MAX;
   {
      MutexLock lock(mutex_);
      for (const auto& [id, entry] : connections_) {
         if (entry.connection->isRunning) continue;
         const int64_t deadline = entry.connection->idleDeadline();
         if (deadline <= now)
            over.emplace_back(id, entry.connection);
         else
            next = std::min(next, deadline);
      }
   }
   expectIdleDeadline(next);
   for (const auto& [id, connection] : over) {
      connection->endIdle();
      dispatch(id, connection, Connection::Next::Run);
   }
}

void Server::acceptAll(size_t listener) {
   if (stopping_) return;
   const io::FileDescriptor& socket = listeners_[listener].socket;
   while (true) {
      io::FileDescriptor accepted;
      io::PeerAddress peer;
      const io::AcceptStatus status = io::acceptConnection(socket, accepted, peer);
      if (status == io::AcceptStatus::OutOfHandles) {
         logLine(LogLevel::Warning, "out of file handles: new connections have to wait");
         acceptPausedUntil_ = steadyNanos() + second;
         return;
      }
      if (status == io::AcceptStatus::None) break;
      if (connections() >= options_.connectionsMax + spareConnections) continue; // `accepted` closes the socket
      const uint64_t id = nextId_++;
      accepted_.fetch_add(1, std::memory_order_relaxed);
      const int32_t processId = nextProcessId_ = nextProcessId_ == INT32_MAX ? 1 : nextProcessId_ + 1;
      const int handle = accepted.get();
      auto connection = std::make_shared<Connection>(context_, std::move(accepted), std::move(peer),
                                                     protocol::BackendKey{processId, randomValue<int32_t>()});
      {
         MutexLock lock(mutex_);
         connections_.emplace(id, Entry{std::move(connection), steadyNanos() + authenticationTimeoutNanos});
      }
      ++starting_;
      try {
         poller_.add(handle, id, io::Poller::Interest::Input);
      } catch (const SqlError& error) { // the poller is full: close this connection only
         logLine(LogLevel::Warning, error.what());
         remove(id);
      }
   }
   poller_.arm(socket.get(), listenerTag | listener, io::Poller::Interest::Input);
}

void Server::onEvent(uint64_t id) {
   const ConnectionPointer connection = find(id);
   if (!connection) return;
   // An event for a running connection is a hang-up, or an input event from just before the hand-over. The latter is
   // harmless: hangUp() checks that the peer is gone.
   if (connection->isRunning)
      connection->hangUp();
   else
      dispatch(id, connection, connection->gather());
}

void Server::dispatch(uint64_t id, const ConnectionPointer& connection, Connection::Next next) {
   switch (next) {
   case Connection::Next::WaitInput: poller_.arm(connection->handle(), id, io::Poller::Interest::Input); break;
   case Connection::Next::WaitOutput: poller_.arm(connection->handle(), id, io::Poller::Interest::Output); break;
   case Connection::Next::WaitDeadline: break; // endIdle() finds it
   case Connection::Next::Run: {
      connection->isRunning = true;
      const bool isUrgent = connection->isInTransaction();
      poller_.arm(connection->handle(), id, io::Poller::Interest::HangUp);
      pool_.submit([this, id, connection] { runOn(id, connection); }, isUrgent);
      break;
   }
   case Connection::Next::Close:
      connection->close();
      remove(id);
      break;
   }
}

void Server::runOn(uint64_t id, ConnectionPointer connection) {
   const Connection::Next next = connection->run();
   if (next == Connection::Next::Close) {
      remove(id);
      return;
   }
   const int handle = connection->handle();
   const int64_t deadline = connection->idleDeadline();
   connection->isRunning = false; // the event loop may own the connection from here on
   if (next != Connection::Next::WaitDeadline)
      poller_.arm(handle, id,
                  next == Connection::Next::WaitOutput ? io::Poller::Interest::Output : io::Poller::Interest::Input);
   if (connection->isShutdownRequested() || connection->isDeliveryRequested())
      hasRequests_ = true; // it was when run() had looked already
   if (stopping_ || hasRequests_) poller_.wake();
   expectIdleDeadline(deadline);
}

void Server::dropSlowStarters() {
   const int64_t now = steadyNanos();
   uint32_t starting = 0;
   MutexLock lock(mutex_);
   for (const auto& [id, entry] : connections_) {
      if (entry.connection->isAuthenticated()) continue;
      ++starting;
      if (now > entry.authenticationDeadline) entry.connection->forceClose();
   }
   starting_ = starting;
}

void Server::endAll() {
   {
      MutexLock lock(mutex_);
      for (const auto& [id, entry] : connections_)
         entry.connection->requestShutdown();
   }
   runRequested();
}

bool Server::cancelStatement(int32_t processId) {
   return registry_.cancel(processId, CancelReason::Request);
}

bool Server::terminate(int32_t processId) {
   if (!registry_.contains(processId)) return false;
   {
      MutexLock lock(mutex_);
      for (const auto& [id, entry] : connections_)
         if (entry.connection->processId() == processId) entry.connection->requestShutdown();
   }
   hasRequests_ = true;
   poller_.wake();
   registry_.cancel(processId, CancelReason::Shutdown); // false when the session has ended meanwhile
   return true;
}

void Server::wake(const std::set<int32_t>& processIds) {
   {
      MutexLock lock(mutex_);
      for (const auto& [id, entry] : connections_)
         if (processIds.contains(entry.connection->processId())) entry.connection->requestDelivery();
   }
   hasRequests_ = true;
   poller_.wake();
}

bool Server::isOpen(int32_t processId) const {
   return registry_.contains(processId);
}

std::vector<AccessRuleRow> Server::accessRules() const {
   const auto files = accessRules_.current();
   return files ? files->ruleRows() : std::vector<AccessRuleRow>();
}

std::vector<UserMapRow> Server::userMaps() const {
   const auto files = accessRules_.current();
   return files ? files->mapRows() : std::vector<UserMapRow>();
}

void Server::runRequested() {
   std::vector<std::pair<uint64_t, ConnectionPointer>> waiting;
   {
      MutexLock lock(mutex_);
      for (const auto& [id, entry] : connections_)
         if ((entry.connection->isShutdownRequested() || entry.connection->isDeliveryRequested()) &&
             !entry.connection->isRunning)
            waiting.emplace_back(id, entry.connection);
   }
   for (const auto& [id, connection] : waiting)
      dispatch(id, connection, Connection::Next::Run); // run() checks for the shutdown first
}

void Server::shutdown() {
   if (!loopThread_.joinable()) return;
   stopping_ = true;
   registry_.cancelAll();
   poller_.wake();
   {
      UniqueLock lock(mutex_);
      const auto gone = [&]() REQUIRES(mutex_) { return connections_.empty(); };
      if (!allGone_.wait_for(lock, shutdownPatience, gone)) {
         logLine(LogLevel::Warning, fmt::format("{} connections do not end, closing them", connections_.size()));
         for (const auto& [id, entry] : connections_)
            entry.connection->forceClose();
         allGone_.wait_for(lock, forcePatience, gone);
      }
   }
   stopped_ = true;
   poller_.wake();
   loopThread_.join();
   listeners_.clear();
   socketPath_.reset();
   pool_.drain();
}

} // namespace ouzel::server
