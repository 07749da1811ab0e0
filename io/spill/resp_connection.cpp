#include "io/spill/resp_connection.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <poll.h>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"

namespace ouzel::io {

namespace {

constexpr size_t inputBytes = 32 << 10;
constexpr size_t lineMax = 8 << 10;

} // namespace

RespConnection::RespConnection(std::unique_ptr<Stream> stream)
   : stream_(std::move(stream)), input_(inputBytes), lastMove_(steadyNanos()) {}

std::unique_ptr<RespConnection> RespConnection::open(const MemoryAddress& address, const TlsClientContext* tls,
                                                     int& error, std::string& reason) {
   const int64_t until = steadyNanos() + connectNanosMax;
   FileDescriptor socket = connectTcp(address.host, address.port, static_cast<int>(connectNanosMax / 1'000'000), error);
   if (!socket.isOpen()) {
      reason = std::strerror(error);
      return nullptr;
   }
   std::unique_ptr<RespConnection> out(
       new RespConnection(tls ? tls->connect(std::move(socket), address.host) : makePlainStream(std::move(socket))));
   StreamStatus status;
   while ((status = out->stream_->handshake()) != StreamStatus::Done)
      if (!out->waitForStream(status, until)) break;
   if (status == StreamStatus::Done && out->authenticate(address, until)) return out;
   if (out->error_ == 0) out->fail(ECONNABORTED, out->stream_->failure());
   error = out->error_;
   reason = out->reason();
   return nullptr;
}

bool RespConnection::waitForStream(StreamStatus status, int64_t until) {
   const int left = static_cast<int>(std::max<int64_t>(until - steadyNanos(), 0) / 1'000'000);
   if (status == StreamStatus::WouldRead) return waitReadable(handle(), left);
   return status == StreamStatus::WouldWrite && waitWritable(handle(), left);
}

bool RespConnection::authenticate(const MemoryAddress& address, int64_t until) {
   const std::string_view withUser[] = {"AUTH", address.user, address.password};
   const std::string_view withoutUser[] = {"AUTH", address.password};
   if (!address.user.empty())
      send(withUser);
   else if (!address.password.empty())
      send(withoutUser);
   const std::string_view ping[] = {"PING"}; // refused without a password that is needed
   send(ping);
   if (!finish(until)) return false;
   for (Reply reply; take(reply);)
      if (!reply.error.empty()) {
         fail(EACCES, reply.error);
         return false;
      }
   return true;
}

void RespConnection::send(std::span<const std::string_view> arguments, std::span<const std::byte> last,
                          std::span<std::byte> target) {
   if (commands_.empty() && replies_.empty()) lastMove_ = steadyNanos(); // the server was not asked for anything
   if (output_.empty() || !output_.back().bytes.empty()) output_.emplace_back();
   std::string& text = output_.back().text;
   const size_t before = text.size();
   const auto begin = [&](char kind, size_t count) { text += kind + std::to_string(count) + "\r\n"; };
   begin('*', arguments.size() + !last.empty());
   for (const std::string_view argument : arguments) {
      begin('$', argument.size());
      text.append(argument).append("\r\n");
   }
   if (!last.empty()) begin('$', last.size());
   queuedBytes_ += text.size() - before;
   if (!last.empty()) {
      queuedBytes_ += last.size() + 2;
      output_.push_back({{}, last, 0});
      output_.push_back({"\r\n", {}, 0});
   }
   commands_.push_back({target, queuedBytes_});
}

bool RespConnection::sendSome() {
   while (!output_.empty()) {
      Piece& piece = output_.front();
      const char* const bytes =
          piece.bytes.empty() ? piece.text.data() : reinterpret_cast<const char*>(piece.bytes.data());
      const size_t size = piece.bytes.empty() ? piece.text.size() : piece.bytes.size();
      size_t moved = 0;
      switch (stream_->write(bytes + piece.done, size - piece.done, moved)) {
      case StreamStatus::Done: break;
      case StreamStatus::WouldRead: return true;
      case StreamStatus::WouldWrite: events_ |= POLLOUT; return true;
      case StreamStatus::Closed: fail(ECONNRESET, stream_->failure()); return false;
      }
      lastMove_ = steadyNanos();
      piece.done += moved;
      sentBytes_ += moved;
      if (piece.done == size) output_.pop_front();
   }
   return true;
}

bool RespConnection::receiveSome() {
   while (true) {
      if (!parse()) {
         fail(EPROTO, "the server does not answer as Valkey or Redis do");
         return false;
      }
      // Bytes of a bulk reply go where they belong; all else goes through the input buffer.
      char* into = input_.data() + inputEnd_;
      size_t room = input_.size() - inputEnd_;
      const bool goesToTarget = isInBulk_ && bulkDone_ < std::min<uint64_t>(bulkSize_, commands_.front().target.size());
      if (goesToTarget) {
         into = reinterpret_cast<char*>(commands_.front().target.data()) + bulkDone_;
         room = std::min<uint64_t>(bulkSize_, commands_.front().target.size()) - bulkDone_;
      }
      size_t moved = 0;
      switch (stream_->read(into, room, moved)) {
      case StreamStatus::Done: break;
      case StreamStatus::WouldRead: return true;
      case StreamStatus::WouldWrite: events_ |= POLLOUT; return true;
      case StreamStatus::Closed: fail(ECONNRESET, stream_->failure()); return false;
      }
      lastMove_ = steadyNanos();
      (goesToTarget ? bulkDone_ : inputEnd_) += moved;
   }
}

bool RespConnection::parse() {
   while (true) {
      const std::string_view there(input_.data() + inputBegin_, inputEnd_ - inputBegin_);
      if (isInBulk_) {
         const std::span<std::byte> target = commands_.front().target;
         const size_t bytes = std::min<uint64_t>(bulkSize_ - bulkDone_, there.size());
         if (bulkDone_ < target.size())
            std::memcpy(target.data() + bulkDone_, there.data(), std::min(bytes, target.size() - bulkDone_));
         bulkDone_ += bytes;
         inputBegin_ += bytes;
         if (bulkDone_ == bulkSize_ && there.size() - bytes >= 2) {
            if (there.substr(bytes, 2) != "\r\n") return false;
            inputBegin_ += 2;
            isInBulk_ = false;
            replies_.push_back({"", bulkSize_});
            commands_.pop_front();
            continue;
         }
      } else if (const size_t end = there.find("\r\n"); end != there.npos) {
         inputBegin_ += end + 2;
         // A reply to a command that is not sent yet would let go of bytes that are still to be sent.
         if (end == 0 || commands_.empty() || commands_.front().end > sentBytes_ || !parseLine(there.substr(0, end)))
            return false;
         continue;
      } else if (there.size() > lineMax) {
         return false;
      }
      // All but the rest of a line was taken: make room behind it.
      std::memmove(input_.data(), input_.data() + inputBegin_, inputEnd_ - inputBegin_);
      inputEnd_ -= std::exchange(inputBegin_, 0);
      return true;
   }
}

bool RespConnection::parseLine(std::string_view line) {
   if (line[0] == '$' && line != "$-1") {
      const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), bulkSize_);
      if (error != std::errc() || end != line.data() + line.size() || bulkSize_ > UINT32_MAX) return false;
      isInBulk_ = true;
      bulkDone_ = 0;
      return true;
   }
   if (line[0] != '+' && line[0] != ':' && line[0] != '-' && line != "$-1") return false;
   replies_.push_back({line[0] == '-' ? std::string(line.substr(1)) : "", 0});
   commands_.pop_front();
   return true;
}

