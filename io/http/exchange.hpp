#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/connection.hpp"
#include "io/http/response.hpp"
#include "io/ring/socket_ring.hpp"

namespace ouzel::io {

/// What one exchange sends, and where the answer goes.
struct ExchangeOrder {
   std::string head;                   ///< request line and headers, to the empty line
   std::vector<std::string_view> body; ///< stays until the exchange has ended
   bool isHead = false;                ///< HEAD: the answer has no body
   /// A body of exactly this many bytes with status 200 or 206 is received straight into `target`, but for what came
   /// along with the head (at most headReadSize bytes).
   char* target = nullptr;
   size_t targetSize = 0;
   size_t bodySizeMax = 0; ///< of bodies that do not go there
};

/// One request and its answer over one connection: the state machine between a ring and a caller that decides about
/// repetition. It has one operation in flight at any time, whose userData is its own address.
///
///    Connecting -> Handshaking -> Sending -> ReceivingHead -> ReceivingBody -> Finished
///        \______________\____________\____________\_______________\--------> Failed
///
/// step() moves it on; abort() makes it fail with the completion that is outstanding. It must not be destroyed, nor its
/// order's memory touched, before isOver(). One thread.
class Exchange {
public:
   enum class State : uint8_t {
      Idle,
      Connecting,
      Handshaking,
      Sending,
      ReceivingHead,
      ReceivingBody,
      Finished,
      Failed
   };
   enum class Failure : uint8_t {
      None,
      Connect,     ///< no connection came about
      Certificate, ///< the server is not whom we look for
      Closed,      ///< the connection broke, or ended before the answer did
      Protocol,    ///< what came is no answer
      TimedOut,    ///< no answer, or too few bytes a second
      Aborted,     ///< by the caller
   };

   static constexpr size_t headReadSize = 4096;

   Exchange(SocketRing& ring, std::unique_ptr<Connection> connection, const TlsClientContext* tls,
            std::string serverName, ExchangeOrder order);

   void start(int64_t now);
   /// Take the completion of its operation.
   void step(int32_t result, int64_t now);
   /// Fail, as soon as the outstanding operation has come back.
   void abort(Failure reason);
   /// Abort when it stands still or creeps.
   void checkProgress(int64_t now, int64_t connectNanos, int64_t firstByteNanos, int64_t progressNanos);

   bool isOver() const { return state_ == State::Finished || state_ == State::Failed; }
   State state() const { return state_; }
   Failure failure() const { return failure_; }
   /// In words, for a message.
   std::string failureText() const;
   const HttpHead& head() const { return head_; }
   std::string& body() { return body_; }
   bool wentToTarget() const { return toTarget_; }
   uint64_t receivedBytes() const { return bodyReceived_; }
   bool hasSentAnything() const { return hasSent_; }
   /// The connection was in use before, and broke before a byte of the answer: the server had closed it meanwhile.
   bool wasStale() const { return isReused_ && failure_ == Failure::Closed && headText_.empty(); }
   int64_t sentAt() const { return sentAt_; }
   int64_t firstByteAt() const { return firstByteAt_; } ///< 0: not yet
   int64_t startedAt() const { return startedAt_; }
   const SocketAddress& address() const { return address_; }
   /// After Finished: the connection, if another exchange may use it.
   std::unique_ptr<Connection> takeConnection();

private:
   static constexpr size_t sendSize = 256 << 10;       ///< of one operation at most
   static constexpr size_t progressSizeMin = 16 << 10; ///< in each span of progressNanos

   void fail(Failure reason, int64_t now);
   void finish(int64_t now);
   void continuePlain(int32_t result, int64_t now);
   void continueTls(int64_t now);
   bool stepTls(int64_t now);
   void afterConnect(int64_t now);
   void beginSending(int64_t now);
   void queueNext();
   std::string_view outgoing() const;
   void onSent(size_t size, int64_t now);
   std::pair<char*, size_t> incoming();
   void onReceived(size_t size, int64_t now);
   void adaptReceive(int64_t now);
   void onClosed(int64_t now);
   void onHeadBytes(int64_t now);
   bool prepareBody(int64_t now);
   void takeBody(std::string_view bytes, int64_t now);
   uint64_t userData() const { return reinterpret_cast<uint64_t>(this); }

   // PROPERTIES
   SocketRing& ring_;
   const TlsClientContext* const tls_; ///< null: plain
   const std::string serverName_;
   const SocketAddress address_;
   ExchangeOrder order_;

   // STATE
   std::unique_ptr<Connection> connection_;
   State state_ = State::Idle;
   Failure failure_ = Failure::None;
   int error_ = 0; ///< errno of a failed connection
   std::string tlsFailure_;
   bool isReused_ = false, hasSent_ = false, isInFlight_ = false;
   size_t sendPart_ = 0, sendOffset_ = 0; ///< part 0 is the head
   std::string headText_;
   size_t headFill_ = 0;
   HttpHead head_;
   bool toTarget_ = false;
   uint64_t bodySize_ = 0; ///< when the head says so
   uint64_t bodyReceived_ = 0;
   std::string body_, scratch_;
   ChunkDecoder chunks_;
   int64_t startedAt_ = 0, sentAt_ = 0, firstByteAt_ = 0, endedAt_ = 0;
   int64_t windowStart_ = 0, receiveStart_ = 0;
   uint64_t windowBytes_ = 0;
};

} // namespace ouzel::io
