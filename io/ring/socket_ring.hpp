#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <sys/socket.h>

namespace ouzel::io {

struct SocketCompletion {
   uint64_t userData = 0;
   /// Bytes moved (0: the peer has closed), the events of a poll, 0 of a connect; or a negative errno.
   int32_t result = 0;
};

/// Batched operations on many sockets by one thread: io_uring, or, where the kernel or the container forbids it, poll.
///
/// One thread queues and waits; wake() may be called from any. The memory of an operation belongs to it until its
/// completion was seen, cancelled or not. Sockets must be non-blocking and stay open until then. userData names the
/// operation, is not 0, and is unique among those in flight.
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
   /// Some bytes. With `all` it prefers to come back when the buffer is full; fewer may still come.
   void receive(int fd, void* target, size_t size, bool all, uint64_t userData);
   void send(int fd, const void* bytes, size_t size, uint64_t userData);
   /// Once one of `events` (POLLIN, POLLOUT) holds.
   void poll(int fd, int16_t events, uint64_t userData);
   /// End an operation early; its completion still comes, perhaps with what it did, else -ECANCELED.
   void cancel(uint64_t userData);
   /// Hand over what was queued, wait until something completes, wake() is called or the time is over (negative: no
   /// limit), and write the completions. May return none.
   size_t wait(std::span<SocketCompletion> completions, int64_t timeoutNanos);
   void wake();

private:
   struct State;
   struct Uring;
   struct Polled;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::io
