#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "io/net/socket.hpp"

namespace ouzel::io {

/// Waits for many sockets at once (epoll). arm() and wake() may be called from any thread, wait() from one.
///
/// Every registration fires once and is then quiet until armed again, so that whoever got the event owns the socket's
/// owner until it arms it for the next.
class Poller {
public:
   enum class Interest : uint8_t {
      Input,  ///< bytes, end of stream, errors
      Output, ///< room to write, errors
      HangUp, ///< only that the peer has closed, or errors
   };
   struct Event {
      uint64_t tag;
      bool isHangUp; ///< the peer has closed its side
   };

   Poller();
   void add(int fd, uint64_t tag, Interest interest);
   void arm(int fd, uint64_t tag, Interest interest);
   /// The next events, at most 256; none after the time-out or a wake(). Valid until the next call.
   std::span<const Event> wait(int timeoutMs);
   void wake();

private:
   FileDescriptor epoll_, wakeUp_;
   std::vector<Event> events_;
};

} // namespace ouzel::io
