#include "io/http/exchange.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

#include "common/error/check.hpp"

namespace ouzel::io {

Exchange::Exchange(SocketRing& ring, std::unique_ptr<Connection> connection, const TlsClientContext* tls,
                   std::string serverName, ExchangeOrder order)
   : ring_(ring), tls_(tls), serverName_(std::move(serverName)), address_(connection->address),
     order_(std::move(order)), connection_(std::move(connection)) {}

void Exchange::start(int64_t now) {
   DCHECK(state_ == State::Idle);
   startedAt_ = windowStart_ = now;
   if (connection_->isConnected) {
      isReused_ = true;
      beginSending(now);
      return;
   }
   state_ = State::Connecting;
   if (!connection_->socket.isOpen()) {
      error_ = EMFILE;
      fail(Failure::Connect, now);
      return;
   }
   ring_.connect(connection_->socket.get(), connection_->address.get(), connection_->address.size, userData());
   isInFlight_ = true;
}

void Exchange::step(int32_t result, int64_t now) {
   isInFlight_ = false;
   if (failure_ != Failure::None) {
      fail(failure_, now);
      return;
   }
   if (state_ == State::Connecting) {
      if (result < 0) {
         error_ = -result;
         fail(Failure::Connect, now);
      } else {
         afterConnect(now);
      }
   } else if (connection_->tls) {
      continueTls(now);
   } else {
      continuePlain(result, now);
   }
}

void Exchange::abort(Failure reason) {
   if (isOver()) return;
   if (failure_ == Failure::None) failure_ = reason;
   if (!isInFlight_) return; // step() is handling its completion
   // For most operations one of the two is enough; a hanging connect only reacts to the cancellation.
   ::shutdown(connection_->handle(), SHUT_RDWR);
   ring_.cancel(userData());
}

void Exchange::checkProgress(int64_t now, int64_t connectNanos, int64_t firstByteNanos, int64_t progressNanos) {
   if (isOver() || failure_ != Failure::None) return;
   switch (state_) {
   case State::Connecting:
   case State::Handshaking:
      if (now - startedAt_ > connectNanos) {
         error_ = ETIMEDOUT;
         abort(Failure::Connect);
      }
      return;
   case State::ReceivingHead:
      // The head has a total time: counting bytes would let a head of one byte a second go on forever.
      if (now - sentAt_ > firstByteNanos) abort(Failure::TimedOut);
      return;
   default:
      if (now - windowStart_ <= progressNanos) return;
      if (windowBytes_ < progressSizeMin) abort(Failure::TimedOut);
      windowStart_ = now;
      windowBytes_ = 0;
   }
}

std::string Exchange::failureText() const {
   switch (failure_) {
   case Failure::None: return "no failure";
   case Failure::Connect:
      return "could not connect: " + (tlsFailure_.empty() ? std::string(std::strerror(error_)) : tlsFailure_);
   case Failure::Certificate: return tlsFailure_;
   case Failure::Closed: return "the connection was closed" + (tlsFailure_.empty() ? "" : ": " + tlsFailure_);
   case Failure::Protocol: return "the answer is not valid HTTP";
   case Failure::TimedOut: return "no answer in time";
   case Failure::Aborted: break;
   }
   return "given up";
}

std::unique_ptr<Connection> Exchange::takeConnection() {
   DCHECK(isOver());
   if (state_ != State::Finished || !head_.isKeptAlive) return nullptr;
   ++connection_->requests;
   connection_->idleSince = endedAt_;
   return std::move(connection_);
}

void Exchange::fail(Failure reason, int64_t now) {
   failure_ = reason;
   state_ = State::Failed;
   endedAt_ = now;
}

void Exchange::finish(int64_t now) {
   state_ = State::Finished;
   endedAt_ = now;
}

void Exchange::afterConnect(int64_t now) {
   if (tls_ == nullptr) {
      connection_->isConnected = true;
      beginSending(now);
      return;
   }
   connection_->tls = tls_->connect(std::move(connection_->socket), serverName_);
   state_ = State::Handshaking;
   continueTls(now);
}

void Exchange::beginSending(int64_t now) {
   state_ = State::Sending;
   windowStart_ = now;
   windowBytes_ = 0;
   if (connection_->tls)
      continueTls(now);
   else
      queueNext();
}

/// Plain connections: queues the next operation of the state.
void Exchange::queueNext() {
   isInFlight_ = true;
   if (state_ == State::Sending) {
      const std::string_view bytes = outgoing();
      ring_.send(connection_->handle(), bytes.data(), bytes.size(), userData());
      return;
   }
   const auto [target, size] = incoming();
   ring_.receive(connection_->handle(), target, size, state_ == State::ReceivingBody && bodySize_ > 0, userData());
}

void Exchange::continuePlain(int32_t result, int64_t now) {
   if (result == -EINTR || result == -EAGAIN) {
      queueNext();
      return;
   }
   if (result <= 0 && state_ == State::Sending && hasSent_ && !isReused_) {
      // A server that refuses a request may answer and close before it has read the whole request.
      state_ = State::ReceivingHead;
      sentAt_ = now;
      queueNext();
      return;
   }
   if (result <= 0) {
      onClosed(now);
      return;
   }
   if (state_ == State::Sending)
      onSent(static_cast<size_t>(result), now);
   else
      onReceived(static_cast<size_t>(result), now);
   if (!isOver()) queueNext();
}

void Exchange::continueTls(int64_t now) {
   while (!isOver())
      if (!stepTls(now)) return;
}

/// TLS connections: does one step of the state. False: the stream waits for the socket.
bool Exchange::stepTls(int64_t now) {
   Stream& stream = *connection_->tls;
   size_t moved = 0;
   StreamStatus status;
   std::pair<char*, size_t> target;
   if (state_ == State::Handshaking) {
      status = stream.handshake();
   } else if (state_ == State::Sending) {
      const std::string_view bytes = outgoing();
      status = stream.write(bytes.data(), bytes.size(), moved);
   } else {
      target = incoming();
      status = stream.read(target.first, target.second, moved);
   }
   switch (status) {
   case StreamStatus::WouldRead:
   case StreamStatus::WouldWrite:
      ring_.poll(stream.handle(), status == StreamStatus::WouldRead ? POLLIN : POLLOUT, userData());
      isInFlight_ = true;
      return false;
   case StreamStatus::Closed:
      tlsFailure_ = stream.failure();
      if (state_ == State::Handshaking)
         fail(tlsFailure_.starts_with("certificate") ? Failure::Certificate : Failure::Connect, now);
      else
         onClosed(now);
      return true;
   case StreamStatus::Done: break;
   }
   if (state_ == State::Handshaking) {
      connection_->isConnected = true;
      state_ = State::Sending;
      windowStart_ = now;
   } else if (state_ == State::Sending) {
      onSent(moved, now);
   } else {
      onReceived(moved, now);
   }
   return true;
}

/// The bytes of the current part that are not sent yet.
std::string_view Exchange::outgoing() const {
   const std::string_view part = sendPart_ == 0 ? std::string_view(order_.head) : order_.body[sendPart_ - 1];
   return part.substr(sendOffset_, sendSize);
}

void Exchange::onSent(size_t size, int64_t now) {
   hasSent_ = true;
   windowBytes_ += size;
   sendOffset_ += size;
   while (sendOffset_ == (sendPart_ == 0 ? order_.head.size() : order_.body[sendPart_ - 1].size())) {
      sendOffset_ = 0;
      if (++sendPart_ <= order_.body.size()) continue;
      state_ = State::ReceivingHead;
      sentAt_ = now;
      return;
   }
}

/// Memory for the next received bytes.
std::pair<char*, size_t> Exchange::incoming() {
   if (state_ == State::ReceivingHead) {
      headText_.resize(headFill_ + headReadSize);
      return {headText_.data() + headFill_, headReadSize};
   }
   if (bodySize_ > 0) {
      char* const base = toTarget_ ? order_.target : body_.data();
      return {base + bodyReceived_,
              static_cast<size_t>(std::min<uint64_t>(bodySize_ - bodyReceived_, connection_->receiveSize))};
   }
   scratch_.resize(16 << 10);
   return {scratch_.data(), scratch_.size()};
}

void Exchange::onReceived(size_t size, int64_t now) {
   windowBytes_ += size;
   if (state_ == State::ReceivingHead) {
      if (firstByteAt_ == 0) firstByteAt_ = now;
      headFill_ += size;
      onHeadBytes(now);
   } else if (bodySize_ > 0) {
      bodyReceived_ += size;
      adaptReceive(now);
      if (bodyReceived_ == bodySize_) finish(now);
   } else {
      takeBody(std::string_view(scratch_.data(), size), now);
   }
}

/// Large operations cost less CPU for a byte: with 4 MiB a fifth less than with 256 KiB at 8 requests over loopback
/// (bench/s3, 2026-11). But progress is only seen when one ends, so it should take some ten milliseconds.
void Exchange::adaptReceive(int64_t now) {
   constexpr int64_t shortNanos = 30'000'000, longNanos = 200'000'000;
   const int64_t took = now - receiveStart_;
   receiveStart_ = now;
   size_t& size = connection_->receiveSize;
   if (took < shortNanos) size = std::min(size * 2, Connection::receiveSizeMax);
   if (took > longNanos) size = std::max(size / 2, Connection::receiveSizeMin);
}

void Exchange::onClosed(int64_t now) {
   headText_.resize(headFill_);
   const bool isEnd = state_ == State::ReceivingBody && bodySize_ == 0 && !head_.isChunked;
   if (isEnd)
      finish(now);
   else
      fail(Failure::Closed, now);
}

void Exchange::onHeadBytes(int64_t now) {
   size_t headSize = 0;
   while (true) {
      const std::string_view received(headText_.data(), headFill_);
      switch (parseHttpHead(received, head_, headSize)) {
      case HttpParse::NeedMore: return;
      case HttpParse::Invalid: fail(Failure::Protocol, now); return;
      case HttpParse::Complete: break;
      }
      if (head_.status >= 200) break;
      headText_.erase(0, headSize); // an interim answer such as "100 Continue": the final one follows
      headFill_ -= headSize;
   }
   if (!prepareBody(now)) {
      if (headFill_ > headSize) head_.isKeptAlive = false; // bytes behind a complete answer
      return;
   }
   takeBody(std::string_view(headText_.data() + headSize, headFill_ - headSize), now);
}

/// Chooses the memory for the body. False: the exchange is over.
bool Exchange::prepareBody(int64_t now) {
   state_ = State::ReceivingBody;
   windowStart_ = receiveStart_ = now;
   windowBytes_ = 0;
   if (order_.isHead || head_.hasNoBody() || head_.contentLength == uint64_t{0}) {
      finish(now);
      return false;
   }
   if (!head_.contentLength) return true;
   toTarget_ = (head_.status == 200 || head_.status == 206) && order_.target != nullptr &&
               *head_.contentLength == order_.targetSize;
   if (!toTarget_ && *head_.contentLength > order_.bodySizeMax) {
      fail(Failure::Protocol, now);
      return false;
   }
   bodySize_ = *head_.contentLength;
   if (!toTarget_) body_.resize(bodySize_);
   return true;
}

/// Stores bytes of the body that were received into a buffer: behind the head, by chunks, or to no target.
void Exchange::takeBody(std::string_view bytes, int64_t now) {
   if (bodySize_ > 0) {
      if (bytes.size() > bodySize_) {
         fail(Failure::Protocol, now); // longer than the head said
         return;
      }
      std::copy(bytes.begin(), bytes.end(), toTarget_ ? order_.target : body_.data());
      bodyReceived_ = bytes.size();
      if (bodyReceived_ == bodySize_) finish(now);
      return;
   }
   if (head_.isChunked) {
      size_t consumed = 0;
      const HttpParse parsed = chunks_.feed(bytes, consumed, body_, order_.bodySizeMax);
      if (parsed == HttpParse::Invalid) fail(Failure::Protocol, now);
      if (parsed != HttpParse::Complete) return;
      if (consumed < bytes.size()) head_.isKeptAlive = false;
   } else if (body_.size() + bytes.size() > order_.bodySizeMax) {
      fail(Failure::Protocol, now);
      return;
   } else {
      body_.append(bytes);
      return;
   }
   bodyReceived_ = body_.size();
   finish(now);
}

} // namespace ouzel::io
