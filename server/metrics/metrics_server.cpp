#include "server/metrics/metrics_server.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "server/metrics/http_request.hpp"

namespace ouzel::server {

namespace {

constexpr uint64_t listenerTag = uint64_t{1} << 63;
constexpr int64_t millisecond = 1'000'000;
constexpr int64_t acceptPauseMs = 1000;
constexpr size_t drainChunkBytes = 64 << 10;

bool wouldBlock() {
   return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

} // namespace

MetricsServer::MetricsServer(const std::string& host, uint16_t port, Render render, Limits limits)
   : render_(std::move(render)), limits_(limits), listeners_(io::listenTcp(host, port)) {}

MetricsServer::~MetricsServer() {
   stopping_ = true;
   poller_.wake();
   if (thread_.joinable()) thread_.join();
}

void MetricsServer::start() {
   for (size_t i = 0; i < listeners_.size(); ++i)
      poller_.add(listeners_[i].socket.get(), listenerTag | i, io::Poller::Interest::Input);
   thread_ = std::thread([this] { loop(); });
}

int MetricsServer::waitMs() const {
   int64_t until = acceptPausedUntil_ == 0 ? INT64_MAX : acceptPausedUntil_;
   if (!clients_.empty()) until = std::min(until, clients_.begin()->second.deadline);
   if (until == INT64_MAX) return -1;
   return static_cast<int>(std::clamp<int64_t>((until - steadyNanos()) / millisecond + 1, 0, INT32_MAX));
}

void MetricsServer::loop() {
   while (!stopping_) {
      for (const io::Poller::Event& event : poller_.wait(waitMs())) {
         if ((event.tag & listenerTag) != 0) {
            acceptAll(event.tag & ~listenerTag);
            continue;
         }
         const auto found = clients_.find(event.tag);
         if (found == clients_.end()) continue; // closed for a newer connection
         const Next next = advance(found->second);
         if (next == Next::Over)
            clients_.erase(found);
         else
            poller_.arm(found->second.socket.get(), event.tag,
                        next == Next::Input ? io::Poller::Interest::Input : io::Poller::Interest::Output);
      }
      const int64_t now = steadyNanos();
      while (!clients_.empty() && clients_.begin()->second.deadline <= now)
         clients_.erase(clients_.begin());
      if (acceptPausedUntil_ != 0 && acceptPausedUntil_ <= now) {
         acceptPausedUntil_ = 0;
         for (size_t i = 0; i < listeners_.size(); ++i)
            poller_.arm(listeners_[i].socket.get(), listenerTag | i, io::Poller::Interest::Input);
      }
   }
   clients_.clear();
}

void MetricsServer::acceptAll(size_t listener) {
   const io::FileDescriptor& socket = listeners_[listener].socket;
   while (true) {
      Client client;
      io::PeerAddress peer;
      const io::AcceptStatus status = io::acceptConnection(socket, client.socket, peer);
      if (status == io::AcceptStatus::OutOfHandles) {
         acceptPausedUntil_ = steadyNanos() + acceptPauseMs * millisecond;
         return;
      }
      if (status == io::AcceptStatus::None) break;
      if (clients_.size() >= limits_.clientsMax) clients_.erase(clients_.begin());
      client.deadline = steadyNanos() + limits_.patienceMs * millisecond;
      try {
         poller_.add(client.socket.get(), nextId_, io::Poller::Interest::Input);
         clients_.emplace(nextId_++, std::move(client));
      } catch (const SqlError& error) { // the poller is full: close this connection
         logLine(LogLevel::Warning, error.what());
      }
   }
   poller_.arm(socket.get(), listenerTag | listener, io::Poller::Interest::Input);
}

MetricsServer::Next MetricsServer::advance(Client& client) {
   if (client.phase == Phase::Reading) {
      const Next next = read(client);
      if (client.phase == Phase::Reading) return next;
   }
   if (client.phase == Phase::Writing) {
      const Next next = write(client);
      if (client.phase == Phase::Writing) return next;
   }
   return drain(client);
}

MetricsServer::Next MetricsServer::read(Client& client) {
   char chunk[2048];
   while (true) {
      const ssize_t got = recv(client.socket.get(), chunk, sizeof chunk, 0);
      if (got < 0 && wouldBlock()) return Next::Input;
      if (got <= 0) return Next::Over;
      const size_t before = client.input.size();
      client.input.append(chunk, static_cast<size_t>(got));
      const size_t end = client.input.find("\r\n\r\n", before < 3 ? 0 : before - 3);
      if (end != std::string::npos && end + 4 <= httpHeadSizeMax)
         client.output = answer(std::string_view(client.input).substr(0, end + 4));
      else if (client.input.size() >= httpHeadSizeMax)
         client.output = httpRefusal(431);
      else
         continue;
      client.phase = Phase::Writing;
      return Next::Output;
   }
}

std::string MetricsServer::answer(std::string_view head) const {
   HttpRequest request;
   if (const int status = parseHttpRequest(head, request); status != 0) return httpRefusal(status);
   if (request.path != "/metrics") return httpRefusal(404, !request.isHead);
   try {
      return httpAnswer(200, "text/plain; version=0.0.4; charset=utf-8", render_(), !request.isHead);
   } catch (const std::exception& error) {
      logLine(LogLevel::Warning, std::string("metrics: ") + error.what());
      return httpRefusal(500, !request.isHead);
   }
}

MetricsServer::Next MetricsServer::write(Client& client) {
   while (client.sent < client.output.size()) {
      const ssize_t sent = send(client.socket.get(), client.output.data() + client.sent,
                                client.output.size() - client.sent, MSG_NOSIGNAL);
      if (sent < 0 && wouldBlock()) return Next::Output;
      if (sent <= 0) return Next::Over;
      client.sent += static_cast<size_t>(sent);
   }
   shutdown(client.socket.get(), SHUT_WR);
   client.phase = Phase::Draining;
   return Next::Input;
}

MetricsServer::Next MetricsServer::drain(Client& client) {
   char chunk[8192];
   for (size_t drained = 0; drained < drainChunkBytes;) { // afterwards other clients have their turn
      const ssize_t got = recv(client.socket.get(), chunk, sizeof chunk, 0);
      if (got < 0 && wouldBlock()) return Next::Input;
      if (got <= 0) return Next::Over;
      drained += static_cast<size_t>(got);
   }
   return Next::Input;
}

} // namespace ouzel::server
