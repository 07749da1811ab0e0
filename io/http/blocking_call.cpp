#include "io/http/blocking_call.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "io/http/response.hpp"
#include "io/net/socket.hpp"
#include "io/net/stream.hpp"

namespace ouzel::io {

namespace {

constexpr size_t bodySizeMax = 64 << 10;

uint16_t defaultPort(const HttpCall& call) {
   return call.isEncrypted ? 443 : 80;
}

std::string hostHeader(const HttpCall& call) {
   const std::string host = call.host.find(':') == std::string::npos ? call.host : "[" + call.host + "]";
   return call.port == defaultPort(call) ? host : host + ":" + std::to_string(call.port);
}

/// Blocks SIGPIPE for this thread: OpenSSL cannot suppress the signal for each write, and a write to a closed
/// connection must not end the process.
class BrokenPipeGuard {
public:
   BrokenPipeGuard() {
      sigemptyset(&signals_);
      sigaddset(&signals_, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &signals_, &before_);
   }
   ~BrokenPipeGuard() {
      if (sigismember(&before_, SIGPIPE) == 1) return;
      const timespec now{};
      while (sigtimedwait(&signals_, nullptr, &now) < 0 && errno == EINTR) {
      }
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
   }
   BrokenPipeGuard(const BrokenPipeGuard&) = delete;

private:
   sigset_t signals_, before_;
};

class Call {
public:
   Call(const HttpCall& call, int timeoutMs) : call_(call), deadline_(steadyNanos() + timeoutMs * int64_t{1'000'000}) {
      if (call.isEncrypted) tls_.emplace();
   }

   HttpReply run() {
      FileDescriptor socket = connect();
      stream_ = tls_ ? tls_->connect(std::move(socket), call_.host) : makePlainStream(std::move(socket));
      while (true) {
         const StreamStatus status = stream_->handshake();
         if (status == StreamStatus::Done) break;
         if (status == StreamStatus::Closed) failClosed("the connection was closed");
         waitUntil(status);
      }
      send();
      return receive();
   }

private:
   [[noreturn]] void fail(const std::string& why) const {
      throw SqlError(sqlstate::ioError, "could not call " + call_.displayServer() + ": " + why);
   }
   /// Throws the stream's failure, or `otherwise` if it has none. REQUIRES: the stream is closed.
   [[noreturn]] void failClosed(const char* otherwise) const {
      const std::string reason = stream_->failure();
      fail(reason.empty() ? otherwise : reason);
   }
   int leftMs() const {
      const int64_t left = (deadline_ - steadyNanos()) / 1'000'000;
      if (left <= 0) fail("no answer in time");
      return static_cast<int>(left);
   }
   void waitUntil(StreamStatus status) const {
      const bool isReady = status == StreamStatus::WouldRead ? waitReadable(stream_->handle(), leftMs())
                                                             : waitWritable(stream_->handle(), leftMs());
      if (!isReady) fail("no answer in time");
   }

   FileDescriptor connect() const {
      addrinfo hints{};
      hints.ai_socktype = SOCK_STREAM;
      addrinfo* found = nullptr;
      if (const int error = getaddrinfo(call_.host.c_str(), std::to_string(call_.port).c_str(), &hints, &found);
          error != 0)
         fail(gai_strerror(error));
      const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
      int error = 0;
      for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
         FileDescriptor socket(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
         if (!socket.isOpen()) {
            error = errno;
            continue;
         }
         if (::connect(socket.get(), address->ai_addr, address->ai_addrlen) == 0) return socket;
         error = errno;
         if (error == EINPROGRESS) {
            if (!waitWritable(socket.get(), leftMs())) fail("no answer in time");
            socklen_t size = sizeof error;
            getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
            if (error == 0) return socket;
         }
      }
      fail(std::strerror(error));
   }