bool RespConnection::progress() {
   if (error_ != 0) return false;
   events_ = POLLIN;
   const bool isSent = sendSome();
   const int error = error_;
   // Replies that have come before the connection was lost count.
   const bool isReceived = receiveSome();
   if (error != 0 && error_ != EPROTO) error_ = error;
   return isSent && isReceived;
}

bool RespConnection::take(Reply& reply) {
   if (replies_.empty()) return false;
   reply = std::move(replies_.front());
   replies_.pop_front();
   return true;
}

bool RespConnection::finish(int64_t until) {
   while (true) {
      const bool isWhole = progress();
      if (commands_.empty() && error_ != EPROTO) return true; // though the server may have closed after the last reply
      if (!isWhole) return false;
      const int64_t end = lastMove_ + patienceNanos, left = (until > 0 ? std::min(until, end) : end) - steadyNanos();
      if (left <= 0) {
         fail(ETIMEDOUT, "");
         return false;
      }
      pollfd entry{handle(), events_, 0};
      ::poll(&entry, 1, static_cast<int>(left / 1'000'000 + 1));
   }
}

bool RespConnection::isClosed() {
   DCHECK(expected() == 0);
   if (error_ != 0) return true;
   // TLS sends records of its own, so the stream tells, not the socket.
   char byte;
   size_t moved = 0;
   const StreamStatus status = stream_->read(&byte, 1, moved);
   if (status == StreamStatus::WouldRead || status == StreamStatus::WouldWrite) return false;
   fail(status == StreamStatus::Done ? EPROTO : ECONNRESET, stream_->failure());
   return true;
}

void RespConnection::fail(int error, std::string reason) {
   error_ = error;
   reason_ = std::move(reason);
}

std::string RespConnection::reason() const {
   return reason_.empty() ? std::strerror(error_) : reason_;
}

} // namespace ouzel::io
