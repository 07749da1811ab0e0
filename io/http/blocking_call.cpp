#include "io/http/blocking_call.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "io/http/response.hpp"
#include "io/net/socket.hpp"

namespace ouzel::io {

namespace {

constexpr size_t bodySizeMax = 64 << 10;

class Call {
public:
   Call(const HttpCall& call, int timeoutMs) : call_(call), deadline_(steadyNanos() + timeoutMs * int64_t{1'000'000}) {}

   HttpReply run() {
      connect();
      send();
      return receive();
   }

private:
   [[noreturn]] void fail(const std::string& why) const {
      throw SqlError(sqlstate::ioError,
                     "could not call http://" + call_.host + ":" + std::to_string(call_.port) + ": " + why);
   }
   int leftMs() const {
      const int64_t left = (deadline_ - steadyNanos()) / 1'000'000;
      if (left <= 0) fail("no answer in time");
      return static_cast<int>(left);
   }

   void connect() {
      addrinfo hints{};
      hints.ai_socktype = SOCK_STREAM;
      addrinfo* found = nullptr;
      if (const int error = getaddrinfo(call_.host.c_str(), std::to_string(call_.port).c_str(), &hints, &found);
          error != 0)
         fail(gai_strerror(error));
      const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
      int error = 0;
      for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
         socket_ = FileDescriptor(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
         if (!socket_.isOpen()) continue;
         if (::connect(socket_.get(), address->ai_addr, address->ai_addrlen) == 0) return;
         error = errno;
         if (error == EINPROGRESS) {
            if (!waitWritable(socket_.get(), leftMs())) fail("no answer in time");
            socklen_t size = sizeof error;
            getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
            if (error == 0) return;
         }
      }
      fail(std::strerror(error));
   }

   void send() {
      std::string text =
          call_.method + " " + call_.path + " HTTP/1.1\r\nhost: " + call_.host + "\r\nconnection: close\r\n";
      for (const auto& [name, value] : call_.headers)
         text += name + ": " + value + "\r\n";
      if (call_.method == "PUT") text += "content-length: 0\r\n";
      text += "\r\n";
      std::string_view rest = text;
      while (!rest.empty()) {
         const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
         if (sent >= 0)
            rest.remove_prefix(static_cast<size_t>(sent));
         else if (errno != EAGAIN && errno != EINTR)
            fail(std::strerror(errno));
         else if (!waitWritable(socket_.get(), leftMs()))
            fail("no answer in time");
      }
   }

   /// False: the peer has closed.
   bool receiveMore(std::string& buffer) {
      char bytes[4096];
      while (true) {
         const ssize_t size = ::recv(socket_.get(), bytes, sizeof bytes, 0);
         if (size > 0) buffer.append(bytes, static_cast<size_t>(size));
         if (size >= 0) return size > 0;
         if (errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
         if (!waitReadable(socket_.get(), leftMs())) fail("no answer in time");
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
   FileDescriptor socket_;
};

} // namespace

HttpReply callHttp(const HttpCall& call, int timeoutMs) {
   return Call(call, timeoutMs).run();
}

} // namespace ouzel::io