   void send() {
      std::string text =
          call_.method + " " + call_.path + " HTTP/1.1\r\nhost: " + hostHeader(call_) + "\r\nconnection: close\r\n";
      for (const auto& [name, value] : call_.headers)
         text += name + ": " + value + "\r\n";
      if (call_.method != "GET") text += "content-length: " + std::to_string(call_.body.size()) + "\r\n";
      text += "\r\n" + call_.body;
      for (size_t sent = 0, moved = 0; sent < text.size();) {
         const StreamStatus status = stream_->write(text.data() + sent, text.size() - sent, moved);
         if (status == StreamStatus::Done)
            sent += moved;
         else if (status == StreamStatus::Closed)
            failClosed("the connection was closed");
         else
            waitUntil(status);
      }
   }

   /// Appends received bytes to `buffer`. False: the peer has closed.
   bool receiveMore(std::string& buffer) {
      char bytes[4096];
      while (true) {
         size_t moved = 0;
         const StreamStatus status = stream_->read(bytes, sizeof bytes, moved);
         if (status == StreamStatus::Done) {
            buffer.append(bytes, moved);
            return true;
         }
         if (status == StreamStatus::Closed) {
            if (stream_->failure().empty()) return false;
            failClosed("");
         }
         waitUntil(status);
      }
   }

   HttpReply receive() {
      std::string buffer;
      HttpHead head;
      size_t headSize = 0;
      while (true) {
         const HttpParse parsed = parseHttpHead(buffer, head, headSize);
         if (parsed == HttpParse::Complete) break;
         if (parsed == HttpParse::Invalid || !receiveMore(buffer)) fail("the answer is not HTTP");
      }
      HttpReply reply{head.status, {}};
      buffer.erase(0, headSize);
      if (head.hasNoBody()) return reply;
      if (head.isChunked) {
         ChunkDecoder decoder;
         while (true) {
            size_t consumed = 0;
            const HttpParse parsed = decoder.feed(buffer, consumed, reply.body, bodySizeMax);
            if (parsed == HttpParse::Complete) return reply;
            buffer.clear();
            if (parsed == HttpParse::Invalid || !receiveMore(buffer)) fail("the answer is not complete");
         }
      }
      const uint64_t size = head.contentLength.value_or(bodySizeMax);
      if (size > bodySizeMax) fail("the answer is too long");
      while (buffer.size() < size) {
         if (receiveMore(buffer)) continue;
         if (head.contentLength) fail("the answer is not complete");
         break;
      }
      reply.body = buffer.substr(0, size);
      return reply;
   }

   const HttpCall& call_;
   const int64_t deadline_;
   std::optional<TlsClientContext> tls_; ///< outlives stream_
   std::unique_ptr<Stream> stream_;
};

} // namespace

std::optional<HttpCall> HttpCall::to(std::string_view url) {
   HttpCall call;
   call.isEncrypted = url.starts_with("https://");
   if (!call.isEncrypted && !url.starts_with("http://")) return std::nullopt;
   if (std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c == 0x7f; })) return std::nullopt;
   url.remove_prefix(url.find("//") + 2);
   const size_t slash = std::min(url.find('/'), url.size());
   std::string_view server = url.substr(0, slash);
   if (slash < url.size()) call.path = url.substr(slash);
   if (server.starts_with('[')) {
      const size_t close = server.find(']');
      if (close == std::string_view::npos) return std::nullopt;
      call.host = server.substr(1, close - 1);
      server.remove_prefix(close + 1);
   } else {
      call.host = server.substr(0, server.find(':'));
      server.remove_prefix(call.host.size());
   }
   if (call.host.empty() || call.host.find_first_of("@?#") != std::string::npos) return std::nullopt;
   call.port = defaultPort(call);
   if (server.empty()) return call;
   const auto port = server.front() == ':' ? parseUnsigned(server.substr(1)) : std::nullopt;
   if (!port || *port == 0 || *port > UINT16_MAX) return std::nullopt;
   call.port = static_cast<uint16_t>(*port);
   return call;
}

std::string HttpCall::displayServer() const {
   return (isEncrypted ? "https://" : "http://") + hostHeader(*this);
}

HttpReply callHttp(const HttpCall& call, int timeoutMs) {
   const BrokenPipeGuard guard;
   return Call(call, timeoutMs).run();
}

} // namespace ouzel::io
