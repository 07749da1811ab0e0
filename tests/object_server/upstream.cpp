#include "tests/object_server/upstream.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/tcp.h>
#include <optional>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "tests/object_server/chunk_decoder.hpp"
#include "tests/object_server/s3_error.hpp"

namespace ouzel::object_server {

/// A persistent connection to the other server, with one request at a time.
class UpstreamConnection final : public Endpoint {
public:
   UpstreamConnection(UpstreamService& service, Descriptor socket) : service_(service), socket_(std::move(socket)) {}

   void start(std::string message, bool isHead, Exchange::Responder respond, bool isFresh) {
      message_ = std::move(message);
      isHead_ = isHead;
      isFresh_ = isFresh;
      respond_ = std::move(respond);
      sent_ = 0;
      input_.clear();
      response_.reset();
      decoder_.reset();
   }
   bool isDone() const override { return isClosed_; }

   void onReady(uint32_t) override {
      if (isClosed_) return;
      if (sent_ < message_.size()) sendRest();
      receive();
   }

private:
   void sendRest() {
      while (sent_ < message_.size()) {
         const ssize_t sent = ::send(socket_.get(), message_.data() + sent_, message_.size() - sent_, MSG_NOSIGNAL);
         if (sent < 0) {
            if (errno != EAGAIN && errno != ENOTCONN && errno != EINTR) end();
            return;
         }
         sent_ += static_cast<size_t>(sent);
      }
   }

   void receive() {
      static char buffer[256 << 10];
      while (!isClosed_) {
         const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
         if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOTCONN)) return;
         if (got <= 0 || !respond_) return end();
         take({buffer, static_cast<size_t>(got)});
      }
   }

   void take(std::string_view bytes) {
      if (!response_) {
         input_ += bytes;
         if (!parseAnswer()) return;
         bytes = std::string_view(input_);
      }
      if (decoder_)
         decoder_->feed(bytes, [this](std::string_view part) { response_->body += part; });
      else
         response_->body +=
             bytes.substr(0, std::min<uint64_t>(bytes.size(), size_.value_or(UINT64_MAX) - response_->body.size()));
      input_.clear();
      const bool isComplete = decoder_ ? decoder_->isComplete() : size_ && response_->body.size() == *size_;
      if (isComplete) deliver(true);
   }

   /// Parses the answer's head when it is complete; `input_` keeps the bytes behind it.
   bool parseAnswer() {
      const size_t end = input_.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      HttpResponse response;
      size_ = std::nullopt;
      response.status = std::atoi(input_.c_str() + std::min<size_t>(9, input_.size()));
      for (size_t at = input_.find("\r\n") + 2; at < end;) {
         const size_t next = input_.find("\r\n", at), colon = std::min(input_.find(':', at), next);
         const std::string name = input_.substr(at, colon - at), lower = toLower(name);
         const std::string value = input_.substr(std::min(input_.find_first_not_of(' ', colon + 1), next),
                                                 next - std::min(input_.find_first_not_of(' ', colon + 1), next));
         if (lower == "content-length")
            size_ = std::strtoull(value.c_str(), nullptr, 10);
         else if (lower == "transfer-encoding")
            decoder_.emplace();
         else if (lower != "connection" && lower != "keep-alive")
            response.headers.emplace_back(name, value);
         at = next + 2;
      }
      input_.erase(0, end + 4);
      if (response.status == 100) return false;
      if (isHead_) response.statedSize = size_;
      if (isHead_ || response.status == 204 || response.status == 304) {
         size_ = 0;
         decoder_.reset();
      }
      response_ = std::move(response);
      return true;
   }

   void deliver(bool isReusable) {
      auto respond = std::move(respond_);
      respond_ = nullptr;
      message_.clear();
      sent_ = 0;
      HttpResponse response = std::move(*response_);
      response_.reset();
      if (isReusable) service_.idle_.push_back(id());
      respond(std::move(response));
   }

   /// The other server has closed the connection: the end of an answer without a length, an idle connection's end, or a
   /// failure.
   void end() {
      isClosed_ = true;
      if (!respond_) return;
      if (response_ && !size_ && !decoder_) return deliver(false);
      if (!isFresh_ && !response_) return service_.send(std::move(message_), isHead_, std::move(respond_), true);
      response_ = errorResponse(S3Error(502, "BadGateway", "the server behind this one has closed the connection"), "");
      deliver(false);
   }

   UpstreamService& service_;
   Descriptor socket_;
   std::string message_, input_;
   size_t sent_ = 0;
   bool isHead_ = false, isFresh_ = true, isClosed_ = false;
   Exchange::Responder respond_;
   std::optional<HttpResponse> response_;
   std::optional<ChunkDecoder> decoder_;
   std::optional<uint64_t> size_;
};

namespace {

class ProxyExchange final : public Exchange {
public:
   ProxyExchange(UpstreamService& service, const HttpRequest& request) : service_(service), request_(request) {}
   void consume(std::string_view bytes) override { body_ += bytes; }
   void finish(Responder respond) override {
      std::string message = request_.method + " " + request_.target + " HTTP/1.1\r\n";
      for (const auto& [name, value] : request_.headers)
         if (name != "transfer-encoding" && name != "content-length" && name != "connection" && name != "expect")
            message += name + ": " + value + "\r\n";
      const bool hasLength = !body_.empty() || request_.header("content-length") || request_.isChunked;
      if (hasLength) message += "content-length: " + std::to_string(body_.size()) + "\r\n";
      service_.send(message + "\r\n" + body_, request_.method == "HEAD", std::move(respond));
   }
   const char* kind() const override { return request_.method.c_str(); }

private:
   UpstreamService& service_;
   HttpRequest request_;
   std::string body_;
};

} // namespace

UpstreamService::UpstreamService(EventLoop& loop, const std::string& address) : loop_(loop) {
   const size_t colon = address.rfind(':');
   address_.sin_family = AF_INET;
   address_.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + std::min(colon + 1, address.size()))));
   if (colon == std::string::npos || ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &address_.sin_addr) != 1)
      throw std::invalid_argument("--upstream wants ADDRESS:PORT");
}

std::unique_ptr<Exchange> UpstreamService::begin(const HttpRequest& request) {
   return std::make_unique<ProxyExchange>(*this, request);
}

void UpstreamService::send(std::string message, bool isHead, Exchange::Responder respond, bool onFresh) {
   while (!onFresh && !idle_.empty()) {
      const uint64_t id = idle_.back();
      idle_.pop_back();
      auto* connection = static_cast<UpstreamConnection*>(loop_.find(id));
      if (!connection || connection->isDone()) continue;
      connection->start(std::move(message), isHead, std::move(respond), false);
      return loop_.wakeSoon(id);
   }
   Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
   const int one = 1;
   ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
   const int fd = socket.get();
   if (fd < 0 ||
       (::connect(fd, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0 && errno != EINPROGRESS))
      return respond(errorResponse(S3Error(502, "BadGateway", "cannot connect to the server behind this one"), ""));
   auto connection = std::make_unique<UpstreamConnection>(*this, std::move(socket));
   connection->start(std::move(message), isHead, std::move(respond), true);
   loop_.add(std::move(connection), fd);
}

} // namespace ouzel::object_server
