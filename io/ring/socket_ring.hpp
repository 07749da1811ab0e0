#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <sys/socket.h>

namespace ouzel::io {

struct SocketCompletion {
   uint64_t userData = 0;
   /// Bytes moved (0: the peer has closed), a poll's events, 0 for a connect, or a negative errno.
   int32_t result = 0;
};

/// Batched operations on many sockets by one thread: by io_uring, or by poll where the kernel or the container forbids
/// io_uring.
///
/// One thread queues and waits; any thread may call wake(). An operation's memory belongs to the operation, cancelled
/// or not, until its completion was seen; its socket must stay open until then. Sockets must be non-blocking. userData
/// identifies the operation, is not 0, and is unique among the operations in flight.
class SocketRing {
public:
   enum class Backend : uint8_t { Automatic, Poll };
   explicit SocketRing(Backend backend = Backend::Automatic);
   /// REQUIRES: nothing is in flight.
   ~SocketRing();
   SocketRing(const SocketRing&) = delete;
   SocketRing& operator=(const SocketRing&) = delete;

   bool isAsynchronous() const;
   void connect(int fd, const sockaddr* address, socklen_t addressSize, uint64_t userData);
   /// Receives some bytes. With `all` it waits for a full buffer where the backend can; fewer bytes may still come.
   void receive(int fd, void* target, size_t size, bool all, uint64_t userData);
   void send(int fd, const void* bytes, size_t size, uint64_t userData);
   /// Completes when one of `events` (POLLIN, POLLOUT) holds.
   void poll(int fd, int16_t events, uint64_t userData);
   /// Ends an operation early. Its completion still comes, with its result if it was faster, else with -ECANCELED.
   void cancel(uint64_t userData);
   /// Submits the queued operations and waits until an operation completes, wake() is called, or the time is over
   /// (negative: no limit). Writes the completions and returns their number, which may be 0.
   size_t wait(std::span<SocketCompletion> completions, int64_t timeoutNanos);
   void wake();

private:
   struct State;
   struct Uring;
   struct Polled;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::io
