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

/// The request of one exchange, and the memory for the answer's body.
struct ExchangeOrder {
   std::string head;                   ///< request line, headers and the empty line
   std::vector<std::string_view> body; ///< memory that outlives the exchange
   bool isHead = false;                ///< HEAD: the answer has no body
   /// A body of exactly `targetSize` bytes with status 200 or 206 is received directly into `target`. Only the bytes
   /// that came with the head (at most headReadSize) are copied.
   char* target = nullptr;
   size_t targetSize = 0;
   size_t bodySizeMax = 0; ///< limit for bodies that do not go to `target`
};

/// One HTTP request and its answer over one connection: a state machine between a ring and a caller, who decides about
/// repetition. It has at most one operation in flight, whose userData is the exchange's address.
///
///    Connecting -> Handshaking -> Sending -> ReceivingHead -> ReceivingBody -> Finished
///        \______________\____________\____________\_______________\--------> Failed
///
/// step() advances the state with each completion. abort() makes the exchange fail when its outstanding operation has
/// completed. Before isOver() the exchange must not be destroyed and the order's memory must not be touched. Used by
/// one thread.
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
      Connect,     ///< connecting failed
      Certificate, ///< not trusted, or for another host
      Closed,      ///< the connection ended before the answer
      Protocol,    ///< the bytes are no valid answer
      TimedOut,    ///< no answer, or too few bytes a second
      Aborted,     ///< by the caller
   };

   static constexpr size_t headReadSize = 4096;

   Exchange(SocketRing& ring, std::unique_ptr<Connection> connection, const TlsClientContext* tls,
            std::string serverName, ExchangeOrder order);

   void start(int64_t now);
   /// Takes the completion of the operation in flight.
   void step(int32_t result, int64_t now);
   /// Fails with `reason` as soon as the operation in flight has completed.
   void abort(Failure reason);
   /// Aborts the exchange when it exceeds one of the times: to connect, to the head, or for progressSizeMin bytes of
   /// the body.
   void checkProgress(int64_t now, int64_t connectNanos, int64_t firstByteNanos, int64_t progressNanos);

   bool isOver() const { return state_ == State::Finished || state_ == State::Failed; }
   State state() const { return state_; }
   Failure failure() const { return failure_; }
   /// The failure in words, for a message.
   std::string failureText() const;
   const HttpHead& head() const { return head_; }
   std::string& body() { return body_; }
   bool wentToTarget() const { return toTarget_; }
   uint64_t receivedBytes() const { return bodyReceived_; }
   bool hasSentAnything() const { return hasSent_; }
   /// Whether a reused connection broke before the first byte of the answer: the server had closed it while it was
   /// idle.
   bool wasStale() const { return isReused_ && failure_ == Failure::Closed && headText_.empty(); }
   int64_t sentAt() const { return sentAt_; }
   int64_t firstByteAt() const { return firstByteAt_; } ///< 0: not yet
   int64_t startedAt() const { return startedAt_; }
   const SocketAddress& address() const { return address_; }
   /// The connection, if the state is Finished and another exchange may use it; else null.
   std::unique_ptr<Connection> takeConnection();

private:
   static constexpr size_t sendSize = 256 << 10;       ///< most bytes of one send
   static constexpr size_t progressSizeMin = 16 << 10; ///< required in each span of progressNanos

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
   const TlsClientContext* const tls_; ///< null: no TLS
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
   uint64_t bodySize_ = 0; ///< 0: the head does not tell
   uint64_t bodyReceived_ = 0;
   std::string body_, scratch_;
   ChunkDecoder chunks_;
   int64_t startedAt_ = 0, sentAt_ = 0, firstByteAt_ = 0, endedAt_ = 0;
   int64_t windowStart_ = 0, receiveStart_ = 0;
   uint64_t windowBytes_ = 0;
};

} // namespace ouzel::io
